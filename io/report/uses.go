package report

import (
	"fmt"
	"strings"

	"robotsbatch/batch"
	"robotsbatch/io/report/page"
	"robotsbatch/matcher/usage"
)

// saidText says how many rows have which value.
func saidText(c *batch.UseCounts) string {
	if isGraded(c) {
		return fmt.Sprintf("%s immediate, %s reference, %s full%s", Number(c.Immediate), Number(c.Reference), Number(c.Full), unreadableText(c))
	}
	return fmt.Sprintf("%s allowed, %s disallowed%s", Number(c.Allowed), Number(c.Disallowed), unreadableText(c))
}

// unreadableText says how many rows have a form that cannot be read; empty for none.
func unreadableText(c *batch.UseCounts) string {
	if c.Unreadable == 0 {
		return ""
	}
	return ", " + Number(c.Unreadable) + " unreadable"
}

// isGraded reports whether the values of a use are grades.
func isGraded(c *batch.UseCounts) bool {
	u, err := usage.ParseUse(c.Use)
	return err == nil && u.Graded()
}

// usesFinding says how much is disallowed of what the first agent may fetch by what is known
// of its host.
func (s *Summary) usesFinding() []string {
	a := &s.Agents[0]
	var said []string
	for _, u := range a.Uses {
		if u.Disallowed > 0 {
			said = append(said, fmt.Sprintf("%s for %s", percent(u.Disallowed, s.allowed(a)), Printable(u.Use)))
		}
	}
	if len(said) == 0 {
		return nil
	}
	return []string{"Disallowed of what a known robots.txt leaves open to " + s.whomOpen(a.Agent) + ": " + strings.Join(said, ", ") + "."}
}

// usedParts are the parts of a bar of a use, of rows.
var usedParts = []page.Series{
	{Name: "disallowed", Kind: page.Most},
	{Name: "allowed", Kind: page.Least},
	{Name: "unreadable", Kind: page.Some},
	{Name: "nothing said", Kind: page.AllowedUnruled},
	{Name: "not to be fetched", Kind: page.Unknown},
}

// uses is empty without -use.
func (h htmlPage) uses() page.Section {
	bars := &page.Bars{Parts: usedParts}
	table := &page.Table{Caption: "URLs by what may be done with them", Columns: columns(
		"Use", "Agent", "Share disallowed", barColumn, "Disallowed", "Allowed", "Unreadable", "Nothing said", "Not to be fetched",
	)}
	grades := &page.Table{Caption: "URLs by how much may be used", Columns: columns(
		"Use", "Agent", "Immediate", "Reference", "Full", "Unreadable", "Nothing said", "Not to be fetched",
	)}
	for i := range h.Agents {
		a := &h.Agents[i]
		for j := range a.Uses {
			u := &a.Uses[j]
			nothing, closed, open := a.Allowed-u.Said(), a.Denied+a.Unknown, h.allowed(a)
			if isGraded(u) {
				grades.Rows = append(grades.Rows, []page.Cell{
					textCell(u.Use), textCell(a.Agent), numberCell(u.Immediate), numberCell(u.Reference), numberCell(u.Full), numberCell(u.Unreadable), numberCell(nothing), numberCell(closed),
				})
				continue
			}
			table.Rows = append(table.Rows, []page.Cell{
				textCell(u.Use), textCell(a.Agent), shareCell(u.Disallowed, open), barCell(u.Disallowed, open), numberCell(u.Disallowed), numberCell(u.Allowed),
				numberCell(u.Unreadable), numberCell(nothing), numberCell(closed),
			})
			if len(bars.Bars) == listed {
				continue
			}
			bars.Bars = append(bars.Bars, page.Bar{
				Name: Printable(u.Use + " " + a.Agent), Values: []float64{float64(u.Disallowed), float64(u.Allowed), float64(u.Unreadable), float64(nothing), float64(closed)},
				Text: fmt.Sprintf("%s disallowed, %s allowed%s, %s nothing said", Number(u.Disallowed), Number(u.Allowed), unreadableText(u), Number(nothing)),
			})
		}
	}
	section := page.Section{}
	if len(table.Rows) > 0 {
		section.Parts = []page.Part{bars, table}
	}
	if len(grades.Rows) > 0 {
		section.Parts = append(section.Parts, grades)
	}
	if section.Parts != nil {
		section.Title, section.Text = "Uses", "What sites say in Content-Usage (a draft) and Content-Signal lines of the URLs that may be fetched. Shares are of those whose robots.txt is known. Unreadable is what is said in a form that neither defines."
	}
	return section
}
