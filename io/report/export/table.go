package export

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
	"robotsbatch/matcher/usage"
)

// Table is a table that can be made of rule sources.
type Table struct {
	// Name is what the table is called on the command line.
	Name string
	// Schema is that of its records.
	Schema *arrow.Schema
	// Make, if not nil, adds all rows.
	Make func(l *ruleset.Listing, w *tableio.Writer) error
	// fill adds the rows of an authority; b is nil unless bodies is set.
	fill func(w *tableio.Writer, a *authority, b *body) error
	// bodies says that fill needs a body, and authorities without one have no rows. history says that
	// fill needs the authority's spans.
	bodies, history bool
}

// String returns the table's name.
func (t *Table) String() string { return t.Name }

// The tables about the robots.txt that decides, or what decides in its place; see Tables.
var (
	// accessTable has a row for each authority.
	accessTable = &Table{Name: "access", Schema: schema(
		text("class"), text("access"), optional("status", arrow.PrimitiveTypes.Int32), optional("fetched_at", arrow.FixedWidthTypes.Timestamp_ms),
		flag("stale"), flag("cut"), optionalText("body_kind"), optionalText("body_digest"),
	), fill: fillAccess}
	// Agents has a row for each user-agent line.
	Agents = &Table{Name: "agents", Schema: schema(
		number("group"), text("agent"), optionalText("token"), optional("line", arrow.PrimitiveTypes.Int32), text("body_digest"),
	), fill: fillAgents, bodies: true}
	// Rules has a row for each allow and each disallow line.
	Rules = &Table{Name: "rules", Schema: schema(
		number("group"), text("kind"), text("value"), text("normalised"), number("line"), text("body_digest"),
	), fill: fillRules, bodies: true}
	// Sitemaps has a row for each sitemap line.
	Sitemaps = &Table{Name: "sitemaps", Schema: schema(
		text("value"), optional("line", arrow.PrimitiveTypes.Int32), text("body_digest"),
	), fill: fillSitemaps, bodies: true}
	// Records has a row for each other line that is a record.
	Records = &Table{Name: "records", Schema: schema(
		optional("group", arrow.PrimitiveTypes.Int32), text("kind"), text("value"), optional("line", arrow.PrimitiveTypes.Int32), text("body_digest"),
	), fill: fillRecords, bodies: true}
	// Signals has a row for each key in a line about use (Content-Usage and the like) and each agent
	// of the line's group.
	Signals = &Table{Name: "signals", Schema: schema(
		optionalText("agent"), text("directive"), optionalText("path"), optionalText("normalised"), optionalText("key"), optionalText("value"),
		text("statement"), number("line"), text("body_digest"),
	), fill: fillSignals, bodies: true}
)

// Tables are all tables but Captures.
var Tables = []*Table{Rules, Agents, Sitemaps, Records, accessTable, Signals}

// schema returns the columns that all tables of authorities have, and others.
func schema(others ...arrow.Field) *arrow.Schema {
	return arrow.NewSchema(append([]arrow.Field{text("authority"), optionalText("registered_domain"), text("surt_host_name")}, others...), nil)
}

func text(name string) arrow.Field { return arrow.Field{Name: name, Type: arrow.BinaryTypes.String} }

func number(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int32}
}

func flag(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.FixedWidthTypes.Boolean}
}

func optionalText(name string) arrow.Field { return optional(name, arrow.BinaryTypes.String) }

func optional(name string, t arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true}
}

// Options say how tables are made.
type Options struct {
	// Profile is the one that the sources were listed under.
	Profile matcher.Profile
	// Rows is the most rows of a record.
	Rows int
}

// Rows yields the records of a table made from a listing, until an error.
func Rows(l *ruleset.Listing, t *Table, o Options) iter.Seq2[arrow.Record, error] {
	return tableio.WrittenRecords(t.Schema, o.Rows, func(w *tableio.Writer) error {
		if t.Make != nil {
			return t.Make(l, w)
		}
		reader := bodyReader{profile: o.Profile}
		var spans []matcher.Span
		return l.Each(func(listed *ruleset.Listed) error {
			a, b, err := reader.read(listed, t.bodies)
			if err == nil && t.history {
				a.listing = l
				spans, err = l.AppendSpans(spans[:0], listed)
				a.spans = spans
			}
			if err == nil && (b != nil || !t.bodies) {
				err = t.fill(w, &a, b)
			}
			return cmp.Or(err, w.Err())
		})
	})
}

// Kinds of rows.
const (
	allow      = "allow"
	disallow   = "disallow"
	crawlDelay = "crawl-delay"
)

// outcomes are the values of the column access. An outage is unreachable, however long it lasts.
var outcomes = map[access.Outcome]string{
	access.Rules: "rules", access.AllowAll: "unavailable", access.NoFile: "unavailable", access.Refused: "unavailable",
	access.DisallowAll: "unreachable", access.AllowAfterOutage: "unreachable", access.Cut: "history_cut",
}

// begin writes the first columns of a row, which are the same in all tables and rows of an authority.
func (a *authority) begin(w *tableio.Writer) { w.Put(a.Key, a.registered, a.SURT) }

// writeRow writes a whole row: the columns of begin, and values.
func (a *authority) writeRow(w *tableio.Writer, values ...any) {
	a.begin(w)
	w.Put(values...)
	w.End()
}

// class returns the class of an authority.
func (a *authority) class() Class { return classOf(a.Access, a.Stale, a.kind) }

func fillAccess(w *tableio.Writer, a *authority, _ *body) error {
	a.writeRow(w, a.class().String(), outcomes[a.Access], a.Status, a.Fetched, a.Stale, a.Limited, a.kind.String(), a.digest)
	return nil
}

// fillAgents writes a row for each user-agent line.
func fillAgents(w *tableio.Writer, a *authority, b *body) error {
	for i, g := range b.Groups {
		for _, agent := range g.Agents {
			a.writeRow(w, i+1, agent.Value, tokenOf(agent, b.Profile), agent.Line, a.digest)
		}
	}
	return nil
}

// tokenOf returns the crawler's name in a user-agent line, in lower case: "*" for everyone,
// empty for a line that names nobody.
func tokenOf(agent robotstxt.Agent, p matcher.Profile) []byte {
	if agent.Everyone() {
		return []byte(matcher.Everyone)
	}
	return urls.AppendLower(nil, agent.Crawler(p))
}

// fillRules writes a row for each allow and disallow line.
func fillRules(w *tableio.Writer, a *authority, b *body) error {
	for i, g := range b.Groups {
		for _, rule := range g.Rules {
			kind := disallow
			if rule.Allow {
				kind = allow
			}
			a.writeRow(w, i+1, kind, rule.Pattern, matcher.NormalPattern(rule.Pattern, b.Profile), rule.Line, a.digest)
		}
	}
	return nil
}

func fillSitemaps(w *tableio.Writer, a *authority, b *body) error {
	for _, sitemap := range b.Sitemaps {
		a.writeRow(w, sitemap.Value, sitemap.Line, a.digest)
	}
	return nil
}

// fillRecords writes a row for each crawl-delay, with its group, and each record of another
// kind, in the order of lines.
func fillRecords(w *tableio.Writer, a *authority, b *body) error {
	type record struct {
		robotstxt.Other
		group int
	}
	var records []record
	for _, other := range b.Others {
		records = append(records, record{other, 0})
	}
	for i, g := range b.Groups {
		for _, delay := range g.CrawlDelays {
			records = append(records, record{robotstxt.Other{Key: []byte(crawlDelay), Record: delay}, i + 1})
		}
	}
	slices.SortStableFunc(records, func(x, y record) int { return x.Line - y.Line })
	for _, r := range records {
		a.writeRow(w, r.group, urls.AppendLower(nil, r.Key), r.Value, r.Line, a.digest)
	}
	return nil
}

// fillSignals writes the rows of lines about use: by directive, first those of the lines before the
// first group, which have no agent, and then those of each group, for each of its agents.
func fillSignals(w *tableio.Writer, a *authority, b *body) error {
	for d := range usage.Directives {
		for _, s := range b.statements.Statements {
			if s.Directive == d && s.Group < 0 {
				fillStatement(w, a, nil, b.Profile, &s)
			}
		}
		for _, g := range b.statements.StatementGroups(d) {
			for i := range g.Statements {
				for _, agent := range g.Agents {
					fillStatement(w, a, tokenOf(agent, b.Profile), b.Profile, &g.Statements[i])
				}
			}
		}
	}
	return nil
}

// fillStatement writes the rows of a line about use for an agent, or without one if that is nil: a row
// for each key. A licence, or a line that cannot be parsed, has one row without a key.
func fillStatement(w *tableio.Writer, a *authority, agent []byte, profile matcher.Profile, s *robotstxt.Statement) {
	normalised := ""
	if s.Path != nil {
		normalised = matcher.NormalPattern(s.Path, profile)
	}
	row := func(key, value []byte) {
		a.writeRow(w, agent, strings.ToLower(s.Directive.String()), s.Path, normalised, key, value, s.Value, s.Line, a.digest)
	}
	if s.Directive == usage.License {
		var license []byte // nil if the value is no licence
		if usage.IsLicense(s.Value) {
			license = s.Value
		}
		row(nil, license)
		return
	}
	pairs, _ := usage.AppendStatement(nil, s.Directive, s.Value) // none of a value that cannot be parsed
	last := make(map[string]int, len(pairs))                     // the last of a repeated key counts
	for i, p := range pairs {
		last[string(p.Key)] = i
	}
	for i, p := range pairs {
		if last[string(p.Key)] == i {
			row(p.Key, []byte(p.Value.String()))
		}
	}
	if len(pairs) == 0 {
		row(nil, nil)
	}
}
