// Package cli makes a command line from two tables, one of commands and one of flags:
// parsing, help texts, the manual page and the completions of shells.
package cli

import (
	"slices"
	"strings"

	"robotsbatch/batch/option"
)

// Program is a command line. C is the configuration that its flags write into.
type Program[C any] struct {
	// Purpose says in a line what the program is, and Version which.
	Purpose, Version string
	// Main is what the program does without a command; Commands are all others but
	// help and version, which have no flags.
	Main     Command
	Commands []Command
	Flags    []Flag[C]
	// Topics are the parts of a help text that flags are in, in order.
	Topics []string
	// Pages are the names of the manual's pages.
	Pages []string
	// Given, if not nil, is called for each flag on a command line.
	Given func(config *C, f *Flag[C], value string)
}

// Command is what a program can be asked for.
type Command struct {
	Name string
	// Set has this command alone.
	Set Set
	// Usage are its command lines, without the program's name.
	Usage []string
	// About is the first paragraph of its help, which goes on after the program's and
	// the command's name; Details is the last.
	About, Details string
	Examples       []string
	Exits          []Exit
}

// Exit is an exit status.
type Exit struct{ Status, Meaning string }

// Set is a set of commands.
type Set uint

// Flag is a flag. A flag that means something else for another command has a Flag for
// that.
type Flag[C any] struct {
	Name string
	// Argument is what its value is called; empty for a flag without one.
	Argument string
	// Short says in a line what it does, More the rest.
	Short, More string
	// Standard is its default, for people.
	Standard string
	// Topic is the part of the help that it is in.
	Topic string
	// Commands are those that have it; Common shows it in the short help.
	// Rare flags come last in the long help.
	Commands     Set
	Common, Rare bool
	// Repeat lets it be given more than once.
	Repeat bool
	// Words are all values that it takes; Files says that it takes a file's name.
	Words []string
	Files bool
	// For are the formats for which it holds; nil for all.
	For *Formats
	// Indifferent flags do not decide what is in an output: they name files, which a
	// manifest lists apart, limit what the program uses, or say how to report.
	Indifferent bool
	// Bind returns where its value goes: a *bool, a *string, or a
	// func(string) error.
	Bind func(config *C) any
}

// Formats are those for which a flag holds.
type Formats struct {
	// Names are the formats, and Of what has them, such as inputs.
	Names []string
	Of    string
	// Else, if it is not empty, makes the flag a mistake for other formats. It says why, or
	// what to do there.
	Else string
}

// String names the formats: csv and tsv inputs.
func (f *Formats) String() string {
	last := len(f.Names) - 1
	text := f.Names[last]
	if last > 0 {
		text = strings.Join(f.Names[:last], ", ") + " and " + text
	}
	return text + " " + f.Of
}

// more is what the long help says of a flag beside its first line.
func (o *Flag[C]) more() string {
	if o.For == nil {
		return o.More
	}
	return strings.TrimSpace(o.More + " For " + o.For.String() + ".")
}

// CheckFormat returns an error for a flag of a command that was given and must not be, since
// of, such as outputs, has a format of this name.
func (p *Program[C]) CheckFormat(c *Command, given map[string][]string, of, name string) error {
	for i := range p.Flags {
		o := &p.Flags[i]
		if o.Commands&c.Set == 0 || o.For == nil || o.For.Of != of || o.For.Else == "" || slices.Contains(o.For.Names, name) {
			continue
		}
		if values := given[o.Name]; len(values) > 0 && values[len(values)-1] != "false" {
			return option.Usagef("-%s is for %s: %s", o.Name, o.For, o.For.Else)
		}
	}
	return nil
}

// Command returns the command of that name, nil when there is none.
func (p *Program[C]) Command(name string) *Command {
	for i := range p.Commands {
		if p.Commands[i].Name == name {
			return &p.Commands[i]
		}
	}
	return nil
}

// Words puts an option into words: the flag of that name.
func Words(o option.Given) string { return "-" + o.String() }
