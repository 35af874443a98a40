package stats

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"robotsbatch/io/report/export"
)

// rankName returns a rank for text and csv, such as "top 100".
func rankName(rank int) string {
	switch rank {
	case All:
		return "all"
	case Panel:
		return "panel"
	}
	return fmt.Sprintf("top %d", rank)
}

// share returns part / base; nil if base is 0.
func share(part, base int64) any {
	if base == 0 {
		return nil
	}
	return float64(part) / float64(base)
}

// percent returns a share in percent as text; a dash if base is 0.
func percent(part, base int64) string {
	if base == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f%%", 100*float64(part)/float64(base))
}

// column is a column of csv, and a key in JSON.
type column struct {
	name string
	// of returns the value of a count: a text, a number of sites, or a share of the base, which is nil
	// if the base is empty.
	of func(c *Count) any
}

// columns returns the columns of csv and keys of JSON, in order. Only a history has a month. Only
// counts by rank have the number of the list's sites.
func (t *Table) columns() []column {
	var columns []column
	if t.IsHistory() {
		columns = append(columns, column{"month", func(c *Count) any { return c.Month }})
	}
	columns = append(columns, column{"rank", func(c *Count) any { return rankName(c.Rank) }})
	if slices.ContainsFunc(t.Counts, func(c Count) bool { return c.Rank > 0 }) {
		columns = append(columns, column{"listed", func(c *Count) any { return c.Listed }})
	}
	columns = append(columns, column{"agent", func(c *Count) any { return c.Agent }})
	if t.Uses {
		columns = append(columns, column{"use", func(c *Count) any { return c.Use.String() }})
	}
	for _, f := range classFigures {
		columns = append(columns, column{f.Name, func(c *Count) any { return f.Of(c) }})
	}
	columns = append(columns, column{"of", func(*Count) any { return t.Base.String() }}, column{"base", func(c *Count) any { return c.Base }})
	for _, f := range t.figures() {
		columns = append(columns, column{f.Name, func(c *Count) any { return f.Of(c) }})
		if f.Share {
			columns = append(columns, column{f.Name + "_share", func(c *Count) any { return share(f.Of(c), c.Base) }})
		}
	}
	return columns
}

// WriteJSON writes an array with an object for each count.
func (t *Table) WriteJSON(w io.Writer) error {
	columns, rows := t.columns(), make([]json.RawMessage, len(t.Counts))
	for i := range t.Counts {
		object := []byte{'{'} // keys in the order of the columns
		for j, column := range columns {
			if j > 0 {
				object = append(object, ',')
			}
			text, _ := json.Marshal(column.of(&t.Counts[i]))
			object = append(append(strconv.AppendQuote(object, column.name), ':'), text...)
		}
		rows[i] = append(object, '}')
	}
	e := json.NewEncoder(w) // it indents raw messages as well
	e.SetIndent("", "  ")
	return e.Encode(rows)
}

// WriteCSV writes a header and a line for each count.
func (t *Table) WriteCSV(w io.Writer) error {
	columns, lines := t.columns(), make([][]string, 1+len(t.Counts))
	for _, column := range columns {
		lines[0] = append(lines[0], column.name)
		for i := range t.Counts {
			text := ""
			if value := column.of(&t.Counts[i]); value != nil {
				text = fmt.Sprint(value)
			}
			lines[i+1] = append(lines[i+1], text)
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// WriteText writes a table for each rank. For a history, these have a line for each month with the
// shares of Headline.
func (t *Table) WriteText(w io.Writer) error {
	var b strings.Builder
	if t.IsHistory() {
		t.writeMonths(&b)
	} else {
		for counts := range t.ByRank() {
			t.writeRank(&b, counts)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func plain(n int64) string { return strconv.FormatInt(n, 10) }

// writeTitle writes which sites a table of text counts, and how many they are. c is one of the table's
// counts, of the last month in a history.
func (t *Table) writeTitle(b *strings.Builder, c *Count) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "%s %s", rankName(c.Rank), t.Site)
	if c.Rank == Panel {
		b.WriteString(" with a capture in each month")
	}
	fmt.Fprintf(b, ": %s\n", cmp.Or(c.Known(plain), plain(c.Sites())))
}

// writeRank writes the table of a rank, with a line for each of its counts and a column for each figure that
// is shown.
func (t *Table) writeRank(b *strings.Builder, counts []Count) {
	agentWidth, useWidth := len("agent"), len("use")
	for i := range counts {
		agentWidth, useWidth = max(agentWidth, len(counts[i].Agent)), max(useWidth, len(counts[i].Use.String()))
	}
	t.writeTitle(b, &counts[0])
	fmt.Fprintf(b, "%s; shares of those %s\n", counts[0].Reach(plain), t.Base.Sites())
	shown := t.Shown(counts)
	fmt.Fprintf(b, "%-*s", agentWidth, "agent")
	if t.Uses {
		fmt.Fprintf(b, "  %-*s", useWidth, "use")
	}
	fmt.Fprintf(b, "  %9s", t.Base) // as wide as the numbers below
	for _, f := range shown {
		fmt.Fprintf(b, "  %*s", f.width(), cmp.Or(f.Label, f.Name))
	}
	b.WriteByte('\n')
	for i := range counts {
		c := &counts[i]
		fmt.Fprintf(b, "%-*s", agentWidth, c.Agent)
		if t.Uses {
			fmt.Fprintf(b, "  %-*s", useWidth, c.Use)
		}
		fmt.Fprintf(b, "  %9d", c.Base)
		for _, f := range shown {
			text := plain(f.Of(c))
			if f.Share {
				text += fmt.Sprintf(" %8s", percent(f.Of(c), c.Base))
			}
			fmt.Fprintf(b, "  %*s", f.width(), text)
		}
		b.WriteByte('\n')
	}
}

// width returns the number of characters of a figure's column in text.
func (f *Figure) width() int {
	if f.Share {
		return 17
	}
	return max(8, len(cmp.Or(f.Label, f.Name)))
}

// mostInText is the most lines of a history that have a column in text.
const mostInText = 6

// writeMonths writes the tables of a history: one for each rank, with a line for each month and a column for
// each of the first lines of the history, which are agents or uses.
func (t *Table) writeMonths(b *strings.Builder) {
	what := "denies all"
	if t.Uses {
		what = "disallows"
	}
	for _, h := range t.Histories() {
		shown := h.Lines[:min(len(h.Lines), mostInText)]
		t.writeTitle(b, &shown[0].Counts[len(h.Months)-1])
		fmt.Fprintf(b, "share of those %s that %s; captures from %s to %s\n", t.Base.Sites(), what, t.First.Format(time.DateOnly), t.Last.Format(time.DateOnly))
		fmt.Fprintf(b, "%-7s  %9s  %9s  %11s  %8s", "month", "sites", t.Base, export.Unreachable, export.OldCopy)
		for _, line := range shown {
			fmt.Fprintf(b, "  %*s", max(8, len(line.Name)), line.Name)
		}
		b.WriteByte('\n')
		for month, name := range h.Months {
			first := &shown[0].Counts[month] // all lines have the same sites, base and classes
			fmt.Fprintf(b, "%-7s  %9d  %9d  %11d  %8d", name, first.Sites(), first.Base, first.Classes[export.Unreachable], first.Classes[export.OldCopy])
			for _, line := range shown {
				c := &line.Counts[month]
				fmt.Fprintf(b, "  %*s", max(8, len(line.Name)), percent(c.Headline(), c.Base))
			}
			b.WriteByte('\n')
		}
		if more := len(h.Lines) - len(shown); more > 0 {
			fmt.Fprintf(b, "and %d columns more: csv has all\n", more)
		}
	}
}
