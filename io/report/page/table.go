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

// Column is a table's.
type Column struct {
	Name string
	// Phone is its name where a row is a block on a narrow screen, and the columns before it
	// do not stand beside it; empty for Name.
	Phone string
	// Number says that its cells are numbers, which stand to the right.
	Number bool
	// Bar says that its cells are bars without text, of what the column before says.
	Bar bool
}

// Cell is a table's.
type Cell struct {
	Text string
	// Number is what a number is sorted by.
	Number float64
	// Bar is how long the bar of a column of bars is, from 0 to 1.
	Bar float64
	// Code says that the text is quoted from a file, such as a rule.
	Code bool
}

// write implements Part.
func (t *Table) write(w *writer) {
	if len(t.Rows) == 0 {
		return
	}
	most := make([]float64, len(t.Columns)) // the largest bar of a column
	for _, row := range t.Rows {
		for i, cell := range row {
			most[i] = max(most[i], cell.Bar)
		}
	}
	caption := t.Caption
	if slices.Max(most) > 0 {
		caption += "; bars are relative to the largest"
	}
	w.line(`<div class="scroll" role="region" aria-label="%s" tabindex="0"><table>`, t.Caption)
	w.line("<caption>%s</caption>\n<thead><tr>", caption)
	for _, c := range t.Columns {
		if c.Bar {
			w.raw("<td></td>\n")
			continue
		}
		w.line(`<th scope="col"%s><button type="button">%s</button></th>`, class(c.Number, "n"), c.Name)
	}
	w.line("</tr></thead>\n<tbody>")
	for _, row := range t.Rows {
		w.raw("<tr>")
		for i, cell := range row {
			if most[i] > 0 {
				cell.Bar /= most[i]
			}
			t.writeCell(w, i, cell)
		}
		w.raw("</tr>\n")
	}
	w.line("</tbody></table></div>")
}

func (t *Table) writeCell(w *writer, column int, c Cell) {
	of := &t.Columns[column]
	if of.Bar {
		w.raw(`<td class="b" aria-hidden="true">`)
		if c.Bar > 0 {
			w.line(`<i style="width:%s"></i>`, attribute(number(100*min(1, c.Bar))+"%"))
		}
		w.raw("</td>\n")
		return
	}
	open, end := "<td", "</td>"
	switch {
	case column == 0:
		open, end = `<th scope="row"`, "</th>"
	case of.Number:
		open += ` class="n"`
	}
	w.raw(open)
	if of.Number {
		w.raw(` data-n="` + number(c.Number) + `"`)
	}
	if column > 0 { // a narrow screen shows it before the cell
		w.line(` data-name="%s"`, cmp.Or(of.Phone, of.Name))
	}
	w.raw(">")
	if c.Code {
		w.raw("<code>")
		end = "</code>" + end
	}
	w.line("%s"+end, c.Text)
}

// attribute is written as it is.
type attribute string

func class(on bool, name string) attribute {
	if !on {
		return ""
	}
	return attribute(` class="` + name + `"`)
}

// number is a number in a few digits for attributes.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 10, 64) }
