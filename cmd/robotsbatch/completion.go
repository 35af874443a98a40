package main

import (
	"fmt"
	"io"
	"strings"
)

// manPage prints the manual page for man(1).
func manPage(w io.Writer) {
	roff := strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.")
	fmt.Fprintf(w, ".TH ROBOTSBATCH 1 \"\" \"robotsbatch %s\"\n.SH NAME\nrobotsbatch \\- robots.txt verdicts for lists and tables of URLs\n", roff.Replace(version()))
	fmt.Fprint(w, ".SH SYNOPSIS\n.nf\n")
	for _, c := range allCommands() {
		fmt.Fprintf(w, "\\fBrobotsbatch\\fR %s\n", roff.Replace(c.usage[0]))
	}
	fmt.Fprint(w, ".fi\n.SH DESCRIPTION\n")
	for _, c := range allCommands() {
		name := "robotsbatch"
		if c.set != jobCommand {
			name += " " + c.name
		}
		fmt.Fprintf(w, ".PP\n\\fB%s\\fR %s %s\n", name, roff.Replace(c.about), roff.Replace(c.details))
	}
	fmt.Fprint(w, ".SH OPTIONS\n")
	for i := range options {
		o := &options[i]
		fmt.Fprintf(w, ".TP\n\\fB\\-%s\\fR", roff.Replace(o.name))
		if o.argument != "" {
			fmt.Fprintf(w, " \\fI%s\\fR", o.argument)
		}
		var of []string
		for _, c := range allCommands() {
			if o.commands&c.set != 0 && c.set != jobCommand {
				of = append(of, c.name)
			}
		}
		fmt.Fprintf(w, "\n%s.", roff.Replace(o.withDefault()))
		if o.more != "" {
			fmt.Fprintf(w, " %s", roff.Replace(o.more))
		}
		if len(of) > 0 && o.commands&jobCommand != 0 {
			fmt.Fprintf(w, " Also of %s.", strings.Join(of, ", "))
		} else if len(of) > 0 {
			fmt.Fprintf(w, " Of %s alone.", strings.Join(of, ", "))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, ".SH EXIT STATUS\n")
	for _, e := range mainJob.exits {
		fmt.Fprintf(w, ".TP\n%s\n%s\n", e.status, roff.Replace(e.meaning))
	}
	fmt.Fprint(w, ".SH EXAMPLES\n.nf\n")
	for _, c := range allCommands() {
		for _, example := range c.examples {
			fmt.Fprintf(w, "robotsbatch %s\n", roff.Replace(example))
		}
	}
	fmt.Fprint(w, ".fi\n")
}

// allCommands are all commands, the main job first.
func allCommands() []*command {
	all := []*command{&mainJob}
	for i := range commands {
		all = append(all, &commands[i])
	}
	return all
}

// commandWords are what may stand in a command's place.
func commandWords() []string {
	words := []string{"help", "version"}
	for i := range commands {
		words = append(words, commands[i].name)
	}
	return words
}

// flagsOf are a command's flags, with dashes.
func flagsOf(set commandSet) []string {
	var flags []string
	for i := range options {
		if options[i].commands&set != 0 {
			flags = append(flags, "-"+options[i].name)
		}
	}
	return flags
}

// bashCompletion prints what bash is to source.
func bashCompletion(w io.Writer) {
	fmt.Fprint(w, "# bash completion for robotsbatch: robotsbatch help bash > /etc/bash_completion.d/robotsbatch\n_robotsbatch() {\n")
	fmt.Fprint(w, "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} flags\n  case $before in\n")
	for i := range options {
		if o := &options[i]; o.argument != "" {
			switch {
			case o.words != nil:
				fmt.Fprintf(w, "    -%s) COMPREPLY=($(compgen -W %q -- \"$word\")); return ;;\n", o.name, strings.Join(o.words, " "))
			case o.files:
				fmt.Fprintf(w, "    -%s) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", o.name)
			default:
				fmt.Fprintf(w, "    -%s) return ;;\n", o.name)
			}
		}
	}
	fmt.Fprintf(w, "    help) COMPREPLY=($(compgen -W %q -- \"$word\")); return ;;\n  esac\n  case ${COMP_WORDS[1]} in\n", strings.Join(helpWords(), " "))
	for i := range commands {
		fmt.Fprintf(w, "    %s) flags=%q ;;\n", commands[i].name, strings.Join(flagsOf(commands[i].set), " "))
	}
	fmt.Fprintf(w, "    *) flags=%q ;;\n  esac\n", strings.Join(flagsOf(jobCommand), " "))
	fmt.Fprintf(w, "  [[ $COMP_CWORD == 1 ]] && flags+=%q\n", " "+strings.Join(commandWords(), " "))
	fmt.Fprint(w, "  COMPREPLY=($(compgen -W \"$flags\" -- \"$word\") $([[ $word == -* ]] || compgen -f -- \"$word\"))\n}\ncomplete -o filenames -F _robotsbatch robotsbatch\n")
}

// helpWords are what help takes.
func helpWords() []string {
	words := append(manualTopics(), "all", "man", "bash", "zsh", "fish", "version")
	for i := range commands {
		words = append(words, commands[i].name)
	}
	return words
}

// zshCompletion prints what zsh takes as _robotsbatch.
func zshCompletion(w io.Writer) {
	escape := strings.NewReplacer("'", `'\''`, "[", `\[`, "]", `\]`, ":", `\:`)
	fmt.Fprint(w, "#compdef robotsbatch\n# zsh completion for robotsbatch: robotsbatch help zsh > _robotsbatch, in a folder of $fpath\n_robotsbatch() {\n  case $words[2] in\n")
	for _, c := range append(allCommands()[1:], &mainJob) {
		name := c.name
		if c.set == jobCommand {
			name = "*"
		}
		fmt.Fprintf(w, "    %s)\n      _arguments \\\n", name)
		for i := range options {
			o := &options[i]
			if o.commands&c.set == 0 {
				continue
			}
			star, value := "", ""
			if o.repeat {
				star = "*"
			}
			switch {
			case o.words != nil:
				value = fmt.Sprintf(":%s:(%s)", o.argument, strings.Join(o.words, " "))
			case o.files:
				value = fmt.Sprintf(":%s:_files", o.argument)
			case o.argument != "":
				value = fmt.Sprintf(":%s: ", o.argument)
			}
			fmt.Fprintf(w, "        '%s-%s[%s]%s' \\\n", star, o.name, escape.Replace(o.short), value)
		}
		if c.set == jobCommand {
			fmt.Fprintf(w, "        '1:command:(%s)' ;;\n", strings.Join(commandWords(), " "))
		} else {
			fmt.Fprint(w, "        '*:file:_files' ;;\n")
		}
	}
	fmt.Fprint(w, "  esac\n}\n_robotsbatch \"$@\"\n")
}

// fishCompletion prints what fish is to source.
func fishCompletion(w io.Writer) {
	escape := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	fmt.Fprint(w, "# fish completion for robotsbatch: robotsbatch help fish > ~/.config/fish/completions/robotsbatch.fish\n")
	fmt.Fprintf(w, "complete -c robotsbatch -n __fish_use_subcommand -a '%s'\n", strings.Join(commandWords(), " "))
	fmt.Fprintf(w, "complete -c robotsbatch -n '__fish_seen_subcommand_from help' -f -a '%s'\n", strings.Join(helpWords(), " "))
	for _, c := range allCommands() {
		when := "__fish_seen_subcommand_from " + c.name
		if c.set == jobCommand {
			when = "not __fish_seen_subcommand_from " + strings.Join(commandWords(), " ")
		}
		for i := range options {
			o := &options[i]
			if o.commands&c.set == 0 {
				continue
			}
			value := ""
			switch {
			case o.words != nil:
				value = fmt.Sprintf(" -x -a '%s'", strings.Join(o.words, " "))
			case o.files:
				value = " -r -F"
			case o.argument != "":
				value = " -x"
			}
			fmt.Fprintf(w, "complete -c robotsbatch -n '%s' -o %s%s -d '%s'\n", when, o.name, value, escape.Replace(o.short))
		}
	}
}
