package cli

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strconv"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/matcher/spelling"
)

// Set returns the flags for parsing. given, if not nil, is called for each that stands on the
// command line.
func (f Flags) Set(name string, given func(o *Flag, value string)) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	for i := range f {
		fs.Var(&flagValue{flag: &f[i], report: given}, f[i].Name, "")
	}
	return fs
}

// flagValue is a flag's value while a command line is parsed.
type flagValue struct {
	flag   *Flag
	report func(o *Flag, value string)
	given  bool
	wrong  error // what is wrong with the value
}

func (v *flagValue) String() string { return "" }

// IsBoolFlag tells whether the flag may stand without a value.
func (v *flagValue) IsBoolFlag() bool { return v.flag != nil && v.flag.Argument == "" }

// Set implements flag.Value.
func (v *flagValue) Set(s string) error {
	err := v.set(s)
	if err != nil {
		v.wrong = option.Usagef("%s: %w", option.Name(v.flag.Name).With(s), err)
	}
	return err
}

func (v *flagValue) set(s string) error {
	if v.given && !v.flag.Repeat {
		return errors.New("it was given before, and can be given once")
	}
	v.given = true
	if v.report != nil {
		v.report(v.flag, s)
	}
	switch to := v.flag.Value.(type) {
	case *string:
		*to = s
	case *bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("want true or false")
		}
		*to = b
	case Choice:
		return to.Set(s)
	case func(string) error:
		return to(s)
	}
	return nil
}

// synonyms are flags that other programs have for what a flag here does.
var synonyms = map[string]string{
	"i": "in", "input": "in", "o": "out", "output": "out", "format": "out-format", "j": "workers", "threads": "workers",
	"ua": "agent", "user-agent": "agent", "useragent": "agent", "bot": "agent", "robots": "rules", "robots-txt": "rules", "allowed": "emit", "denied": "emit",
	"n": "limit", "head": "limit", "rows": "limit", "max-rows": "limit", "nrows": "limit",
}

// parse parses a command's args. Every error but flag.ErrHelp is a [option.UsageError].
func parse(fs *flag.FlagSet, args []string) error {
	err := fs.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	const unknown = "flag provided but not defined: -"
	name, isUnknown := strings.CutPrefix(err.Error(), unknown)
	var names []string
	var wrong error
	fs.VisitAll(func(f *flag.Flag) {
		names = append(names, f.Name)
		v := f.Value.(*flagValue)
		if v.wrong != nil {
			wrong = v.wrong
		}
		if value, ok := v.flag.Answers[name]; ok && isUnknown {
			wrong = option.Usagef("there is no flag -%s: write %s", name, option.Name(f.Name).With(value))
		}
	})
	if wrong != nil {
		return wrong
	}
	if !isUnknown {
		return &option.UsageError{Err: err}
	}
	near := synonyms[name]
	if !slices.Contains(names, near) {
		near = spelling.Nearest(name, names)
	}
	if near != "" {
		return option.Usagef("there is no flag -%s: did you mean -%s?", name, near)
	}
	return option.Usagef("there is no flag -%s", name)
}

// ParseMixed parses the args of a command whose flags may follow its operands,
// which it returns.
func ParseMixed(fs *flag.FlagSet, args []string) (operands []string, err error) {
	for len(args) > 0 {
		if err := parse(fs, args); err != nil {
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
func (p *Program) UnknownCommand(name string) error {
	names := p.commandWords()
	if near := spelling.Nearest(name, names); near != "" {
		return option.Usagef("unknown command %q: did you mean %s?", name, near)
	}
	return option.Usagef("unknown command %q: the commands are %s; without one a list is judged, as in robotsbatch urls.txt %s", name, strings.Join(names, ", "), option.Rules.With("robots"))
}
