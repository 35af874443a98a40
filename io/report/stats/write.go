package stats

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"robotsbatch/matcher/usage"
)

func rankName(rank int) string {
	if rank == All {
		return "all"
	}
	return fmt.Sprintf("top %d", rank)
}

func share(part, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// column is a column of csv, and a key in JSON.
type column struct {
	name string
	// of returns a text, a number of sites or a share of those that were reached.
	of func(c *Count) any
}

// columns are in their order; only those of a history begin with the month.
func (t *Table) columns() []column {
	var columns []column
	if t.IsHistory() {
		columns = append(columns, column{"month", func(c *Count) any { return c.Month }})
	}
	columns = append(columns, column{"rank", func(c *Count) any { return rankName(c.Rank) }}, column{"agent", func(c *Count) any { return c.Agent }})
	figures, behind := deniedFigures, byWhomFigures
	if t.Uses {
		columns = append(columns, column{"use", func(c *Count) any { return c.Use.String() }})
		figures, behind = useFigures, nil
	}
	for _, f := range figures {
		columns = append(columns, column{f.name, func(c *Count) any { return f.of(c) }})
	}
	for _, f := range figures {
		if f.share {
			columns = append(columns, column{f.name + "_share", func(c *Count) any { return share(f.of(c), c.Reached()) }})
		}
	}
	for _, f := range behind {
		columns = append(columns, column{f.name, func(c *Count) any { return f.of(c) }})
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
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(rows)
}

// WriteCSV writes a header and a line for each count.
func (t *Table) WriteCSV(w io.Writer) error {
	columns, lines := t.columns(), make([][]string, 1+len(t.Counts))
	for _, column := range columns {
		lines[0] = append(lines[0], column.name)
		for i := range t.Counts {
			lines[i+1] = append(lines[i+1], fmt.Sprint(column.of(&t.Counts[i])))
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// WriteText writes a table for each rank; of a history one of months, with the share of
// Headline.
func (t *Table) WriteText(w io.Writer) error {
	var b strings.Builder
	switch {
	case t.IsHistory():
		t.writeMonths(&b)
	case t.Uses:
		t.writeUses(&b)
	default:
		t.writeDenied(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeTitle writes what a table counts, behind an empty line if there is one before.
func (t *Table) writeTitle(b *strings.Builder, rank int) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "%s %s", rankName(rank), t.Site)
}

func (t *Table) writeDenied(b *strings.Builder) {
	width := len("agent")
	for i := range t.Counts {
		width = max(width, len(t.Counts[i].Agent))
	}
	for counts := range t.ByRank() {
		t.writeTitle(b, counts[0].Rank)
		fmt.Fprintf(b, "\n%-*s  %9s  %22s  %22s  %9s  %9s  %11s\n", width, "", "", "all denied", "some denied", "", "", "")
		fmt.Fprintf(b, "%-*s  %9s  %8s %13s  %8s %13s  %9s  %9s  %11s\n", width, "agent", "sites", "share", "by name   by *", "share", "by name   by *", "none", "undecided", "unreachable")
		for i := range counts {
			c := &counts[i]
			fmt.Fprintf(b, "%-*s  %9d  %7.2f%% %6d %7d  %7.2f%% %6d %7d  %9d  %9d  %11d\n", width, c.Agent, c.Sites,
				100*share(c.Full, c.Reached()), c.FullNamed, c.FullEveryone, 100*share(c.Partial, c.Reached()), c.PartialNamed, c.PartialEveryone, c.None, c.Undecided, c.Unreachable)
		}
	}
}

func (t *Table) writeUses(b *strings.Builder) {
	agent, use := len("agent"), len("use")
	for i := range t.Counts {
		agent, use = max(agent, len(t.Counts[i].Agent)), max(use, len(t.Counts[i].Use.String()))
	}
	shown := slices.DeleteFunc(slices.Clone(useFigures), func(f figure) bool {
		return usage.IsGrade(f.name) && !slices.ContainsFunc(t.Counts, func(c Count) bool { return f.of(&c) > 0 })
	})
	for counts := range t.ByRank() {
		t.writeTitle(b, counts[0].Rank)
		fmt.Fprintf(b, "\n%-*s  %-*s", agent, "agent", use, "use")
		for _, f := range shown {
			fmt.Fprintf(b, "  %*s", f.width(), f.name)
		}
		b.WriteByte('\n')
		for i := range counts {
			c := &counts[i]
			fmt.Fprintf(b, "%-*s  %-*s", agent, c.Agent, use, c.Use)
			for _, f := range shown {
				text := strconv.FormatInt(f.of(c), 10)
				if f.share {
					text += fmt.Sprintf(" %7.2f%%", 100*share(f.of(c), c.Reached()))
				}
				fmt.Fprintf(b, "  %*s", f.width(), text)
			}
			b.WriteByte('\n')
		}
	}
}

// width is how wide the column of a figure is in text.
func (f *figure) width() int {
	if f.share {
		return 17
	}
	return max(9, len(f.name))
}

// mostInText is how many lines of a history have a column in a text of months.
const mostInText = 6

// writeMonths writes a line for each month.
func (t *Table) writeMonths(b *strings.Builder) {
	what := "denies all"
	if t.Uses {
		what = "disallows"
	}
	for _, h := range t.Histories() {
		shown := h.Lines[:min(len(h.Lines), mostInText)]
		t.writeTitle(b, h.Rank)
		fmt.Fprintf(b, ": share that %s\n%-7s  %9s  %11s", what, "month", "sites", "unreachable")
		for _, line := range shown {
			fmt.Fprintf(b, "  %*s", max(8, len(line.Name)), line.Name)
		}
		b.WriteByte('\n')
		for month, name := range h.Months {
			fmt.Fprintf(b, "%-7s  %9d  %11d", name, shown[0].Counts[month].Sites, shown[0].Counts[month].Unreachable)
			for _, line := range shown {
				c := &line.Counts[month]
				fmt.Fprintf(b, "  %*s", max(8, len(line.Name)), fmt.Sprintf("%.2f%%", 100*share(c.Headline(), c.Reached())))
			}
			b.WriteByte('\n')
		}
		if more := len(h.Lines) - len(shown); more > 0 {
			fmt.Fprintf(b, "and %d columns more: csv has all\n", more)
		}
	}
}
