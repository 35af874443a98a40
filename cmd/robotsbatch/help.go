package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/manual"
	"robotsbatch/matcher/lint"
	"robotsbatch/matcher/spelling"
)

// runHelp prints the help that args ask for.
func runHelp(args []string, s streams) int {
	switch {
	case len(args) == 0:
		return printHelp(s, listTopics)
	case len(args) > 1:
		if search(args, s.out) {
			return exitDone
		}
		return failPlain(s, option.Usagef("nothing in the help has all of %q", strings.Join(args, " ")))
	}
	topic := args[0]
	command := program.Command(topic)
	page, err := manual.Page(topic)
	if command != nil || err == nil {
		return printHelp(s, func(w io.Writer) { printTopic(w, command, page) })
	}
	if i := slices.Index(lint.CodeNames(), topic); i >= 0 {
		return printHelp(s, func(w io.Writer) { fmt.Fprint(w, lint.Codes()[i].Section) })
	}
	others := map[string]func(io.Writer){
		"all": func(w io.Writer) { program.Help(program.Main, w) }, "options": program.Options, "man": program.ManPage,
		"bash": program.BashCompletion, "zsh": program.ZshCompletion, "fish": program.FishCompletion, "powershell": program.PowerShellCompletion,
		"version": func(w io.Writer) {
			fmt.Fprintln(w, "robotsbatch version prints which version this is, and how it was built.")
		},
	}
	if print := others[topic]; print != nil {
		return printHelp(s, print)
	}
	if flag, isFlag := strings.CutPrefix(topic, "-"); isFlag {
		return helpOnFlag(s, strings.TrimPrefix(flag, "-"))
	}
	if search(args, s.out) {
		return exitDone
	}
	names := slices.Concat(manual.Topics(), lint.CodeNames())
	for _, c := range program.Commands {
		names = append(names, c.Name)
	}
	if near := spelling.Nearest(topic, names); near != "" {
		return failPlain(s, option.Usagef("there is no help on %q: did you mean robotsbatch help %s?", topic, near))
	}
	return failPlain(s, option.Usagef("there is no help on %q; topics are %s", topic, strings.Join(program.HelpWords(), ", ")))
}

// listTopics prints a line for each command and each page of the manual.
func listTopics(w io.Writer) {
	line := func(name, text string) { fmt.Fprintln(w, cli.Shorten(fmt.Sprintf("  %-12s  %s", name, text))) }
	fmt.Fprint(w, "robotsbatch help NAME is about one of these, help -FLAG about a flag, and help WORD... finds\nwhat has all the words. The flags: robotsbatch -h.\n\nCommands:\n")
	for _, c := range program.Commands {
		line(c.Name, c.About)
	}
	fmt.Fprint(w, "\nThe manual; begin with verdicts, rules and formats:\n")
	for _, topic := range manual.Topics() {
		page, _ := manual.Page(topic) // it is there
		title, _, _ := strings.Cut(strings.TrimPrefix(string(page), "# "), "\n")
		line(topic, title)
	}
}

// helpOnFlag prints what a flag means.
func helpOnFlag(s streams, name string) int {
	names := program.Names()
	if slices.Contains(names, name) {
		return printHelp(s, func(w io.Writer) { program.FlagHelp(name, w) })
	}
	if near := spelling.Nearest(name, names); near != "" {
		return failPlain(s, option.Usagef("there is no flag -%s: did you mean robotsbatch help -%s?", name, near))
	}
	return failPlain(s, option.Usagef("there is no flag -%s: robotsbatch help options lists them", name))
}

// printTopic prints the help of a command, if there is one of that name, and the page of
// the manual, if there is one.
func printTopic(w io.Writer, command *cli.Command, page []byte) {
	if command != nil {
		program.Help(command, w)
		if page != nil {
			fmt.Fprintln(w)
		}
	}
	_, _ = w.Write(page) // what the reader of a pipe does not want is no error
	if command != nil && command == lintHelp {
		printCodes(w)
	}
}

// printCodes lists the codes of lint.
func printCodes(w io.Writer) {
	fmt.Fprint(w, "\n## Codes\n\n")
	for _, code := range lint.Codes() {
		fmt.Fprint(w, cli.Wrap(fmt.Sprintf("%s (%s): %s", code.Name, code.Severity, code.Summary()), "- ", "  "))
	}
}

func printHelp(s streams, print func(io.Writer)) int {
	print(s.out)
	return exitDone
}
