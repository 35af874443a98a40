// Package page writes reports as single HTML pages: sections of tables that can be sorted
// and charts in SVG. A page needs nothing from anywhere, and its own policy forbids it to
// ask; it is readable in light and dark, on a phone, on paper, without scripts and by
// screen readers.
//
//	Page ─ Finding      what was found, in sentences
//	     ─ Fact         a number with its name
//	     ─ Section ─ Bars     a bar for each thing, in parts
//	               ─ Columns  how often each class
//	               ─ Lines    shares over time
//	               ─ Table
//	               ─ Details  a part that a reader opens
//
// All text is escaped for HTML. Who makes a page takes out what no reader should obey, such
// as characters that turn the direction of text.
package page
