package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/manual"
)

// finder looks for words in all that help can print.
type finder struct {
	words []*regexp.Regexp
	hits  []hit
}

// hit is a page, a command or a flag that has all the words.
type hit struct {
	topic, text string
	place       place // the best of the places that have them
	places      int
}

// place is where words were found: a name counts more than a heading, and that more than a text.
type place int

const (
	inText place = iota
	inHeading
	inTitle
	inName
)

// search prints at most ten lines of what has all the words, the best first. It returns false
// if nothing has.
func search(words []string, w io.Writer) bool {
	const most = 10
	var f finder
	for _, word := range words {
		f.words = append(f.words, regexp.MustCompile(`(?i)(?:^|[^\pL\pN])`+regexp.QuoteMeta(strings.TrimLeft(word, "-"))))
	}
	for _, topic := range manual.Topics() {
		page, _ := manual.Page(topic) // it is there
		f.lookInPage(topic, string(page))
	}
	for _, c := range program.All() {
		f.look(inName, c.Name, c.Name, c.About)
		f.look(inText, c.Name, c.About+" "+c.Details, "")
		for _, exit := range c.Exits {
			f.look(inText, c.Name, "Exit status "+exit.Status+": "+exit.Meaning, "")
		}
	}
	for name, text := range program.FlagTexts() {
		f.look(inName, "-"+name, name, text)
		f.look(inText, "-"+name, text, "")
	}
	slices.SortStableFunc(f.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.place, a.place), cmp.Compare(b.places, a.places))
	})
	for _, h := range f.hits[:min(most, len(f.hits))] {
		fmt.Fprintln(w, cli.Shorten(fmt.Sprintf("%-16s  %s", h.topic, h.text)))
	}
	return len(f.hits) > 0
}

// lookInPage looks into a page's name, its headings and the paragraphs below them.
func (f *finder) lookInPage(topic, page string) {
	title, rest, _ := strings.Cut(strings.TrimPrefix(page, "# "), "\n")
	f.look(inName, topic, topic, title)
	f.look(inTitle, topic, title, title)
	for paragraph := range strings.SplitSeq(rest, "\n\n") {
		if heading, ok := strings.CutPrefix(strings.TrimSpace(paragraph), "## "); ok {
			f.look(inHeading, topic, heading, title+": "+heading)
		} else {
			f.look(inText, topic, paragraph, "")
		}
	}
}

// look notes that a text has the words, if it has. What is said of it is its part with the first
// word, unless say is given.
func (f *finder) look(where place, topic, text, say string) {
	if slices.ContainsFunc(f.words, func(r *regexp.Regexp) bool { return !r.MatchString(text) }) {
		return
	}
	if say == "" {
		say = f.excerpt(text)
	}
	h := hit{topic, say, where, 1}
	if i := slices.IndexFunc(f.hits, func(h hit) bool { return h.topic == topic }); i >= 0 {
		h.places += f.hits[i].places
		if f.hits[i].place >= where {
			h.text, h.place = f.hits[i].text, f.hits[i].place
		}
		f.hits[i] = h
		return
	}
	f.hits = append(f.hits, h)
}

// excerpt returns the sentence of a text, or the line of a table, that has the first word, or
// what is around the word if it is far from the beginning of that.
func (f *finder) excerpt(text string) string {
	const far, around = 48, 24
	if strings.HasPrefix(text, "|") || strings.HasPrefix(text, "    ") {
		at := f.words[0].FindStringIndex(text)
		text = text[strings.LastIndex(text[:at[1]], "\n")+1:]
		text, _, _ = strings.Cut(text, "\n")
		text = strings.ReplaceAll(strings.Trim(text, "| "), " | ", ": ")
	}
	text = strings.Join(strings.Fields(text), " ")
	at := f.words[0].FindStringIndex(text)[1]
	text = strings.TrimPrefix(strings.TrimSpace(text[strings.LastIndex(text[:at], ". ")+1:]), "- ")
	if at = f.words[0].FindStringIndex(text)[0]; at > far {
		text = "…" + text[at-around+strings.IndexByte(text[at-around:], ' '):]
	}
	return text
}
