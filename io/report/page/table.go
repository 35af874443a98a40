package page

import (
	"cmp"
	"slices"
	"strconv"
)

// Table is a table that can be sorted by each column.
type Table struct {
	Caption string
	Columns []Column
	Rows    [][]Cell
}

// Column is a column of a table.
type Column struct {
	Name string // not shown for a column of bars
	// Phone is the name on a narrow screen, where each row is a block and a name must do without the
	// columns before it; empty for Name.
	Phone string
}

// Cell is a cell of a table.
type Cell struct {
	Kind CellKind
	Text string
	// Number is what a NumberCell is sorted by, or the length of a BarCell, from 0 to 1.
	Number float64
}

// CellKind is what a cell shows.
type CellKind uint8

const (
	TextCell CellKind = iota
	// CodeCell is a text that is quoted from a file, such as a rule.
	CodeCell
	// NumberCell is a number, aligned to the right. All cells of its column are numbers.
	NumberCell
	// BarCell is a bar without text, which shows the value of the column before. All cells of its
	// column are bars.
	BarCell
)

// write implements Part; it writes nothing for a table without rows. Bars of a column are relative to its
// largest.
func (t *Table) write(w *writer) {
	if len(t.Rows) == 0 {
		return
	}
	most := make([]float64, len(t.Columns)) // the largest bar of a column
	for _, row := range t.Rows {
		for i, cell := range row {
			if cell.Kind == BarCell {
				most[i] = max(most[i], cell.Number)
			}
		}
	}
	caption := t.Caption
	if slices.Max(most) > 0 {
		caption += "; bars are relative to the largest"
	}
	w.line(`<div class="scroll" role="region" aria-label="%s" tabindex="0"><table>`, t.Caption)
	w.line("<caption>%s</caption>\n<thead><tr>", caption)
	for i, cell := range t.Rows[0] { // all cells of a column are of its kind
		class := attribute("") // writer.line escapes a string
		switch cell.Kind {
		case BarCell:
			w.raw("<td></td>\n")
			continue
		case NumberCell:
			class = ` class="n"`
		}
		w.line(`<th scope="col"%s><button type="button">%s</button></th>`, class, t.Columns[i].Name)
	}
	w.line("</tr></thead>\n<tbody>")
	for _, row := range t.Rows {
		w.raw("<tr>")
		for i, cell := range row {
			if most[i] > 0 { // a column of bars
				cell.Number /= most[i]
			}
			t.writeCell(w, i, cell)
		}
		w.raw("</tr>\n")
	}
	w.line("</tbody></table></div>")
}

// writeCell writes a cell of the column with an index. The first cell of a row is its header. The number of a
// bar is its length, from 0 to 1.
func (t *Table) writeCell(w *writer, column int, c Cell) {
	if c.Kind == BarCell {
		w.raw(`<td class="b" aria-hidden="true">`)
		if c.Number > 0 {
			w.line(`<i style="width:%s"></i>`, attribute(number(100*min(1, c.Number))+"%"))
		}
		w.raw("</td>\n")
		return
	}
	open, end := "<td", "</td>"
	switch {
	case column == 0:
		open, end = `<th scope="row"`, "</th>"
	case c.Kind == NumberCell:
		open += ` class="n"`
	}
	w.raw(open)
	if c.Kind == NumberCell {
		w.raw(` data-n="` + number(c.Number) + `"`)
	}
	if column > 0 { // a narrow screen shows it before the cell
		w.line(` data-name="%s"`, cmp.Or(t.Columns[column].Phone, t.Columns[column].Name))
	}
	w.raw(">")
	if c.Kind == CodeCell {
		w.raw("<code>")
		end = "</code>" + end
	}
	w.line("%s"+end, c.Text)
}

// attribute is a text that writer.line does not escape.
type attribute string

// number returns a number as an attribute has it, with at most 10 digits.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 10, 64) }
