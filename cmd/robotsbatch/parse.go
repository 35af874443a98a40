package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/io/lines"
)

// newConfig is a command line without flags.
func newConfig() *jobConfig {
	c := &jobConfig{maxInvalid: unlimited, memory: defaultMemory, maxLine: lines.DefaultMaxLine, out: "-", given: make(map[string][]string)}
	c.maxAge = evaluate.DefaultMaxAge * time.Second
	return c
}

// newFlagSet returns a command's flags, which write into c.
func newFlagSet(of *command, c *jobConfig) *flag.FlagSet {
	fs := flag.NewFlagSet(of.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	for i := range options {
		if o := &options[i]; o.commands&of.set != 0 {
			fs.Var(&optionValue{option: o, config: c}, o.name, "")
		}
	}
	return fs
}

// optionValue is a flag's value while a command line is parsed.
type optionValue struct {
	option *option
	config *jobConfig
	given  bool
}

func (v *optionValue) String() string { return "" }

// IsBoolFlag tells whether the flag may stand without a value.
func (v *optionValue) IsBoolFlag() bool { return v.option != nil && v.option.argument == "" }

// Set implements flag.Value.
func (v *optionValue) Set(s string) error {
	if v.given && !v.option.repeat {
		return errors.New("it was given before, and can be given once")
	}
	v.given = true
	if !v.option.indifferent {
		v.config.given[v.option.name] = append(v.config.given[v.option.name], s)
	}
	switch to := v.option.bind(v.config).(type) {
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

// parseFlags parses a command's args, with every error but flag.ErrHelp a
// usageError.
func parseFlags(fs *flag.FlagSet, args []string) error {
	err := fs.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	const unknown = "flag provided but not defined: -"
	name, isUnknown := strings.CutPrefix(err.Error(), unknown)
	if !isUnknown {
		return usageError{err}
	}
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if near := batch.Nearest(name, names); near != "" {
		return usageErrorf("there is no flag -%s: did you mean -%s?", name, near)
	}
	return usageErrorf("there is no flag -%s", name)
}

// parseMixed parses the args of a command whose flags may follow its operands,
// which it returns.
func parseMixed(fs *flag.FlagSet, args []string) (operands []string, err error) {
	for len(args) > 0 {
		if err := parseFlags(fs, args); err != nil {
			return nil, err
		}
		if args = fs.Args(); len(args) > 0 {
			operands, args = append(operands, args[0]), args[1:]
		}
	}
	return operands, nil
}

// wantsAllHelp tells whether args ask for help on all flags.
func wantsAllHelp(args []string) bool {
	for i, arg := range args[:max(0, len(args)-1)] {
		switch arg {
		case "-h", "-help", "--help":
			return args[i+1] == "all"
		}
	}
	return false
}

// unknownCommand is the error for a command that there is not.
func unknownCommand(name string) error {
	names := []string{"help", "version"}
	for i := range commands {
		names = append(names, commands[i].name)
	}
	if near := batch.Nearest(name, names); near != "" {
		return usageErrorf("unknown command %q: did you mean %s?", name, near)
	}
	return usageErrorf("unknown command %q: the commands are %s", name, strings.Join(names, ", "))
}

// withDefault is what is said of an option in the short help.
func (o *option) withDefault() string {
	if o.standard == "" {
		return o.short
	}
	return fmt.Sprintf("%s (default %s)", o.short, o.standard)
}
