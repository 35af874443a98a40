package report

import (
	"fmt"
	"strings"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/tally"
	"robotsbatch/io/report/page"
	"robotsbatch/matcher"
)

// listed is how many authorities and rules a report lists.
const listed = 25

// HTML words what a job did as a page: the summary's counts, and what was tallied of the
// rows that this run read.
func HTML(s *Summary, t *tally.Tally, pace *Pace, now time.Time) *page.Page {
	p := &page.Page{
		Title: "What robots.txt allows",
		Lead: []string{
			now.UTC().Format("2 January 2006, 15:04 UTC") + ", robotsbatch " + Printable(s.Version) + ", profile " + s.Profile,
			"URLs: " + someNames(s.Inputs), "Rules: " + someNames(s.Rules),
		},
		Facts: s.facts(),
		Foot:  "Made by robotsbatch, which evaluates robots.txt (RFC 9309) offline. This page asks nothing of any server.",
	}
	h := htmlPage{s, t}
	p.Sections = []page.Section{h.verdicts(), h.weights(), h.newest(), h.reasons(), h.denying(), h.rules(), h.largest(), h.ages(), h.speed(pace), h.notes()}
	return p
}

// htmlPage makes the sections of a page.
type htmlPage struct {
	*Summary
	tally *tally.Tally
}

// someNames lists a few names for people.
func someNames(names []string) string {
	const most = 5
	text := Printable(strings.Join(names[:min(len(names), most)], ", "))
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %s more", Number(int64(more)))
	}
	return text
}

func (s *Summary) facts() []page.Fact {
	facts := []page.Fact{{Value: Number(s.Rows), Name: "rows"}}
	if len(s.Agents) > 0 {
		a := &s.Agents[0]
		facts = append(facts, page.Fact{Value: percent(a.Denied, a.Allowed+a.Denied), Name: "denied to " + Printable(a.Agent)})
	}
	return append(facts, page.Fact{Value: Number(s.Unknown()), Name: "without a verdict"},
		page.Fact{Value: Number(s.Authorities), Name: "authorities"}, page.Fact{Value: Number(s.AuthoritiesWithout), Name: "without robots.txt"},
		page.Fact{Value: secondsText(s.Seconds) + " s", Name: "time"}, page.Fact{Value: Number(s.URLsPerSecond), Name: "URLs a second"})
}

// percent is a share for people.
func percent(part, whole int64) string { return percentOf(float64(part), float64(whole)) }

func percentOf(part, whole float64) string {
	if whole <= 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*part/whole)
}

func shareOf(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func textCell(text string) page.Cell { return page.Cell{Text: Printable(text)} }

func numberCell(n int64) page.Cell { return page.Cell{Text: Number(n), Number: float64(n)} }

func shareCell(part, whole int64) page.Cell {
	share := shareOf(part, whole)
	return page.Cell{Text: percent(part, whole), Number: share, Bar: share}
}

var verdictParts = []page.Series{{Name: "allowed", Kind: page.Allowed}, {Name: "denied", Kind: page.Denied}, {Name: "no verdict", Kind: page.Unknown}}

func (h htmlPage) verdicts() page.Section {
	bars := &page.Bars{Parts: verdictParts}
	table := &page.Table{Caption: "Rows by verdict", Columns: []page.Column{
		{Name: "Agent"}, {Name: "Allowed", Number: true}, {Name: "Denied", Number: true}, {Name: "No verdict", Number: true}, {Name: "Share denied", Number: true},
	}}
	for _, a := range h.Agents {
		name := Printable(a.Agent)
		bars.Bars = append(bars.Bars, page.Bar{
			Name: name, Values: []float64{float64(a.Allowed), float64(a.Denied), float64(a.Unknown)},
			Text: fmt.Sprintf("%s allowed, %s denied, %s no verdict", Number(a.Allowed), Number(a.Denied), Number(a.Unknown)),
		})
		table.Rows = append(table.Rows, []page.Cell{
			textCell(a.Agent), numberCell(a.Allowed), numberCell(a.Denied), numberCell(a.Unknown), shareCell(a.Denied, a.Allowed+a.Denied),
		})
	}
	text := ""
	if h.OutputsKept > 0 {
		text = fmt.Sprintf("Counts by verdict are of all %s. %s written by an earlier run: authorities, rules and reasons below are of the others.",
			Count(int64(len(h.Outputs)), "output", "outputs"), Count(int64(h.OutputsKept), "was", "were"))
	}
	return page.Section{Title: "Verdicts", Text: text, Parts: []page.Part{bars, table}}
}

// weights is empty without -weight.
func (h htmlPage) weights() page.Section {
	if h.Weight == nil {
		return page.Section{}
	}
	bars := &page.Bars{Parts: verdictParts}
	table := &page.Table{Caption: "Sums of " + Printable(h.Weight.Column) + " by verdict", Columns: []page.Column{
		{Name: "Agent"}, {Name: "Allowed", Number: true}, {Name: "Denied", Number: true}, {Name: "No verdict", Number: true}, {Name: "Share denied", Number: true},
	}}
	for _, a := range h.Agents {
		row := []page.Cell{textCell(a.Agent)}
		var values []float64
		for _, sum := range []*batch.Sum{&a.Weight.Allowed, &a.Weight.Denied, &a.Weight.Unknown} {
			row = append(row, page.Cell{Text: sumText(sum), Number: sum.Float()})
			values = append(values, max(0, sum.Float()))
		}
		share := percentOf(values[1], values[0]+values[1])
		row = append(row, page.Cell{Text: share, Number: values[1] / max(1, values[0]+values[1])})
		bars.Bars = append(bars.Bars, page.Bar{Name: Printable(a.Agent), Values: values, Text: fmt.Sprintf("%s allowed, %s denied", row[1].Text, row[2].Text)})
		table.Rows = append(table.Rows, row)
	}
	text := ""
	if none := h.Weight.Nulls + h.Weight.NotNumbers; none > 0 {
		text = fmt.Sprintf("%s no number there and count as 0.", Count(none, "row has", "rows have"))
	}
	return page.Section{Title: "By " + Printable(h.Weight.Column), Text: text, Parts: []page.Part{bars, table}}
}

// newest is empty without -compare-newest.
func (h htmlPage) newest() page.Section {
	table := &page.Table{Caption: "Rows by both verdicts", Columns: []page.Column{
		{Name: "Agent"}, {Name: "Still allowed", Number: true}, {Name: "Denied now", Number: true}, {Name: "Allowed now", Number: true}, {Name: "Still denied", Number: true},
	}}
	if h.Weight != nil {
		for _, column := range table.Columns[1:] {
			table.Columns = append(table.Columns, page.Column{Name: Printable(h.Weight.Column) + " " + strings.ToLower(column.Name), Number: true})
		}
	}
	for _, a := range h.Agents {
		if a.Newest == nil {
			return page.Section{}
		}
		was, wasNot := &a.Newest.OfAllowed, &a.Newest.OfDenied
		row := []page.Cell{textCell(a.Agent), numberCell(was.Allowed), numberCell(was.Denied), numberCell(wasNot.Allowed), numberCell(wasNot.Denied)}
		if h.Weight != nil {
			for _, sum := range []*batch.Sum{&was.Weights.Allowed, &was.Weights.Denied, &wasNot.Weights.Allowed, &wasNot.Weights.Denied} {
				row = append(row, page.Cell{Text: sumText(sum), Number: sum.Float()})
			}
		}
		table.Rows = append(table.Rows, row)
	}
	return page.Section{Title: "Then and now", Text: "What the newest rules say of rows that their own time's allowed or denied.", Parts: []page.Part{table}}
}

func (h htmlPage) reasons() page.Section {
	table := &page.Table{Caption: "Rows by reason", Columns: []page.Column{{Name: "Reason"}}}
	for i := range h.tally.Agents {
		table.Columns = append(table.Columns, page.Column{Name: Printable(h.Agents[i].Agent), Number: true}, page.Column{Name: "Share", Number: true})
	}
	for reason := matcher.Reason(1); reason.String() != "reason(?)"; reason++ {
		row, some := []page.Cell{textCell(strings.ReplaceAll(reason.String(), "_", " "))}, false
		for i := range h.tally.Agents {
			n, total := h.tally.Reasons[i][reason], int64(0)
			for _, other := range h.tally.Reasons[i] {
				total += other
			}
			some = some || n > 0
			row = append(row, numberCell(n), shareCell(n, total))
		}
		if some {
			table.Rows = append(table.Rows, row)
		}
	}
	text := ""
	if more := len(h.Agents) - h.tally.Agents; more > 0 && h.Combined == "" {
		text = fmt.Sprintf("Of %d agents the first %d are told apart here and below.", len(h.Agents), h.tally.Agents)
	}
	return page.Section{Title: "Reasons", Text: text, Parts: parts(table)}
}

// parts leaves out a table without rows.
func parts(table *page.Table) []page.Part {
	if len(table.Rows) == 0 {
		return nil
	}
	return []page.Part{table}
}

// errorText says how far the counts of a Top may be off.
func errorText(t *tally.Top) string {
	if t.Exact() {
		return "Counts are exact."
	}
	return fmt.Sprintf("There are more than are counted one by one: a count may be too high by the number behind ±, never too low, and what is not listed has at most %s.",
		Number(t.Unlisted()))
}

// countCell is a count with its error.
func countCell(e *tally.Entry) page.Cell {
	text := Number(e.Count)
	if e.Error > 0 {
		text += " ±" + Number(e.Error)
	}
	return page.Cell{Text: text, Number: float64(e.Count)}
}

func (h htmlPage) denying() page.Section {
	table := &page.Table{Caption: "Authorities with the most rows that are denied", Columns: []page.Column{
		{Name: "Authority"}, {Name: "Denied", Number: true}, {Name: "Of its rows", Number: true}, {Name: "A rule that denies"},
	}}
	for _, e := range h.tally.Denying.Largest(listed) {
		table.Rows = append(table.Rows, []page.Cell{
			textCell(e.Key), countCell(&e), shareCell(e.Count-e.Error, e.Rows), {Text: Printable(e.Example), Code: e.Example != ""},
		})
	}
	text := "Rows that are denied to at least one agent. " + errorText(h.tally.Denying)
	if len(table.Rows) == 0 {
		text = "No row is denied."
	}
	return page.Section{Title: "Who denies most", Text: text, Parts: parts(table)}
}

func (h htmlPage) rules() page.Section {
	table := &page.Table{Caption: "Rules by the rows that they deny", Columns: []page.Column{
		{Name: "Rule"}, {Name: "Group"}, {Name: "Rows", Number: true}, {Name: "For example at"},
	}}
	for _, e := range h.tally.Rules.Largest(listed) {
		agent, rule, _ := strings.Cut(e.Key, "\n")
		table.Rows = append(table.Rows, []page.Cell{{Text: Printable(rule), Code: true}, textCell(agent), countCell(&e), textCell(e.Example)})
	}
	if len(table.Rows) == 0 {
		return page.Section{}
	}
	return page.Section{
		Title: "Which rules deny most", Parts: parts(table),
		Text: "Rules as they are written, of all authorities and agents together. " + errorText(h.tally.Rules),
	}
}

func (h htmlPage) largest() page.Section {
	table := &page.Table{Caption: "Authorities with the most rows", Columns: []page.Column{
		{Name: "Authority"}, {Name: "Rows", Number: true}, {Name: "Denied to " + Printable(h.Agents[0].Agent), Number: true},
	}}
	for _, e := range h.tally.Largest.Largest(listed) {
		table.Rows = append(table.Rows, []page.Cell{textCell(e.Key), countCell(&e), shareCell(e.Denied[0], e.Rows)})
	}
	if len(table.Rows) == 0 {
		return page.Section{}
	}
	columns := &page.Columns{Title: "Authorities by the number of their rows"}
	sample := h.tally.Authorities
	limits := []int64{1, 10, 100, 1000, 10_000, 100_000}
	for i, low := range limits {
		high, name := int64(1)<<62, shortNumber(low)+"+"
		if i < len(limits)-1 {
			high, name = limits[i+1], shortNumber(low)+"–"+shortNumber(limits[i+1]-1)
		}
		n, _ := sample.Count(func(c tally.Counts) bool { return low <= c.Rows && c.Rows < high })
		columns.Columns = append(columns.Columns, page.Bar{Name: name, Values: []float64{float64(n)}, Text: shortNumber(n)})
	}
	text := errorText(h.tally.Largest)
	if sample.Scale() > 1 {
		all, off := sample.Count(func(tally.Counts) bool { return true })
		text += fmt.Sprintf(" The chart is estimated from %s authorities; all together they are good to about %s.", Number(int64(sample.Len())), percentOf(off, float64(all)))
	}
	return page.Section{Title: "URLs per authority", Text: text, Parts: []page.Part{columns, table}}
}

func (h htmlPage) ages() page.Section {
	names := []string{"< 1 h", "1–6 h", "6–24 h", "1–7 d", "7–30 d", "30 d–1 y", "> 1 y", "?"}
	columns := &page.Columns{Title: "Rows by the age of the robots.txt; ? is not known"}
	known := int64(0)
	for i, n := range h.tally.Ages {
		columns.Columns = append(columns.Columns, page.Bar{Name: names[i], Values: []float64{float64(n)}, Text: shortNumber(n)})
		if i < len(tally.AgeLimits)+1 {
			known += n
		}
	}
	if known == 0 {
		return page.Section{}
	}
	text := "How old the fetch was that decided."
	if h.AsOf != nil {
		text = "How old the fetch was that decided, at " + h.AsOf.UTC().Format(time.RFC3339) + "."
	}
	return page.Section{Title: "Age of the rules", Text: text, Parts: []page.Part{columns}}
}

func (h htmlPage) speed(pace *Pace) page.Section {
	seconds, rates := pace.rates()
	if len(seconds) < 2 {
		return page.Section{}
	}
	line := &page.Line{
		Title: "URLs a second", X: seconds, Y: rates,
		XText: func(x float64) string { return secondsText(x) + " s" }, YText: func(y float64) string { return shortNumber(int64(y)) + "/s" },
	}
	return page.Section{Title: "Throughput", Parts: []page.Part{line}}
}

// notes is empty where there is nothing to note.
func (h htmlPage) notes() page.Section {
	table := &page.Table{Caption: "What to know of this run", Columns: []page.Column{{Name: "Note"}}}
	add := func(text string) { table.Rows = append(table.Rows, []page.Cell{textCell(text)}) }
	if !h.Complete {
		add("The output's reader closed it early: not all rows were read.")
	}
	if h.Outdated > 0 {
		add(fmt.Sprintf("%s decided by a robots.txt older than %s.", Count(h.Outdated, "row was", "rows were"), Age(time.Duration(h.MaxAgeSeconds)*time.Second)))
	}
	for _, cut := range h.Truncated {
		add(fmt.Sprintf("%s is cut: its first %s taken.", cut.Input, Count(cut.Rows, "row was", "rows were")))
	}
	for _, note := range h.ShownNotes() {
		add(note)
	}
	return page.Section{Title: "Notes", Parts: parts(table)}
}
