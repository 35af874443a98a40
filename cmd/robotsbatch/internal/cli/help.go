package cli

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
)

// width is how wide help texts are.
const width = 80

// ShortHelp prints the main job's common flags on one screen.
func (p *Program) ShortHelp(w io.Writer) {
	fmt.Fprint(w, Wrap("robotsbatch "+p.Main.About, "", ""))
	fmt.Fprintf(w, "\nUsage:\n  robotsbatch %s\n", p.Main.Usage[0])
	commands := strings.Join(p.commandWords(), ", ")
	fmt.Fprint(w, Wrap(commands, "  robotsbatch COMMAND, which is one of ", "    "))
	fmt.Fprint(w, "\nCommon flags:\n")
	for _, o := range p.Main.New().Flags() {
		if o.Common {
			o.print(w, o.withDefault())
		}
	}
	fmt.Fprint(w, "\nExample:\n  robotsbatch "+p.Main.Examples[0]+"\n\n")
	fmt.Fprint(w, Wrap("All flags: robotsbatch -help all. More: robotsbatch help COMMAND, help -FLAG, or help TOPIC: "+strings.Join(p.Pages, ", ")+".", "", ""))
}

func (p *Program) printUsage(w io.Writer) {
	fmt.Fprintf(w, "  robotsbatch %s\n", p.Main.Usage[0])
	for _, c := range p.Commands {
		fmt.Fprintf(w, "  robotsbatch %s\n", c.Usage[0])
	}
	fmt.Fprint(w, "  robotsbatch version | help [COMMAND|TOPIC|WORD...]\n")
}

// Help prints all of a command's help.
func (p *Program) Help(c *Command, w io.Writer) {
	begin := "robotsbatch "
	if c != p.Main {
		begin += c.Name + " "
	}
	fmt.Fprint(w, Wrap(begin+c.About, "", ""))
	fmt.Fprint(w, "\nUsage:\n")
	if c == p.Main {
		p.printUsage(w)
	}
	for _, usage := range c.Usage {
		if c != p.Main {
			fmt.Fprintf(w, "  robotsbatch %s\n", usage)
		}
	}
	if c.Details != "" {
		fmt.Fprint(w, "\n"+Wrap(c.Details, "", ""))
	}
	for _, topic := range p.Topics {
		p.printFlags(c, w, topic, func(o *Flag) bool { return o.Topic == topic && !o.Rare })
	}
	p.printFlags(c, w, "Rarely needed", func(o *Flag) bool { return o.Rare })
	fmt.Fprint(w, "\nExamples:\n")
	for _, example := range c.Examples {
		fmt.Fprintf(w, "  robotsbatch %s\n", example)
	}
	fmt.Fprint(w, "\nExit status:\n")
	for _, e := range c.Exits {
		fmt.Fprint(w, Wrap(e.Meaning, fmt.Sprintf("  %-13s  ", e.Status), strings.Repeat(" ", 17)))
	}
}

// printFlags prints those of a command's flags that are wanted, below a heading.
func (p *Program) printFlags(c *Command, w io.Writer, heading string, wanted func(*Flag) bool) {
	heading = "\n" + heading + ":\n"
	for _, o := range c.New().Flags() {
		if wanted(&o) {
			fmt.Fprint(w, heading)
			heading = ""
			o.print(w, o.full())
		}
	}
}

// full is all that the help says of a flag.
func (o *Flag) full() string {
	text := o.withDefault()
	if o.Repeat {
		text += "; repeatable"
	}
	if more := o.more(); more != "" {
		text += ". " + more
	}
	return text
}

// FlagHelp prints what a flag means for each of the commands that have it.
func (p *Program) FlagHelp(name string, w io.Writer) {
	for _, o := range p.shared() {
		if o.Name == name {
			o.print(w, o.full())
			fmt.Fprint(w, Wrap(strings.Join(o.commands, ", "), "                      In ", "                      "))
		}
	}
}

// FlagTexts are the names of all flags, and what the help says of them.
func (p *Program) FlagTexts() iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		for _, o := range p.shared() {
			if !yield(o.Name, o.full()) {
				return
			}
		}
	}
}

// Shorten cuts a text that is longer than a line of help.
func Shorten(text string) string {
	if letters := []rune(text); len(letters) > width {
		return string(letters[:width-1]) + "…"
	}
	return text
}

// Options prints the commands and formats for which each flag holds.
func (p *Program) Options(w io.Writer) {
	fmt.Fprint(w, "# Options\n\nThe commands and formats for which each flag holds; \"robotsbatch\" is the main job.\n\n")
	var lines []string
	for _, o := range p.shared() {
		text := strings.TrimSpace("-"+o.Name+" "+o.Argument) + ": " + strings.Join(o.commands, ", ")
		if o.For != nil {
			text += "; for " + o.For.String()
		}
		lines = append(lines, Wrap(text, "- ", "  "))
	}
	slices.Sort(lines)
	fmt.Fprint(w, strings.Join(lines, ""))
}

// print prints a flag and a text on it.
func (o *Flag) print(w io.Writer, text string) {
	const indent = "                      "
	flag := "  " + strings.TrimSpace("-"+o.Name+" "+o.Argument)
	if len(flag) >= len(indent) {
		fmt.Fprintln(w, flag)
		flag = ""
	}
	fmt.Fprint(w, Wrap(text, fmt.Sprintf("%-*s", len(indent), flag), indent))
}

// Wrap breaks text into lines, the first after begin, the others after indent.
func Wrap(text, begin, indent string) string {
	var b strings.Builder
	line := begin
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && len([]rune(line))+1+len([]rune(word)) > width {
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
