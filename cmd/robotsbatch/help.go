package main

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"robotsbatch/batch"
)

// helpWidth is how wide help texts are.
const helpWidth = 80

//go:embed manual/*.md
var manual embed.FS

// manualTopics are the names of the manual's pages.
func manualTopics() []string {
	names, err := fs.Glob(manual, "manual/*.md")
	if err != nil {
		panic(err) // the pattern is right
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(path.Base(name), ".md")
	}
	return names
}

// runHelp prints the help that args ask for.
func runHelp(args []string, s streams) int {
	switch {
	case len(args) == 0:
		return printHelp(s, shortHelp)
	case len(args) > 1:
		return failUsage(s, "", usageErrorf("help takes one topic, such as robotsbatch help %s", manualTopics()[0]))
	}
	topic := args[0]
	if c := commandOf(topic); c != nil {
		return printHelp(s, c.help)
	}
	if page, err := manual.ReadFile("manual/" + topic + ".md"); err == nil {
		return printHelp(s, func(w io.Writer) { _, _ = w.Write(page) })
	}
	others := map[string]func(io.Writer){
		"all": mainJob.help, "man": manPage, "bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion,
		"version": func(w io.Writer) {
			fmt.Fprintln(w, "robotsbatch version prints which version this is, and how it was built.")
		},
	}
	if print := others[topic]; print != nil {
		return printHelp(s, print)
	}
	names := manualTopics()
	for i := range commands {
		names = append(names, commands[i].name)
	}
	if near := batch.Nearest(topic, names); near != "" {
		return failUsage(s, "", usageErrorf("there is no help on %q: did you mean robotsbatch help %s?", topic, near))
	}
	return failUsage(s, "", usageErrorf("there is no help on %q: there is on %s", topic, strings.Join(names, ", ")))
}

func printHelp(s streams, print func(io.Writer)) int {
	print(s.out)
	return exitDone
}

// printJobHelp prints the short help, or with "all" behind -h all of it.
func printJobHelp(s streams, args []string) int {
	if wantsAllHelp(args) {
		return printHelp(s, mainJob.help)
	}
	return printHelp(s, shortHelp)
}

// shortHelp prints the main job's common flags on one screen.
func shortHelp(w io.Writer) {
	fmt.Fprint(w, wrap("robotsbatch "+mainJob.about, "", ""))
	fmt.Fprint(w, "\nUsage:\n")
	printUsage(w)
	fmt.Fprint(w, "\nCommon flags:\n")
	for i := range options {
		if o := &options[i]; o.common && o.commands&jobCommand != 0 {
			o.print(w, o.withDefault())
		}
	}
	fmt.Fprint(w, "\nExample:\n  robotsbatch "+mainJob.examples[0]+"\n\n")
	fmt.Fprint(w, wrap("All flags: robotsbatch -help all. More: robotsbatch help COMMAND, or help TOPIC: "+strings.Join(manualTopics(), ", ")+".", "", ""))
}

func printUsage(w io.Writer) {
	fmt.Fprintf(w, "  robotsbatch %s\n", mainJob.usage[0])
	for i := range commands {
		fmt.Fprintf(w, "  robotsbatch %s\n", commands[i].usage[0])
	}
	fmt.Fprint(w, "  robotsbatch version | help [COMMAND|TOPIC]\n")
}

// help prints all of a command's help.
func (c *command) help(w io.Writer) {
	begin := "robotsbatch "
	if c.set != jobCommand {
		begin += c.name + " "
	}
	fmt.Fprint(w, wrap(begin+c.about, "", ""))
	fmt.Fprint(w, "\nUsage:\n")
	if c.set == jobCommand {
		printUsage(w)
	}
	for _, usage := range c.usage {
		if c.set != jobCommand {
			fmt.Fprintf(w, "  robotsbatch %s\n", usage)
		}
	}
	if c.details != "" {
		fmt.Fprint(w, "\n"+wrap(c.details, "", ""))
	}
	for _, topic := range topics {
		c.printTopic(w, topic)
	}
	fmt.Fprint(w, "\nExamples:\n")
	for _, example := range c.examples {
		fmt.Fprintf(w, "  robotsbatch %s\n", example)
	}
	fmt.Fprint(w, "\nExit status:\n")
	for _, e := range c.exits {
		fmt.Fprint(w, wrap(e.meaning, fmt.Sprintf("  %-13s  ", e.status), strings.Repeat(" ", 17)))
	}
}

func (c *command) printTopic(w io.Writer, topic topic) {
	heading := "\n" + string(topic) + ":\n"
	for i := range options {
		o := &options[i]
		if o.topic != topic || o.commands&c.set == 0 {
			continue
		}
		fmt.Fprint(w, heading)
		heading = ""
		text := o.withDefault()
		if o.repeat {
			text += "; repeatable"
		}
		if o.more != "" {
			text += ". " + o.more
		}
		o.print(w, text)
	}
}

// print prints an option and a text on it.
func (o *option) print(w io.Writer, text string) {
	const indent = "                      "
	flag := "  " + strings.TrimSpace("-"+o.name+" "+o.argument)
	if len(flag) >= len(indent) {
		fmt.Fprintln(w, flag)
		flag = ""
	}
	fmt.Fprint(w, wrap(text, fmt.Sprintf("%-*s", len(indent), flag), indent))
}

// wrap breaks text into lines, the first behind begin, the others behind indent.
func wrap(text, begin, indent string) string {
	var b strings.Builder
	line := begin
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && len([]rune(line))+1+len([]rune(word)) > helpWidth {
			b.WriteString(line + "\n")
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	b.WriteString(line + "\n")
	return b.String()
}
