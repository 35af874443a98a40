package cli

import (
	"fmt"
	"slices"
	"strings"
)

// width is how wide help texts are.
const width = 80

// ShortHelp has the main job's common flags on one screen.
func (p *Program) ShortHelp() string {
	var t text
	t.add("%s\nUsage:\n  robotsbatch %s\n", Wrap("robotsbatch "+p.Main.About, "", ""), p.Main.Usage[0])
	t.add("%s\nCommon flags:\n", Wrap(strings.Join(p.commandWords(), ", "), "  robotsbatch COMMAND, which is one of ", "    "))
	for _, o := range p.Main.New().Flags() {
		if o.Common {
			t.add("%s", o.lines(o.withDefault()))
		}
	}
	t.add("\nExample:\n  robotsbatch %s\n\n", p.Main.Examples[0])
	t.add("%s", Wrap("All flags: robotsbatch -help all. More: robotsbatch help COMMAND, help -FLAG, or help TOPIC: "+strings.Join(p.Pages, ", ")+".", "", ""))
	return t.String()
}

// Help is all of a command's help.
func (p *Program) Help(c *Command) string {
	var t text
	t.add("%s\nUsage:\n", Wrap(p.nameOf(c)+" "+c.About, "", ""))
	usage := c.Usage
	if c == p.Main {
		for _, other := range p.Commands {
			usage = append(usage[:len(usage):len(usage)], other.Usage[0])
		}
		usage = append(usage, "version | help [COMMAND|TOPIC|WORD...]")
	}
	t.list("  robotsbatch ", usage)
	if c.Details != "" {
		t.add("\n%s", Wrap(c.Details, "", ""))
	}
	for _, topic := range append(slices.Clone(p.Topics), "Rarely needed") {
		heading := "\n" + topic + ":\n"
		for _, o := range c.New().Flags() {
			if o.Rare && topic == "Rarely needed" || !o.Rare && topic == o.Topic {
				t.add("%s%s", heading, o.lines(o.full()))
				heading = ""
			}
		}
	}
	t.add("\nExamples:\n")
	t.list("  robotsbatch ", c.Examples)
	t.add("\nExit status:\n")
	for _, e := range c.Exits {
		t.add("%s", Wrap(e.Meaning, fmt.Sprintf("  %-13s  ", e.Status), strings.Repeat(" ", 17)))
	}
	return t.String()
}

func (t *text) list(begin string, lines []string) {
	for _, line := range lines {
		t.add("%s%s\n", begin, line)
	}
}

// withDefault is what the short help says of a flag.
func (o *Flag) withDefault() string {
	if o.Standard == "" {
		return o.Short
	}
	return fmt.Sprintf("%s (default %s)", o.Short, o.Standard)
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

// flagIndent stands before the lines of a text on a flag.
const flagIndent = "                      "

// lines are a flag and a text on it.
func (o *Flag) lines(text string) string {
	begin, flag := "", "  "+strings.TrimSpace("-"+o.Name+" "+o.Argument)
	if len(flag) >= len(flagIndent) {
		begin, flag = flag+"\n", ""
	}
	return begin + Wrap(text, fmt.Sprintf("%-*s", len(flagIndent), flag), flagIndent)
}

// FlagHelp is what a flag means for each of the commands that have it.
func (p *Program) FlagHelp(name string) (help string) {
	for _, o := range p.shared() {
		if o.Name == name {
			help += o.lines(o.full()) + Wrap(strings.Join(o.commands, ", "), flagIndent+"In ", flagIndent)
		}
	}
	return help
}

// FlagTexts yields the names of all flags, and what the help says of them.
func (p *Program) FlagTexts(yield func(name, text string) bool) {
	for _, o := range p.shared() {
		if !yield(o.Name, o.full()) {
			return
		}
	}
}

// options are the commands and formats for which each flag holds.
func (p *Program) options() string {
	var lines []string
	for _, o := range p.shared() {
		text := strings.TrimSpace("-"+o.Name+" "+o.Argument) + ": " + strings.Join(o.commands, ", ")
		if o.For != nil {
			text += "; for " + o.For.String()
		}
		lines = append(lines, Wrap(text, "- ", "  "))
	}
	slices.Sort(lines)
	return "# Options\n\nThe commands and formats for which each flag holds; \"robotsbatch\" is the main job.\n\n" + strings.Join(lines, "")
}

// Shorten cuts a text that is longer than a line of help.
func Shorten(text string) string {
	if letters := []rune(text); len(letters) > width {
		return string(letters[:width-1]) + "…"
	}
	return text
}

// Wrap breaks text into lines, the first after begin, the others after indent.
func Wrap(text, begin, indent string) string {
	var b strings.Builder
	line, between := begin, ""
	for _, word := range strings.Fields(text) {
		if between != "" && len([]rune(line))+1+len([]rune(word)) > width {
			b.WriteString(line + "\n")
			line, between = indent, ""
		}
		line, between = line+between+word, " "
	}
	return b.String() + line + "\n"
}
