package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/manual"
	"robotsbatch/matcher/lint"
	"robotsbatch/matcher/spelling"
)

// program is the command line, made of the commands and their flags.
var program = cli.Program{
	Purpose: "robots.txt verdicts for lists and tables of URLs", Main: jobHelp, Topics: config.Topics, Pages: manual.Topics(),
	Commands: []*cli.Command{explainHelp, compileHelp, verifyHelp, pipeHelp, exportHelp, hostsHelp, diffHelp, surveyHelp, lintHelp},
}

// helpOn returns the help for args: the list of topics for none, the text on a single one that names a
// command, a page, a flag or a code of lint, else the places that have all of these words. The error
// suggests a similar name.
func helpOn(args []string) (string, error) {
	if len(args) == 0 {
		return topics(), nil
	}
	topic := args[0]
	if len(args) == 1 {
		if text := helpOnTopic(topic); text != "" {
			return text, nil
		}
		if flag, isFlag := strings.CutPrefix(topic, "-"); isFlag {
			return helpOnFlag(strings.TrimPrefix(flag, "-"))
		}
	}
	if found := search(args); found != "" {
		return found, nil
	}
	if len(args) > 1 {
		return "", option.Usagef("nothing in the help has all of %q", strings.Join(args, " "))
	}
	commands := cli.Map(program.Commands, func(c *cli.Command) string { return c.Name })
	names := slices.Concat(manual.Topics(), lint.CodeNames(), commands)
	if near := spelling.Nearest(topic, names); near != "" {
		return "", option.Usagef("there is no help on %q: did you mean robotsbatch help %s?", topic, near)
	}
	return "", option.Usagef("there is no help on %q; topics are %s", topic, strings.Join(program.HelpWords(), ", "))
}

// helpOnTopic returns the help for a command, with its page of the manual, a page, a code of lint or a
// generated text; "" if the topic is none of these.
func helpOnTopic(topic string) string {
	page, _ := manual.Page(topic)
	if command := program.Command(topic); command != nil {
		text := program.Help(command)
		if page != nil {
			text += "\n" + string(page)
		}
		if command == lintHelp {
			text += "\n## Codes\n\n"
			for _, code := range lint.Codes() {
				text += cli.Wrap(fmt.Sprintf("%s (%s): %s", code.Name, code.Severity, code.Summary()), "- ", "  ")
			}
		}
		return text
	}
	switch code := slices.Index(lint.CodeNames(), topic); {
	case page != nil:
		return string(page)
	case code >= 0:
		return lint.Codes()[code].Section
	case topic == "all":
		return program.Help(program.Main)
	case topic == "version":
		return "robotsbatch version prints which version this is, and how it was built.\n"
	}
	if text := program.Texts()[topic]; text != nil {
		return text()
	}
	return ""
}

// topics returns the list of commands and pages of the manual, a line each.
func topics() string {
	var b strings.Builder
	line := func(name, text string) { fmt.Fprintln(&b, cli.Shorten(fmt.Sprintf("  %-12s  %s", name, text))) }
	b.WriteString("robotsbatch help NAME is about one of these, help -FLAG about a flag, and help WORD... finds\nwhat has all the words. The flags: robotsbatch -h.\n\nCommands:\n")
	for _, c := range program.Commands {
		line(c.Name, c.About)
	}
	b.WriteString("\nThe manual; begin with verdicts, rules and formats:\n")
	for _, topic := range manual.Topics() {
		page, _ := manual.Page(topic) // it is there
		title, _, _ := strings.Cut(strings.TrimPrefix(string(page), "# "), "\n")
		line(topic, title)
	}
	return b.String()
}

// helpOnFlag returns the help for a flag, given without a dash. The error suggests a similar
// name.
func helpOnFlag(name string) (string, error) {
	if text := program.FlagHelp(name); text != "" {
		return text, nil
	}
	if near := spelling.Nearest(name, program.Names()); near != "" {
		return "", option.Usagef("there is no flag -%s: did you mean robotsbatch help -%s?", name, near)
	}
	return "", option.Usagef("there is no flag -%s: robotsbatch help options lists them", name)
}

// finder looks for words in all that help can print.
type finder struct {
	words []*regexp.Regexp
	hits  []hit
}

// hit is a page, a command or a flag that has all the words.
type hit struct {
	topic, text string
	best        place // of the places that have them
	places      int   // their number
}

// place is where words were found. A later constant counts more.
type place int

const (
	inText place = iota
	inHeading
	inTitle
	inName
)

// search returns at most ten lines of what has all the words, the best first; "" if nothing has.
func search(words []string) string {
	const most = 10
	f := finder{words: cli.Map(words, func(word string) *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:^|[^\pL\pN])` + regexp.QuoteMeta(strings.TrimLeft(word, "-")))
	})}
	for _, topic := range manual.Topics() {
		page, _ := manual.Page(topic) // it is there
		f.searchPage(topic, string(page))
	}
	for _, c := range program.All() {
		f.searchText(inName, c.Name, c.Name, c.About)
		f.searchText(inText, c.Name, c.About+" "+c.Details, "")
		for _, exit := range c.Exits {
			f.searchText(inText, c.Name, "Exit status "+exit.Status+": "+exit.Meaning, "")
		}
	}
	for _, flag := range program.Flags() {
		f.searchText(inName, "-"+flag.Name, flag.Name, flag.FullText())
		f.searchText(inText, "-"+flag.Name, flag.FullText(), "")
	}
	slices.SortStableFunc(f.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.best, a.best), cmp.Compare(b.places, a.places))
	})
	var b strings.Builder
	for _, h := range f.hits[:min(most, len(f.hits))] {
		fmt.Fprintln(&b, cli.Shorten(fmt.Sprintf("%-16s  %s", h.topic, h.text)))
	}
	return b.String()
}

// searchPage searches a page: its name, its title, its headings and the paragraphs below them.
func (f *finder) searchPage(topic, page string) {
	title, rest, _ := strings.Cut(strings.TrimPrefix(page, "# "), "\n")
	f.searchText(inName, topic, topic, title)
	f.searchText(inTitle, topic, title, title)
	for paragraph := range strings.SplitSeq(rest, "\n\n") {
		if heading, ok := strings.CutPrefix(strings.TrimSpace(paragraph), "## "); ok {
			f.searchText(inHeading, topic, heading, title+": "+heading)
		} else {
			f.searchText(inText, topic, paragraph, "")
		}
	}
}

// searchText adds the topic to the hits if text, which stands at the place where, has all the words. say is the
// line to show; empty for the sentence that has the first word. A topic is one hit, shown by
// its best place.
func (f *finder) searchText(where place, topic, text, say string) {
	if slices.ContainsFunc(f.words, func(r *regexp.Regexp) bool { return !r.MatchString(text) }) {
		return
	}
	if say == "" {
		say = f.excerpt(text)
	}
	i := slices.IndexFunc(f.hits, func(h hit) bool { return h.topic == topic })
	if i < 0 {
		i, f.hits = len(f.hits), append(f.hits, hit{topic: topic, text: say, best: where})
	}
	h := &f.hits[i]
	if h.places++; where > h.best {
		h.text, h.best = say, where
	}
}

// excerpt returns the sentence of a text that has the first word, or the line if the text is a
// table or preformatted. If the word stands far from the start, it cuts the start off.
func (f *finder) excerpt(text string) string {
	const far, around = 48, 24
	word := f.words[0] // a match may begin before the word, but it ends with it
	if strings.HasPrefix(text, "|") || strings.HasPrefix(text, "    ") {
		end := word.FindStringIndex(text)[1]
		line := text[strings.LastIndex(text[:end], "\n")+1:]
		line, _, _ = strings.Cut(line, "\n")
		text = strings.ReplaceAll(strings.Trim(line, "| "), " | ", ": ")
	}
	text = strings.Join(strings.Fields(text), " ")
	end := word.FindStringIndex(text)[1]
	sentence := strings.TrimPrefix(strings.TrimSpace(text[strings.LastIndex(text[:end], ". ")+1:]), "- ")
	if start := word.FindStringIndex(sentence)[0]; start > far {
		return "…" + sentence[start-around+strings.IndexByte(sentence[start-around:], ' '):]
	}
	return sentence
}
