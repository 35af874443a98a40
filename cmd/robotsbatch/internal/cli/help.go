package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// width is how wide help texts are.
const width = 80

// ShortHelp returns a screen of help: the main job's common flags.
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

// Help returns the full help for a command. That of the main job also names all others.
func (p *Program) Help(c *Command) string {
	var t text
	t.add("%s\nUsage:\n", Wrap(p.nameOf(c)+" "+c.About, "", ""))
	usage := c.Usage
	if c == p.Main {
		others := Map(p.Commands, func(other *Command) string { return other.Usage[0] })
		usage = slices.Concat(usage, others, []string{"version | help [COMMAND|TOPIC|WORD...]"})
	}
	t.add("%s\n", indented(usage))
	if c.Details != "" {
		t.add("\n%s", Wrap(c.Details, "", ""))
	}
	for _, topic := range append(slices.Clone(p.Topics), "Rarely needed") {
		heading := "\n" + topic + ":\n"
		for _, o := range c.New().Flags() {
			if o.Rare && topic == "Rarely needed" || !o.Rare && topic == o.Topic {
				t.add("%s%s", heading, o.lines(o.FullText()))
				heading = ""
			}
		}
	}
	t.add("\nExamples:\n%s\n\nExit status:\n", indented(c.Examples))
	for _, e := range c.Exits {
		t.add("%s", Wrap(e.Meaning, fmt.Sprintf("  %-13s  ", e.Status), strings.Repeat(" ", 17)))
	}
	return t.String()
}

// indented returns command lines without the program's name as lines of help.
func indented(lines []string) string {
	return "  robotsbatch " + strings.Join(lines, "\n  robotsbatch ")
}

// withDefault returns what the short help says of a flag.
func (o *Flag) withDefault() string {
	if o.Standard == "" {
		return o.Short
	}
	return fmt.Sprintf("%s (default %s)", o.Short, o.Standard)
}

// FullText returns all that help says of a flag.
func (o *Flag) FullText() string {
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

// lines returns the lines of help for a flag: its name and argument, and text to their right.
func (o *Flag) lines(text string) string {
	begin, flag := "", "  "+strings.TrimSpace("-"+o.Name+" "+o.Argument)
	if len(flag) >= len(flagIndent) {
		begin, flag = flag+"\n", ""
	}
	return begin + Wrap(text, fmt.Sprintf("%-*s", len(flagIndent), flag), flagIndent)
}

// FlagHelp returns the help for a flag, with the commands that have it. It has a part for each
// meaning.
func (p *Program) FlagHelp(name string) (help string) {
	for _, o := range p.Flags() {
		if o.Name == name {
			help += o.lines(o.FullText()) + Wrap(strings.Join(o.commands, ", "), flagIndent+"In ", flagIndent)
		}
	}
	return help
}

// optionsPage returns the page that lists, for each flag, its commands and formats.
func (p *Program) optionsPage() string {
	lines := Map(p.Flags(), func(o shared) string {
		text := strings.TrimSpace("-"+o.Name+" "+o.Argument) + ": " + strings.Join(o.commands, ", ")
		if o.For != nil {
			text += "; for " + o.For.String()
		}
		return Wrap(text, "- ", "  ")
	})
	slices.Sort(lines)
	return "# Options\n\nThe commands and formats for which each flag holds; \"robotsbatch\" is the main job.\n\n" + strings.Join(lines, "")
}

// Shorten cuts a text to the width of a line of help.
func Shorten(text string) string {
	if letters := []rune(text); len(letters) > width {
		return string(letters[:width-1]) + "…"
	}
	return text
}

// Wrap breaks text into lines of at most width columns. begin starts the first line, indent
// the others.
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

// text is a text that is made piece by piece.
type text struct{ strings.Builder }

// add adds a piece, formatted as by fmt.Printf.
func (t *text) add(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// Texts returns the generated pages of help by name, such as the completions of shells.
func (p *Program) Texts() map[string]func() string {
	return map[string]func() string{
		"options": p.optionsPage, "man": p.manPage, "bash": p.bashCompletion, "zsh": p.zshCompletion, "fish": p.fishCompletion, "powershell": p.powerShellCompletion,
	}
}

// manPage returns the manual page in the format of man(1).
func (p *Program) manPage() string {
	var t text
	roff := strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.").Replace
	t.add(".TH ROBOTSBATCH 1 \"\" \"robotsbatch %s\"\n.SH NAME\nrobotsbatch \\- %s\n.SH SYNOPSIS\n.nf\n", roff(Version()), roff(p.Purpose))
	for _, c := range p.All() {
		t.add("\\fBrobotsbatch\\fR %s\n", roff(c.Usage[0]))
	}
	t.add(".fi\n.SH DESCRIPTION\n")
	for _, c := range p.All() {
		t.add(".PP\n\\fB%s\\fR %s %s\n", p.nameOf(c), roff(c.About), roff(c.Details))
	}
	t.add(".SH OPTIONS\n")
	for _, o := range p.Flags() {
		argument, of := "", ""
		if o.Argument != "" {
			argument = " \\fI" + o.Argument + "\\fR"
		}
		switch others := o.commands[1:]; {
		case o.commands[0] != p.Main.Name:
			of = " Of " + strings.Join(o.commands, ", ") + " alone."
		case len(others) > 0:
			of = " Also of " + strings.Join(others, ", ") + "."
		}
		t.add(".TP\n\\fB\\-%s\\fR%s\n%s.%s%s\n", roff(o.Name), argument, roff(o.withDefault()), strings.TrimRight(" "+roff(o.more()), " "), of)
	}
	t.add(".SH EXIT STATUS\n")
	for _, e := range p.Main.Exits {
		t.add(".TP\n%s\n%s\n", e.Status, roff(e.Meaning))
	}
	t.add(".SH EXAMPLES\n.nf\n")
	for _, c := range p.All() {
		for _, example := range c.Examples {
			t.add("robotsbatch %s\n", roff(example))
		}
	}
	t.add(".fi\n")
	return t.String()
}

// nameOf returns the words that call a command.
func (p *Program) nameOf(c *Command) string {
	if c == p.Main {
		return "robotsbatch"
	}
	return "robotsbatch " + c.Name
}

// commandWords returns the words that may be a command.
func (p *Program) commandWords() []string {
	return append([]string{"help", "version"}, Map(p.Commands, func(c *Command) string { return c.Name })...)
}

// HelpWords returns the words for which help has a text: pages, generated texts and commands.
func (p *Program) HelpWords() []string {
	words := append(slices.Clone(p.Pages), "all", "options", "man", "bash", "zsh", "fish", "powershell", "version")
	for _, c := range p.Commands {
		if !slices.Contains(words, c.Name) { // some have a page, too
			words = append(words, c.Name)
		}
	}
	return words
}

// flagNames returns the names of a command's flags, with dashes.
func (c *Command) flagNames() []string {
	return Map(c.New().Flags(), func(o Flag) string { return "-" + o.Name })
}

// completion returns what completes the flag's value in a shell: words if the flag takes one of some
// words, which replace the %s in it, files if it takes a file's name, else any. It is "" for a flag
// without a value.
func (o *Flag) completion(words, files, any string) string {
	switch {
	case o.Argument == "":
		return ""
	case o.words() != nil:
		return fmt.Sprintf(words, strings.Join(o.words(), " "))
	case o.Files:
		return files
	}
	return any
}

// bashCompletion returns the script that completes commands and flags in bash.
func (p *Program) bashCompletion() string {
	var t text
	t.add("# bash completion for robotsbatch: robotsbatch help bash > /etc/bash_completion.d/robotsbatch\n_robotsbatch() {\n")
	t.add("  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} flags\n  case $before in\n")
	for _, o := range p.Flags() {
		if o.Argument != "" {
			t.add("    -%s) %sreturn ;;\n", o.Name, o.completion(`COMPREPLY=($(compgen -W "%s" -- "$word")); `, `COMPREPLY=($(compgen -f -- "$word")); `, ""))
		}
	}
	t.add("    help) COMPREPLY=($(compgen -W %q -- \"$word\")); return ;;\n  esac\n  case ${COMP_WORDS[1]} in\n", strings.Join(p.HelpWords(), " "))
	for _, c := range p.Commands {
		t.add("    %s) flags=%q ;;\n", c.Name, strings.Join(c.flagNames(), " "))
	}
	t.add("    *) flags=%q ;;\n  esac\n", strings.Join(p.Main.flagNames(), " "))
	t.add("  [[ $COMP_CWORD == 1 ]] && flags+=%q\n", " "+strings.Join(p.commandWords(), " "))
	t.add("  COMPREPLY=($(compgen -W \"$flags\" -- \"$word\") $([[ $word == -* ]] || compgen -f -- \"$word\"))\n}\ncomplete -o filenames -F _robotsbatch robotsbatch\n")
	return t.String()
}

// zshCompletion returns the script that completes commands and flags in zsh.
func (p *Program) zshCompletion() string {
	var t text
	escape := strings.NewReplacer("'", `'\''`, "[", `\[`, "]", `\]`, ":", `\:`)
	t.add("#compdef robotsbatch\n# zsh completion for robotsbatch: robotsbatch help zsh > _robotsbatch, in a folder of $fpath\n_robotsbatch() {\n  case $words[2] in\n")
	for _, c := range append(p.All()[1:], p.Main) { // the main job last, because * is any word
		name, operands := c.Name, "*:file:_files"
		if c == p.Main {
			name, operands = "*", "1:command:("+strings.Join(p.commandWords(), " ")+")"
		}
		t.add("    %s)\n      _arguments \\\n", name)
		for _, o := range c.New().Flags() {
			star := ""
			if o.Repeat {
				star = "*"
			}
			t.add("        '%s-%s[%s]%s' \\\n", star, o.Name, escape.Replace(o.Short), o.completion(":"+o.Argument+":(%s)", ":"+o.Argument+":_files", ":"+o.Argument+": "))
		}
		t.add("        '%s' ;;\n", operands)
	}
	t.add("  esac\n}\n_robotsbatch \"$@\"\n")
	return t.String()
}

// fishCompletion returns the script that completes commands and flags in fish.
func (p *Program) fishCompletion() string {
	var t text
	escape := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	t.add("# fish completion for robotsbatch: robotsbatch help fish > ~/.config/fish/completions/robotsbatch.fish\n")
	t.add("complete -c robotsbatch -n __fish_use_subcommand -a '%s'\n", strings.Join(p.commandWords(), " "))
	t.add("complete -c robotsbatch -n '__fish_seen_subcommand_from help' -f -a '%s'\n", strings.Join(p.HelpWords(), " "))
	for _, c := range p.All() {
		when := "__fish_seen_subcommand_from " + c.Name
		if c == p.Main {
			when = "not __fish_seen_subcommand_from " + strings.Join(p.commandWords(), " ")
		}
		for _, o := range c.New().Flags() {
			t.add("complete -c robotsbatch -n '%s' -o %s%s -d '%s'\n", when, o.Name, o.completion(" -x -a '%s'", " -r -F", " -x"), escape.Replace(o.Short))
		}
	}
	return t.String()
}

// powerShellCompletion returns the script that completes commands and flags in PowerShell.
func (p *Program) powerShellCompletion() string {
	var t text
	list := func(words []string) string { return "@('" + strings.Join(words, "', '") + "')" }
	t.add("# PowerShell completion for robotsbatch: robotsbatch help powershell >> $PROFILE\n" +
		"Register-ArgumentCompleter -Native -CommandName robotsbatch -ScriptBlock {\n  param($word, $ast, $cursor)\n  $flags = @{\n")
	values := make(map[string][]string)
	for _, c := range p.All() {
		t.add("    '%s' = %s\n", c.Name, list(c.flagNames()))
		for _, o := range c.New().Flags() {
			if o.words() != nil {
				values["-"+o.Name] = o.words()
			}
		}
	}
	t.add("    'help' = %s\n  }\n  $values = @{\n", list(p.HelpWords()))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		t.add("    '%s' = %s\n", name, list(values[name]))
	}
	t.add(`  }
  $before = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { "$_" })
  $found = if ($before.Count -gt 1 -and $values.ContainsKey($before[-1])) { $values[$before[-1]] }
  elseif ($before.Count -gt 1 -and $flags.ContainsKey($before[1])) { $flags[$before[1]] }
  elseif ($before.Count -gt 1) { $flags['%[1]s'] }
  else { $flags['%[1]s'] + %[2]s }
  $found | Where-Object { $_ -like "$word*" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}
`, p.Main.Name, list(p.commandWords()))
	return t.String()
}
