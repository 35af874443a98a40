package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/matcher/spelling"
)

// FlagSet returns a command's flags, which write into config.
func (p *Program[C]) FlagSet(of *Command, config *C) *flag.FlagSet {
	fs := flag.NewFlagSet(of.Name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	for i := range p.Flags {
		if o := &p.Flags[i]; o.Commands&of.Set != 0 {
			fs.Var(&flagValue[C]{flag: o, program: p, config: config}, o.Name, "")
		}
	}
	return fs
}

// flagValue is a flag's value while a command line is parsed.
type flagValue[C any] struct {
	flag    *Flag[C]
	program *Program[C]
	config  *C
	given   bool
}

func (v *flagValue[C]) String() string { return "" }

// IsBoolFlag tells whether the flag may stand without a value.
func (v *flagValue[C]) IsBoolFlag() bool { return v.flag != nil && v.flag.Argument == "" }

// Set implements flag.Value.
func (v *flagValue[C]) Set(s string) error {
	if v.given && !v.flag.Repeat {
		return errors.New("it was given before, and can be given once")
	}
	v.given = true
	if v.program.Given != nil {
		v.program.Given(v.config, v.flag, s)
	}
	switch to := v.flag.Bind(v.config).(type) {
	case *string:
		*to = s
	case *bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("want true or false")
		}
		*to = b
	case func(string) error:
		return to(s)
	}
	return nil
}

// Parse parses a command's args. Every error but flag.ErrHelp is a [option.UsageError].
func Parse(fs *flag.FlagSet, args []string) error {
	err := fs.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	const unknown = "flag provided but not defined: -"
	name, isUnknown := strings.CutPrefix(err.Error(), unknown)
	if !isUnknown {
		return &option.UsageError{Err: err}
	}
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if near := spelling.Nearest(name, names); near != "" {
		return option.Usagef("there is no flag -%s: did you mean -%s?", name, near)
	}
	return option.Usagef("there is no flag -%s", name)
}

// ParseMixed parses the args of a command whose flags may follow its operands,
// which it returns.
func ParseMixed(fs *flag.FlagSet, args []string) (operands []string, err error) {
	for len(args) > 0 {
		if err := Parse(fs, args); err != nil {
			return nil, err
		}
		if args = fs.Args(); len(args) > 0 {
			operands, args = append(operands, args[0]), args[1:]
		}
	}
	return operands, nil
}

// WantsAllHelp tells whether args ask for help on all flags.
func WantsAllHelp(args []string) bool {
	for i, arg := range args[:max(0, len(args)-1)] {
		switch arg {
		case "-h", "-help", "--help":
			return args[i+1] == "all"
		}
	}
	return false
}

// UnknownCommand is the error for a command that does not exist.
func (p *Program[C]) UnknownCommand(name string) error {
	names := p.commandWords()
	if near := spelling.Nearest(name, names); near != "" {
		return option.Usagef("unknown command %q: did you mean %s?", name, near)
	}
	return option.Usagef("unknown command %q: the commands are %s", name, strings.Join(names, ", "))
}

// withDefault is what the short help says of a flag.
func (o *Flag[C]) withDefault() string {
	if o.Standard == "" {
		return o.Short
	}
	return fmt.Sprintf("%s (default %s)", o.Short, o.Standard)
}
