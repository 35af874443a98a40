package robotstxt

import (
	"bytes"
	"slices"

	"robotsbatch/matcher/usage"
)

// maxGoogleLine is the number of bytes of a line Google's parser reads: 8 times the longest URL
// of an old browser, minus one.
const maxGoogleLine = 2083*8 - 1

// rulePitch is the number of bytes an ordinary robots.txt has for each of its rules, including
// comments.
const rulePitch = 36

// Parse parses a body (RFC 9309 §2.2). It never fails. The result aliases body; see [File].
// It takes time and memory linear in the body's length.
func Parse(body []byte, o Options) *File {
	return new(Parser).Parse(body, o)
}

// Parser parses bodies one after another and reuses its memory, as much as the largest body
// needed. It belongs to one goroutine. The zero value is ready for use.
//
// The agents of all groups are in one array, and so are their rules and their delays. These
// arrays move as they grow. So the groups, which are slices of them, are made at the end.
type Parser struct {
	file    File
	options Options

	agents []Agent
	rules  []Rule
	delays []Record
	groups []groupStart
	// expectedRules is an estimate of the number of rules in the body.
	expectedRules int
	// naming means that the newest group has no rule yet, so that a user-agent line joins
	// it.
	naming bool
}

// Parse does what the function Parse does. The result is valid until the next call.
func (p *Parser) Parse(body []byte, o Options) *File {
	old := &p.file
	*p = Parser{
		file: File{
			Profile: o.Profile,
			Groups:  old.Groups[:0], Sitemaps: old.Sitemaps[:0], Others: old.Others[:0],
		},
		options: o,
		agents:  p.agents[:0], rules: p.rules[:0], delays: p.delays[:0], groups: p.groups[:0],
	}
	text := p.file.readText(body, o)
	p.expectedRules = len(text)/rulePitch + 1
	p.parseLines(text)
	p.buildGroups()
	return &p.file
}

// groupStart is where the agents, rules and delays of a group start.
type groupStart struct{ agents, rules, delays int }

// parseLines parses each line of a text up to its comment or first NUL. Google's parser reads
// maxGoogleLine bytes of a line at most, comment included.
func (p *Parser) parseLines(text []byte) {
	l := newLines(text)
	for {
		start, end, ok := l.advance()
		if !ok {
			return
		}
		p.file.Lines++
		if start == end {
			continue
		}
		if p.options.Profile == Google && end-start > maxGoogleLine {
			end = start + maxGoogleLine
			p.warn(LineCut)
		}
		if l.nul < end { // else the next NUL is in a later line, and so for the next #
			end = l.nul
			p.warn(NULInLine)
		}
		if l.hash < end {
			end = l.hash
		}
		if line := trimRight(trimLeft(text[start:end:end])); len(line) > 0 {
			p.parseRecord(line)
		}
	}
}

// parseRecord parses a trimmed line without its comment, which is not empty. It adds its record, if
// it has one, and gives its warnings.
func (p *Parser) parseRecord(line []byte) {
	if field, length := usualKey(line); field != unknownField {
		p.addRecord(field, trimLeft(line[length+1:]), line)
		return
	}
	sep := bytes.IndexByte(line, ':')
	colon := sep >= 0
	if !colon {
		if sep = bytes.IndexAny(line, " \t"); sep < 0 {
			sep = len(line)
		}
	}
	key := trimRight(line[:sep])
	if len(key) == 0 {
		p.warn(EmptyKey)
		return
	}
	field, warning := lookUp(key, p.options.Profile == Google)
	if !colon {
		// A blank can take the place of the colon between a known key and one word.
		if field == unknownField || field.isStatement() || !isOneWord(line[sep:]) {
			p.warn(NotARecord)
			return
		}
		p.warn(MissingColon)
	}
	if warning != 0 {
		p.warn(warning)
	}
	value := trimLeft(line[sep+1:])
	if p.options.Others && (field == unknownField || field == otherField || field.isStatement()) {
		p.file.Others = append(p.file.Others, Other{Key: key, Record: Record{Value: value, Line: p.file.Lines}})
	}
	p.addRecord(field, value, line)
}

// isOneWord reports whether a text is one word, with SP and TAB before it.
func isOneWord(text []byte) bool {
	word := bytes.TrimLeft(text, " \t")
	return len(word) > 0 && !bytes.ContainsAny(word, " \t")
}

// addRecord adds a record to the newest group or to the file. line is the whole line, trimmed and
// without comment. Of an unknown key, or one whose value is not needed, it adds nothing.
func (p *Parser) addRecord(f field, value, line []byte) {
	switch f {
	case disallowField, allowField:
		p.addRule(f == allowField, value, line)
	case userAgentField:
		if !p.naming {
			p.groups = append(p.groups, groupStart{len(p.agents), len(p.rules), len(p.delays)})
			p.naming = true
		}
		p.agents = append(p.agents, Agent{Value: value, Line: p.file.Lines})
	case sitemapField:
		p.file.Sitemaps = append(p.file.Sitemaps, Record{Value: value, Line: p.file.Lines})
	case crawlDelayField:
		if len(p.groups) == 0 {
			p.warn(RuleBeforeGroup)
			return
		}
		p.delays = append(p.delays, Record{Value: value, Line: p.file.Lines})
	default:
		if f.isStatement() {
			p.addStatement(usage.Directive(f-statementField), value, line)
		}
	}
}

// addStatement adds a statement to the newest group. It does not end a list of user-agent
// lines: what may be fetched never depends on statements.
func (p *Parser) addStatement(d usage.Directive, value, line []byte) {
	s := Statement{Directive: d, Value: value, Text: line, Line: p.file.Lines, Group: len(p.groups) - 1}
	if d != usage.License {
		s.Path, s.Value = usage.SplitPath(value)
	}
	p.file.Statements = append(p.file.Statements, s)
}

// addRule adds a rule to the newest group, and ends its list of user-agent lines. Before the
// first group it adds a warning instead.
func (p *Parser) addRule(allow bool, pattern, line []byte) {
	if len(p.groups) == 0 {
		p.warn(RuleBeforeGroup)
		return
	}
	p.naming = false
	if p.rules == nil {
		p.rules = make([]Rule, 0, p.expectedRules)
	}
	if len(pattern) > 0 && pattern[0] != '/' && pattern[0] != '*' {
		p.warn(PatternWithoutSlash)
	}
	p.rules = append(p.rules, Rule{Allow: allow, Pattern: pattern, Text: line, Line: p.file.Lines})
}

// buildGroups sets p.file.Groups: the agents, rules and delays of each group are its part of the
// arrays. The capacity is cut, so that appending cannot overwrite the next group's part.
func (p *Parser) buildGroups() {
	if len(p.groups) == 0 {
		return
	}
	p.file.Groups = slices.Grow(p.file.Groups, len(p.groups))[:len(p.groups)]
	end := groupStart{len(p.agents), len(p.rules), len(p.delays)}
	for i := len(p.groups) - 1; i >= 0; i-- {
		start := p.groups[i]
		p.file.Groups[i] = Group{
			Agents:      p.agents[start.agents:end.agents:end.agents],
			Rules:       p.rules[start.rules:end.rules:end.rules],
			CrawlDelays: p.delays[start.delays:end.delays:end.delays],
		}
		end = start
	}
}

// warn adds a warning about the current line.
func (p *Parser) warn(kind WarningKind) { p.options.warn(kind, p.file.Lines) }
