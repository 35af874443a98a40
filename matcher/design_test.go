package matcher

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/internal/kernels"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
)

var update = flag.Bool("update", false, "rewrite the golden text in testdata")

// designBody and designPaths are the example of DESIGN.md.
const designBody = `User-agent: *
Disallow: /search
Disallow: /shop/
Allow: /shop/help$
Allow: /shop/*/sizes
Disallow: /*.pdf$
Disallow: /*sort=*page=
`

var designPaths = []struct{ path, rule string }{
	{"/shop/shoes/sizes?sort=up", "Allow: /shop/*/sizes"},
	{"/shop/shoes/red", "Disallow: /shop/"},
	{"/about.pdf", "Disallow: /*.pdf$"},
}

// TestDesign checks the example of DESIGN.md: its verdicts, and its compiled bytes, which
// testdata/design.txt shows. The flag -update writes that file.
func TestDesign(t *testing.T) {
	trie := Compile(robotstxt.Parse([]byte(designBody), robotstxt.Options{}), []Chain{{Everyone}})[0]
	oracle := reference.Parse([]byte(designBody), reference.RFC9309, 0)
	var b strings.Builder
	b.WriteString(designBody + "\n")
	var p Target
	for _, c := range designPaths {
		p.Set([]byte(c.path), robotstxt.RFC9309)
		d := trie.Match(&p)
		want := reference.Decide(oracle, []string{Everyone}, c.path, reference.RFC9309)
		got := string(trie.Rule(d.Rule).Text)
		must.Be(t, got == c.rule && want.Rule == c.rule, "%s: engine decides by %q, reference by %q, DESIGN.md says %q", c.path, got, want.Rule, c.rule)
		fmt.Fprintf(&b, "%-26s allowed %-5v by %s\n", c.path, d.Allowed, c.rule)
	}
	b.WriteString("\n")
	dumpTrie(&b, &trie)
	const golden = "testdata/design.txt"
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(b.String()), 0o666))
	}
	want := must.Get(os.ReadFile(golden))(t)
	must.Equal(t, b.String(), string(want), golden, "is out of date: go test -run TestDesign -update rewrites it. The example compiles to")
	design := must.Get(os.ReadFile("DESIGN.md"))(t)
	for _, part := range append(strings.Split(strings.TrimSpace(designBody), "\n"), designPaths[0].path, designPaths[1].path, designPaths[2].path) {
		must.Be(t, strings.Contains(string(design), part), "DESIGN.md lacks %q of the example", part)
	}
}

// dumper writes compiled bytes together with their meaning.
type dumper struct {
	*strings.Builder
	data []byte
	at   int
}

// take writes the next n bytes and their meaning.
func (d *dumper) take(n int, format string, values ...any) {
	meaning := fmt.Sprintf(format, values...)
	for first := true; first || n > 0; first = false {
		some := min(n, 16)
		fmt.Fprintf(d, "%5d  %-48s%s", d.at, strings.TrimRight(fmt.Sprintf("% x", d.data[d.at:d.at+some]), " "), meaning)
		s := strings.TrimRight(d.String(), " ")
		d.Reset()
		d.WriteString(s + "\n")
		meaning = ""
		d.at += some
		n -= some
	}
}

// section starts a section.
func (d *dumper) section(name string) { fmt.Fprintf(d, "%s\n", name) }

// dumpRule formats a rule for people.
func dumpRule(trie *Trie, rule uint32) string {
	if rule == 0 {
		return "none"
	}
	return fmt.Sprintf("%d (%s)", rule, trie.Rule(rule).Text)
}

func dumpTrie(b *strings.Builder, trie *Trie) {
	c := &trie.rules
	d := &dumper{b, c.data, 0}
	word := func(i int) uint32 { return le32(c.data[d.at+i:]) }
	d.section("header")
	d.take(4, "nodes: %d; for a group: %v", word(0)&countMask, word(0)&flagGroup != 0)
	for _, name := range []string{"leaves", "ends", "suffix lists", "signatures, and suffixes", "literals", "bytes of text", "bytes of index"} {
		d.take(4, "%s: %d", name, word(0))
	}
	d.section("nodes")
	for i := 0; d.at < int(c.leaves); i++ {
		label := le64(c.data[d.at:])
		text := string(c.data[d.at : d.at+int(label>>56)])
		d.take(8, "node %d: label %q", i, text)
		children := branches(le64(c.data[d.at:]), le64(c.data[d.at+8:]))
		d.take(16, "children for %q", children)
		first, kind := word(0), "node"
		if first&leafBit != 0 {
			kind = "leaf"
		}
		if children == "" {
			d.take(4, "no children")
		} else {
			d.take(4, "the first one is %s %d", kind, first&^leafBit)
		}
		d.take(4, "end %d", word(0))
	}
	d.section("leaves")
	for i := 0; d.at < int(c.ends); i++ {
		label := c.data[c.text+word(0):][:word(4)]
		d.take(8, "leaf %d: label %q, at %d of text", i, label, word(0))
		if rule := word(0); rule&endBit != 0 {
			d.take(8, "end %d", rule&^endBit)
		} else {
			d.take(8, "rule %s; suffix list %d", dumpRule(trie, rule), word(4))
		}
	}
	d.section("ends")
	for i := 0; d.at < int(c.lists); i++ {
		d.take(12, "end %d: prefix rule %s; exact rule %s; list %d", i, dumpRule(trie, word(0)), dumpRule(trie, word(4)), word(8))
	}
	dumpSuffixes(d, trie)
}

// branches formats the set of bytes that lead to a node's children.
func branches(low, high uint64) string {
	var text []byte
	for c := range byte(128) {
		if hasChild(low, high, c) {
			text = append(text, c)
		}
	}
	return string(text)
}

func dumpSuffixes(d *dumper, trie *Trie) {
	c := &trie.rules
	word := func(i int) uint32 { return le32(c.data[d.at+i:]) }
	d.section("suffix lists")
	for i := 0; d.at < int(c.signatures); i++ {
		d.take(16, "list %d: behind %d bytes; suffixes [%d,%d) allow, [%d,%d) disallow", i, word(0), word(4), word(8), word(8), word(12))
		d.take(8, "best allow rule %s, best disallow rule %s", dumpRule(trie, word(0)), dumpRule(trie, word(4)))
		d.take(4, "list above: %d", word(0))
	}
	d.section("signatures")
	for i := 0; d.at < int(c.suffixes); i++ {
		d.take(kernels.SignatureSize, "suffix %d", i)
	}
	d.section("suffixes")
	for i := 0; d.at < int(c.literals); i++ {
		var literals []string
		for n := range c.literalCount(i) {
			literal, _ := c.literalOf(i, n)
			literals = append(literals, fmt.Sprintf("%q", literal))
		}
		anchored := ""
		if c.isAnchored(i) {
			anchored = " at the end"
		}
		d.take(20, "suffix %d: rule %s: %s%s; list %d", i, dumpRule(trie, word(0)), strings.Join(literals, " then "), anchored, word(16))
	}
	d.section("literals")
	for d.at < int(c.text) {
		d.take(literalSize, "%q", c.data[c.text+word(0):][:word(4)])
	}
	d.section("text")
	for d.at < int(c.index) {
		n := min(16, int(c.index)-d.at)
		d.take(n, "%q", c.data[d.at:d.at+n])
	}
}
