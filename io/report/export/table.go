package export

import (
	"cmp"
	"iter"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/matcher"
)

// Table is a table that can be made of rule sources.
type Table struct {
	// Name is what the table is called on the command line.
	Name string
	// Schema is that of its records.
	Schema *arrow.Schema
	// Make, if not nil, adds all rows.
	Make func(l *ruleset.Listing, w *tableio.Writer) error
	// fill adds the rows of an authority.
	fill func(w *tableio.Writer, a *authority, b *body) error
	// bodies says that there are rows of bodies alone, and history that fill needs spans.
	bodies, history bool
}

// The tables of what decides; see Tables.
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
	// Signals has a row for each key of each line about the use of what is fetched, and each
	// agent of its group.
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

// Rows yields the records of a table, up to an error.
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
