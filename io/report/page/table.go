package page

import "strconv"

// Table is a table that can be sorted by each column.
type Table struct {
	Caption string
	Columns []Column
	Rows    [][]Cell
}

// Column is a table's.
type Column struct {
	Name string
	// Number says that its cells are numbers, which stand to the right.
	Number bool
}

// Cell is a table's.
type Cell struct {
	Text string
	// Number is what a number is sorted by.
	Number float64
	// Bar is a share of which a bar behind the text is that long, from 0 to 1.
	Bar float64
	// Code says that the text is quoted from a file, such as a rule.
	Code bool
}

// write implements Part.
func (t *Table) write(w *writer) {
	if len(t.Rows) == 0 {
		return
	}
	w.line(`<div class="scroll" role="region" aria-label="%s" tabindex="0"><table>`, t.Caption)
	w.line("<caption>%s</caption>\n<thead><tr>", t.Caption)
	for _, c := range t.Columns {
		w.line(`<th scope="col"%s><button type="button">%s</button></th>`, class(c.Number, "n"), c.Name)
	}
	w.line("</tr></thead>\n<tbody>")
	for _, row := range t.Rows {
		w.raw("<tr>")
		for i, cell := range row {
			t.writeCell(w, i, cell)
		}
		w.raw("</tr>\n")
	}
	w.line("</tbody></table></div>")
}

func (t *Table) writeCell(w *writer, column int, c Cell) {
	open, end := "<td", "</td>"
	switch {
	case column == 0:
		open, end = `<th scope="row"`, "</th>"
	case t.Columns[column].Number:
		open += ` class="n"`
	}
	if t.Columns[column].Number {
		open += ` data-n="` + number(c.Number) + `"`
	}
	if c.Bar > 0 {
		open += ` style="--bar:` + number(100*min(1, c.Bar)) + `%"`
	}
	w.raw(open + ">")
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
