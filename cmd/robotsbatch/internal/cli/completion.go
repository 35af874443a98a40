package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// ManPage prints the manual page for man(1).
func (p *Program) ManPage(w io.Writer) {
	roff := strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.")
	fmt.Fprintf(w, ".TH ROBOTSBATCH 1 \"\" \"robotsbatch %s\"\n.SH NAME\nrobotsbatch \\- %s\n", roff.Replace(p.Version), roff.Replace(p.Purpose))
	fmt.Fprint(w, ".SH SYNOPSIS\n.nf\n")
	for _, c := range p.All() {
		fmt.Fprintf(w, "\\fBrobotsbatch\\fR %s\n", roff.Replace(c.Usage[0]))
	}
	fmt.Fprint(w, ".fi\n.SH DESCRIPTION\n")
	for _, c := range p.All() {
		name := "robotsbatch"
		if c != p.Main {
			name += " " + c.Name
		}
		fmt.Fprintf(w, ".PP\n\\fB%s\\fR %s %s\n", name, roff.Replace(c.About), roff.Replace(c.Details))
	}
	fmt.Fprint(w, ".SH OPTIONS\n")
	for _, o := range p.shared() {
		fmt.Fprintf(w, ".TP\n\\fB\\-%s\\fR", roff.Replace(o.Name))
		if o.Argument != "" {
			fmt.Fprintf(w, " \\fI%s\\fR", o.Argument)
		}
		of := slices.DeleteFunc(slices.Clone(o.commands), func(name string) bool { return name == p.Main.Name })
		fmt.Fprintf(w, "\n%s.", roff.Replace(o.withDefault()))
		if more := o.more(); more != "" {
			fmt.Fprintf(w, " %s", roff.Replace(more))
		}
		if len(of) > 0 && len(of) < len(o.commands) {
			fmt.Fprintf(w, " Also of %s.", strings.Join(of, ", "))
		} else if len(of) > 0 {
			fmt.Fprintf(w, " Of %s alone.", strings.Join(of, ", "))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, ".SH EXIT STATUS\n")
	for _, e := range p.Main.Exits {
		fmt.Fprintf(w, ".TP\n%s\n%s\n", e.Status, roff.Replace(e.Meaning))
	}
	fmt.Fprint(w, ".SH EXAMPLES\n.nf\n")
	for _, c := range p.All() {
		for _, example := range c.Examples {
			fmt.Fprintf(w, "robotsbatch %s\n", roff.Replace(example))
		}
	}
	fmt.Fprint(w, ".fi\n")
}

// All are all commands, the main job first.
func (p *Program) All() []*Command {
	return append([]*Command{p.Main}, p.Commands...)
}

// commandWords are what may stand in a command's place.
func (p *Program) commandWords() []string {
	words := []string{"help", "version"}
	for _, c := range p.Commands {
		words = append(words, c.Name)
	}
	return words
}

// flagNames are a command's flags, with dashes.
func (c *Command) flagNames() []string {
	var names []string
	for _, o := range c.New().Flags() {
		names = append(names, "-"+o.Name)
	}
	return names
}

// BashCompletion prints what bash is to source.
func (p *Program) BashCompletion(w io.Writer) {
	fmt.Fprint(w, "# bash completion for robotsbatch: robotsbatch help bash > /etc/bash_completion.d/robotsbatch\n_robotsbatch() {\n")
	fmt.Fprint(w, "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} flags\n  case $before in\n")
	for _, o := range p.shared() {
		if o.Argument != "" {
			switch {
			case o.Words != nil:
				fmt.Fprintf(w, "    -%s) COMPREPLY=($(compgen -W %q -- \"$word\")); return ;;\n", o.Name, strings.Join(o.Words, " "))
			case o.Files:
				fmt.Fprintf(w, "    -%s) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", o.Name)
			default:
				fmt.Fprintf(w, "    -%s) return ;;\n", o.Name)
			}
		}
	}
	fmt.Fprintf(w, "    help) COMPREPLY=($(compgen -W %q -- \"$word\")); return ;;\n  esac\n  case ${COMP_WORDS[1]} in\n", strings.Join(p.HelpWords(), " "))
	for _, c := range p.Commands {
		fmt.Fprintf(w, "    %s) flags=%q ;;\n", c.Name, strings.Join(c.flagNames(), " "))
	}
	fmt.Fprintf(w, "    *) flags=%q ;;\n  esac\n", strings.Join(p.Main.flagNames(), " "))
	fmt.Fprintf(w, "  [[ $COMP_CWORD == 1 ]] && flags+=%q\n", " "+strings.Join(p.commandWords(), " "))
	fmt.Fprint(w, "  COMPREPLY=($(compgen -W \"$flags\" -- \"$word\") $([[ $word == -* ]] || compgen -f -- \"$word\"))\n}\ncomplete -o filenames -F _robotsbatch robotsbatch\n")
}

// HelpWords are what help takes.
func (p *Program) HelpWords() []string {
	words := append(slices.Clone(p.Pages), "all", "options", "man", "bash", "zsh", "fish", "powershell", "version")
	for _, c := range p.Commands {
		if name := c.Name; !slices.Contains(words, name) { // some have a page, too
			words = append(words, name)
		}
	}
	return words
}

// ZshCompletion prints what zsh takes as _robotsbatch.
func (p *Program) ZshCompletion(w io.Writer) {
	escape := strings.NewReplacer("'", `'\''`, "[", `\[`, "]", `\]`, ":", `\:`)
	fmt.Fprint(w, "#compdef robotsbatch\n# zsh completion for robotsbatch: robotsbatch help zsh > _robotsbatch, in a folder of $fpath\n_robotsbatch() {\n  case $words[2] in\n")
	for _, c := range append(p.All()[1:], p.Main) {
		name := c.Name
		if c == p.Main {
			name = "*"
		}
		fmt.Fprintf(w, "    %s)\n      _arguments \\\n", name)
		for _, o := range c.New().Flags() {
			star, value := "", ""
			if o.Repeat {
				star = "*"
			}
			switch {
			case o.Words != nil:
				value = fmt.Sprintf(":%s:(%s)", o.Argument, strings.Join(o.Words, " "))
			case o.Files:
				value = fmt.Sprintf(":%s:_files", o.Argument)
			case o.Argument != "":
				value = fmt.Sprintf(":%s: ", o.Argument)
			}
			fmt.Fprintf(w, "        '%s-%s[%s]%s' \\\n", star, o.Name, escape.Replace(o.Short), value)
		}
		if c == p.Main {
			fmt.Fprintf(w, "        '1:command:(%s)' ;;\n", strings.Join(p.commandWords(), " "))
		} else {
			fmt.Fprint(w, "        '*:file:_files' ;;\n")
		}
	}
	fmt.Fprint(w, "  esac\n}\n_robotsbatch \"$@\"\n")
}

// FishCompletion prints what fish is to source.
func (p *Program) FishCompletion(w io.Writer) {
	escape := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	fmt.Fprint(w, "# fish completion for robotsbatch: robotsbatch help fish > ~/.config/fish/completions/robotsbatch.fish\n")
	fmt.Fprintf(w, "complete -c robotsbatch -n __fish_use_subcommand -a '%s'\n", strings.Join(p.commandWords(), " "))
	fmt.Fprintf(w, "complete -c robotsbatch -n '__fish_seen_subcommand_from help' -f -a '%s'\n", strings.Join(p.HelpWords(), " "))
	for _, c := range p.All() {
		when := "__fish_seen_subcommand_from " + c.Name
		if c == p.Main {
			when = "not __fish_seen_subcommand_from " + strings.Join(p.commandWords(), " ")
		}
		for _, o := range c.New().Flags() {
			value := ""
			switch {
			case o.Words != nil:
				value = fmt.Sprintf(" -x -a '%s'", strings.Join(o.Words, " "))
			case o.Files:
				value = " -r -F"
			case o.Argument != "":
				value = " -x"
			}
			fmt.Fprintf(w, "complete -c robotsbatch -n '%s' -o %s%s -d '%s'\n", when, o.Name, value, escape.Replace(o.Short))
		}
	}
}

// PowerShellCompletion prints what a profile of PowerShell has.
func (p *Program) PowerShellCompletion(w io.Writer) {
	list := func(words []string) string { return "@('" + strings.Join(words, "', '") + "')" }
	fmt.Fprint(w, "# PowerShell completion for robotsbatch: robotsbatch help powershell >> $PROFILE\n"+
		"Register-ArgumentCompleter -Native -CommandName robotsbatch -ScriptBlock {\n  param($word, $ast, $cursor)\n  $flags = @{\n")
	values := make(map[string][]string)
	for _, c := range p.All() {
		fmt.Fprintf(w, "    '%s' = %s\n", c.Name, list(strings.Fields(strings.Join(c.flagNames(), " "))))
		for _, o := range c.New().Flags() {
			if len(o.Words) > 0 {
				values["-"+o.Name] = o.Words
			}
		}
	}
	fmt.Fprintf(w, "    'help' = %s\n  }\n  $values = @{\n", list(p.HelpWords()))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(w, "    '%s' = %s\n", name, list(values[name]))
	}
	fmt.Fprintf(w, `  }
  $before = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { "$_" })
  $found = if ($before.Count -gt 1 -and $values.ContainsKey($before[-1])) { $values[$before[-1]] }
  elseif ($before.Count -gt 1 -and $flags.ContainsKey($before[1])) { $flags[$before[1]] }
  elseif ($before.Count -gt 1) { $flags['%[1]s'] }
  else { $flags['%[1]s'] + %[2]s }
  $found | Where-Object { $_ -like "$word*" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}
`, p.Main.Name, list(p.commandWords()))
}
