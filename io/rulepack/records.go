package rulepack

import (
	"encoding/binary"
	"fmt"

	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// Records are the records of a body that are no rules (RFC 9309 §2.2.4).
type Records struct {
	// Sitemaps are the values of the sitemap records, in their order.
	Sitemaps []string
	// CrawlDelays are those of each group that has any.
	CrawlDelays []CrawlDelay
}

// CrawlDelay is the first crawl-delay record of a group.
type CrawlDelay struct {
	// Agents are the names that the group concerns, in lower case, with
	// matcher.Everyone for everyone.
	Agents []string
	// Value is as written.
	Value string
}

// recordsOf collects the records of a body.
func recordsOf(f *robotstxt.File) Records {
	var r Records
	for _, s := range f.Sitemaps {
		r.Sitemaps = append(r.Sitemaps, string(s.Value))
	}
	for i := range f.Groups {
		g := &f.Groups[i]
		if len(g.CrawlDelays) == 0 {
			continue
		}
		delay := CrawlDelay{Value: string(g.CrawlDelays[0].Value)}
		for _, a := range g.Agents {
			if a.Everyone() {
				delay.Agents = append(delay.Agents, matcher.Everyone)
				continue
			}
			token, word := a.Names(f.Profile)
			if len(token) > 0 {
				delay.Agents = append(delay.Agents, lower(token))
			}
			if len(word) > 0 && string(word) != string(token) {
				delay.Agents = append(delay.Agents, lower(word))
			}
		}
		r.CrawlDelays = append(r.CrawlDelays, delay)
	}
	return r
}

// lower is s with ASCII letters in lower case, as names are compared.
func lower(s []byte) string {
	folded := make([]byte, len(s))
	for i, c := range s {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		folded[i] = c
	}
	return string(folded)
}

// append writes records: numbers and lengths as varints, texts after their
// lengths. Where there are none it writes nothing.
func (r Records) append(b []byte) []byte {
	if len(r.Sitemaps) == 0 && len(r.CrawlDelays) == 0 {
		return b
	}
	b = appendTexts(b, r.Sitemaps)
	b = binary.AppendUvarint(b, uint64(len(r.CrawlDelays)))
	for _, d := range r.CrawlDelays {
		b = appendTexts(appendText(b, d.Value), d.Agents)
	}
	return b
}

func appendTexts(b []byte, texts []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(texts)))
	for _, s := range texts {
		b = appendText(b, s)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// readRecords reads what append wrote.
func readRecords(data []byte) (r Records, err error) {
	if len(data) == 0 {
		return r, nil
	}
	x := recordReader{data: data}
	r.Sitemaps = x.texts()
	for range x.number() {
		if x.broken {
			break
		}
		value := x.text()
		r.CrawlDelays = append(r.CrawlDelays, CrawlDelay{Value: value, Agents: x.texts()})
	}
	if x.broken || len(x.data) > 0 {
		return Records{}, fmt.Errorf("%w: records", ErrDamaged)
	}
	return r, nil
}

// recordReader reads numbers and texts until one is broken.
type recordReader struct {
	data   []byte
	broken bool
}

// number reads a number of things that each take an octet at least.
func (x *recordReader) number() uint64 {
	v, n := binary.Uvarint(x.data)
	if n <= 0 || v > uint64(len(x.data)-n) {
		x.broken, x.data = true, nil
		return 0
	}
	x.data = x.data[n:]
	return v
}

func (x *recordReader) text() string {
	n := x.number()
	s := string(x.data[:n])
	x.data = x.data[n:]
	return s
}

func (x *recordReader) texts() []string {
	var texts []string
	for range x.number() {
		if x.broken {
			break
		}
		texts = append(texts, x.text())
	}
	return texts
}
