package corpus_test

import (
	"strings"

	"robotsbatch/bench/corpus"
)

// stats are the figures that the tests check. Those that are not counts are shares.
type stats struct {
	urls, largest, bodies, rules                   float64
	single, https, ports, idn, files               float64 // of origins
	noRules, longFiles, agentGroups, otherGroups   float64 // of bodies
	wildcards, ruleEscapes, ruleQueries            float64 // of rules
	escapes, queries, invalid, denied, agentDenied float64 // of URLs
}

func measure(options corpus.Options) stats {
	c := corpus.New(options)
	var s stats
	files := make([]file, c.Bodies())
	for body := range files {
		files[body] = parse(c.AppendBody(nil, body))
		s.addFile(files[body])
	}
	for o := range c.Origins() {
		s.addOrigin(o)
	}
	for o, url := range c.URLs() {
		var f file
		if o.Body >= 0 {
			f = files[o.Body]
		}
		s.addURL(o, string(url), f)
	}
	divide(float64(c.Options().Origins), &s.single, &s.https, &s.ports, &s.idn, &s.files)
	divide(s.rules, &s.wildcards, &s.ruleEscapes, &s.ruleQueries)
	divide(s.bodies, &s.rules, &s.noRules, &s.longFiles, &s.agentGroups, &s.otherGroups)
	divide(s.urls, &s.escapes, &s.queries, &s.invalid, &s.denied, &s.agentDenied)
	return s
}

func divide(by float64, counts ...*float64) {
	for _, count := range counts {
		*count /= max(by, 1)
	}
}

func count(to *float64, when bool) {
	if when {
		*to++
	}
}

func (s *stats) addFile(f file) {
	s.bodies++
	count(&s.noRules, len(f.everyone) == 0)
	count(&s.longFiles, len(f.everyone) >= 1000)
	count(&s.agentGroups, f.forAgent)
	count(&s.otherGroups, f.forOthers)
	for _, r := range f.everyone {
		s.rules++
		count(&s.wildcards, strings.ContainsAny(r.pattern, "*$"))
		count(&s.ruleEscapes, isEscaped(r.pattern))
		count(&s.ruleQueries, strings.Contains(r.pattern, "?"))
	}
}

func (s *stats) addOrigin(o corpus.Origin) {
	s.largest = max(s.largest, float64(o.URLs))
	count(&s.single, o.URLs == 1)
	count(&s.https, o.Scheme == "https")
	count(&s.ports, o.Port != 0)
	count(&s.idn, o.Host != o.UnicodeHost)
	count(&s.files, o.Body >= 0)
}

func (s *stats) addURL(o *corpus.Origin, url string, f file) {
	s.urls++
	path, ok := pathOf(o, url)
	if !ok {
		s.invalid++
		return
	}
	count(&s.escapes, isEscaped(path))
	count(&s.queries, strings.Contains(path, "?"))
	everyone, agent := f.denies(f.everyone, path), f.denies(f.agent, path)
	count(&s.denied, everyone)
	if f.forAgent {
		everyone = agent
	}
	count(&s.agentDenied, everyone)
}

// pathOf returns path and query of a URL of the origin; ok is false for anything else.
func pathOf(o *corpus.Origin, url string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(url, o.Scheme+"://")
	for _, host := range []string{o.Host, o.UnicodeHost} {
		if tail, found := strings.CutPrefix(rest, host); ok && found && !strings.HasPrefix(tail, ":99999") {
			tail, _, _ = strings.Cut(tail, "#")
			tail = strings.TrimLeft(tail, ":0123456789")
			if !strings.HasPrefix(tail, "/") {
				tail = "/" + tail
			}
			return tail, true
		}
	}
	return "", false
}

func isEscaped(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r == '%' || r == '|' || r > 0x7E })
}
