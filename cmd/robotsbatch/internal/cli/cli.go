// Package cli makes a command line from commands, each with its flags: parsing, help texts, the
// manual page and the completions of shells.
package cli

import (
	"errors"
	"flag"
	"slices"
	"strconv"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/matcher/spelling"
)

// Program is a command line.
type Program struct {
	// Purpose says in a line what the program is.
	Purpose string
	// Main is what the program does without a command; Commands are all others but
	// help and version, which have no flags.
	Main     *Command
	Commands []*Command
	// Topics are the parts of a help text that flags are in, in order.
	Topics []string
	// Pages are the names of the manual's pages.
	Pages []string
}

// Command is what a program can be asked for.
type Command struct {
	Name string
	// New returns its configuration as it is without flags.
	New func() Config
	// Usage are its command lines, without the program's name.
	Usage []string
	// About is the first paragraph of its help, which goes on after the program's and
	// the command's name; Details is the last.
	About, Details string
	Examples       []string
	Exits          []Exit
}

// Config is a command's configuration, into which its flags write.
type Config interface {
	Flags() Flags
}

// Exit is an exit status.
type Exit struct{ Status, Meaning string }

// Flag is a flag. One that means something else for another command is a Flag of its own
// there.
type Flag struct {
	Name string
	// Argument is what its value is called; empty for a flag without one.
	Argument string
	// Short says in a line what it does, More the rest.
	Short, More string
	// Standard is its default, for people.
	Standard string
	// Topic is the part of the help that it is in.
	Topic string
	// Common shows it in the short help. Rare flags come last in the long help.
	Common, Rare bool
	// Repeat lets it be given more than once.
	Repeat bool
	// Files says that it takes a file's name.
	Files bool
	// Answers has names that somebody may take for a flag, each with the value of this flag that does the
	// same: the error for the name says so.
	Answers map[string]string
	// For are the formats for which it holds; nil for all.
	For *Formats
	// Unrecorded flags are not in the manifest of a job, because they do not change what outputs contain:
	// they name files, which a manifest lists apart, limit what the program uses, or say how to report.
	Unrecorded bool
	// Value is where its value goes: a *bool, a Choice, a func(string) error, or a *string or *[]string,
	// which take no empty value.
	Value any
}

// words returns all values that the flag takes; nil if they cannot be listed.
func (o *Flag) words() []string {
	choice, _ := o.Value.(Choice)
	return choice.Words
}

// Flags are those of a command, or of a part of its configuration, in the order of the
// help.
type Flags []Flag

// Without returns the flags except those of these names.
func (f Flags) Without(names ...string) Flags {
	return slices.DeleteFunc(slices.Clone(f), func(o Flag) bool { return slices.Contains(names, o.Name) })
}

// Only returns the flags of these names.
func (f Flags) Only(names ...string) Flags {
	return slices.DeleteFunc(slices.Clone(f), func(o Flag) bool { return !slices.Contains(names, o.Name) })
}

// Saying returns the flags with another help for the one of this name: short in place of its Short, and
// more, if given, in place of its More.
func (f Flags) Saying(name, short string, more ...string) Flags {
	o := f.Only(name)[0]
	o.Short = short
	if len(more) > 0 {
		o.More = more[0]
	}
	return f.Replacing(o)
}

// Replacing returns the flags with other in place of the one of the same name.
func (f Flags) Replacing(other Flag) Flags {
	all := slices.Clone(f)
	all[slices.IndexFunc(all, func(o Flag) bool { return o.Name == other.Name })] = other
	return all
}

// Before returns the flags with others before the one of this name.
func (f Flags) Before(name string, others ...Flag) Flags {
	at := slices.IndexFunc(f, func(o Flag) bool { return o.Name == name })
	return slices.Insert(slices.Clone(f), at, others...)
}

// shared is a flag with the names of the commands that have it.
type shared struct {
	Flag
	commands []string
}

// Flags returns the flags of all commands, those of the main job first. A flag that several
// commands have is one if its help is the same for each.
func (p *Program) Flags() (all []shared) {
	same := func(a, b *Flag) bool {
		return a.Name == b.Name && a.Argument == b.Argument && a.Short == b.Short && a.More == b.More && a.Standard == b.Standard
	}
	for _, c := range p.All() {
		for _, o := range c.New().Flags() {
			at := slices.IndexFunc(all, func(s shared) bool { return same(&s.Flag, &o) })
			if at < 0 {
				at = len(all)
				all = append(all, shared{Flag: o})
			}
			all[at].commands = append(all[at].commands, c.Name)
		}
	}
	return all
}

// All are all commands, the main job first.
func (p *Program) All() []*Command { return append([]*Command{p.Main}, p.Commands...) }

// Names are the names of all flags. A flag that differs between commands is there several times.
func (p *Program) Names() []string {
	return Map(p.Flags(), func(o shared) string { return o.Name })
}

// Formats are those for which a flag holds.
type Formats struct {
	// Names are the formats, and Of what has them, such as inputs.
	Names []string
	Of    string
	// Else says why other formats do not have the flag, or what to do there. If it is empty, the flag is
	// ignored for them, else it is an error.
	Else option.Message
}

// String names the formats: csv and tsv inputs.
func (f *Formats) String() string { return InWords(f.Names, "and") + " " + f.Of }

// more is what the long help says of a flag beside its first line.
func (o *Flag) more() string {
	if o.For == nil {
		return o.More
	}
	return strings.TrimSpace(o.More + " For " + o.For.String() + ".")
}

// CheckFormat returns an error if a flag was given that is an error for the format name; see
// [Formats.Else]. given has the values of flags by name, and of is what has the format, such as outputs.
func (f Flags) CheckFormat(given map[string][]string, of, name string) error {
	for i := range f {
		o := &f[i]
		if o.For == nil || o.For.Of != of || o.For.Else.Empty() || slices.Contains(o.For.Names, name) {
			continue
		}
		if values := given[o.Name]; len(values) > 0 && values[len(values)-1] != "false" {
			return option.Usagef("%s is for %s: %s", option.Name(o.Name), o.For, o.For.Else)
		}
	}
	return nil
}

// Command returns the command of that name, nil when there is none.
func (p *Program) Command(name string) *Command {
	for _, c := range p.Commands {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Words returns how a user of the command line gives an option: by the flag of its name.
func Words(o option.Given) string { return "-" + o.String() }

// Parse parses a command's arguments, in which flags may follow operands, sets the flags'
// values and returns the operands. It calls given for each flag on the command line, with its value.
// The error is flag.ErrHelp if help was asked for, else an [option.UsageError].
func (f Flags) Parse(args []string, given func(o *Flag, value string)) (operands []string, err error) {
	seen := make(map[string]bool)
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		text, isFlag := strings.CutPrefix(arg, "-")
		switch {
		case text == "-": // all that follows are operands, whatever they look like
			operands, args = append(operands, args...), nil
			continue
		case !isFlag || text == "":
			operands = append(operands, arg)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(text, "-"), "=")
		if name == "" || name[0] == '-' {
			return nil, option.Usagef("bad flag syntax: %s", arg)
		}
		at := slices.IndexFunc(f, func(o Flag) bool { return o.Name == name })
		if at < 0 {
			return nil, f.errUnknown(name)
		}
		o := &f[at]
		switch {
		case hasValue: // given after "="
		case o.Argument == "":
			value = "true"
		case len(args) == 0:
			return nil, option.Usagef("flag needs an argument: -%s", name)
		default:
			value, args = args[0], args[1:]
		}
		if seen[name] && !o.Repeat {
			err = errors.New("it was given before, and can be given once")
		} else {
			err = o.set(value)
		}
		if err != nil {
			return nil, option.Usagef("%s: %w", option.Name(name).With(value), err)
		}
		seen[name] = true
		given(o, value)
	}
	if slices.Contains(operands, "") {
		return nil, option.Usagef("an argument is empty: give a name, or leave it out")
	}
	return operands, nil
}

// set parses s and stores it in the flag's Value.
func (o *Flag) set(s string) error {
	switch to := o.Value.(type) {
	case *string:
		*to = s
	case *[]string:
		*to = append(*to, s)
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
	if s == "" { // such as that of a script's variable that is not set
		return errors.New("it is empty: give a value, or leave the flag out")
	}
	return nil
}

// synonyms are flags that other programs have for what a flag here does.
var synonyms = map[string]string{
	"i": "in", "input": "in", "o": "out", "output": "out", "format": "out-format", "j": "workers", "threads": "workers",
	"ua": "agent", "user-agent": "agent", "useragent": "agent", "bot": "agent", "robots": "rules", "robots-txt": "rules", "allowed": "emit", "denied": "emit",
	"n": "limit", "head": "limit", "rows": "limit", "max-rows": "limit", "nrows": "limit",
}

// errUnknown returns the error for a flag that does not exist, with a similar one;
// flag.ErrHelp for -h and -help.
func (f Flags) errUnknown(name string) error {
	if name == "h" || name == "help" {
		return flag.ErrHelp
	}
	var names []string
	for i := range f {
		names = append(names, f[i].Name)
		if value, ok := f[i].Answers[name]; ok {
			return option.Usagef("there is no flag -%s: write %s", name, option.Name(f[i].Name).With(value))
		}
	}
	near := synonyms[name]
	if !slices.Contains(names, near) {
		slices.Sort(names) // of equally near ones Nearest takes the first
		near = spelling.Nearest(name, names)
	}
	if near != "" {
		return option.Usagef("there is no flag -%s: did you mean -%s?", name, near)
	}
	return option.Usagef("there is no flag -%s here", name)
}

// WantsAllHelp reports whether all stands after -h or -help in args.
func WantsAllHelp(args []string) bool {
	at := slices.IndexFunc(args, func(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" })
	return at >= 0 && slices.Equal(args[at+1:min(at+2, len(args))], []string{"all"})
}

// UnknownCommand returns the error for a command that does not exist, with a similar one.
func (p *Program) UnknownCommand(name string) error {
	names := p.commandWords()
	if near := spelling.Nearest(name, names); near != "" {
		return option.Usagef("unknown command %q: did you mean %s?", name, near)
	}
	return option.Usagef("unknown command %q: the commands are %s; without one a list is judged, as in robotsbatch urls.txt %s", name, strings.Join(names, ", "), option.Rules.With("robots"))
}
