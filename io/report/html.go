package report

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/tally"
	"robotsbatch/io/report/page"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
	"robotsbatch/matcher/usage"
)

// listed is the number of authorities, and of rules, that a report lists.
const listed = 25

// HTML returns the report of a job as a page. s has the counts of the whole job, and t those of the
// rows that this run read. now is the date of the report.
func HTML(s *Summary, t *tally.Tally, now time.Time) *page.Page {
	p := &page.Page{
		Title: "What robots.txt allows", Finding: s.finding(), Facts: s.facts(),
		Foot: []string{
			fmt.Sprintf("Read %s by the rules of %s, under the profile %s, on %s by robotsbatch %s.", FileNames(s.Inputs), FileNames(s.Rules), s.Profile,
				now.UTC().Format("2 January 2006, 15:04 UTC"), Printable(s.Version)),
			fmt.Sprintf("It took %s s, %s URLs a second. %s", secondsText(s.Seconds), Number(s.URLsPerSecond), asksNothing),
		},
	}
	h := htmlPage{s, t}
	p.Sections = []page.Section{h.verdicts(), h.uses(), h.weights(), h.reasons(), h.denying(), h.rules(), h.largest(), h.ages(), h.notes()}
	return p
}

// htmlPage makes the sections of a page.
type htmlPage struct {
	*Summary
	tally *tally.Tally
}

// finding says in sentences how much is denied to which agents, and for how much no robots.txt
// is known.
func (s *Summary) finding() []string {
	if s.Rows == 0 || len(s.Agents) == 0 {
		return []string{"There were no URLs to judge."}
	}
	most := s.Agents[0]
	if s.Combined == "" {
		most = slices.MaxFunc(s.Agents, func(a, b Agent) int { return cmp.Compare(a.Denied, b.Denied) })
	}
	denied, known := s.known(&most)
	text := fmt.Sprintf("%s of %s %s closed to %s", percent(denied, known), Count(known, "URL", "URLs"), verb(known, "is", "are"), s.whom(most.Agent))
	if s.OfNothing() > 0 {
		text = fmt.Sprintf("Of %s whose robots.txt is known, %s %s closed to %s; for %s of all %s none is known", Count(known, "URL", "URLs"),
			percent(denied, known), verb(known, "is", "are"), s.whom(most.Agent), percent(s.OfNothing(), s.Rows), Number(s.Rows))
	}
	finding := []string{text + "."}
	if s.Combined == "" && len(s.Agents) > 1 {
		least := slices.MinFunc(s.Agents, func(a, b Agent) int { return cmp.Compare(a.Denied, b.Denied) })
		finding = append(finding, fmt.Sprintf("Of %d agents that is the one to which most is closed; to %s it is %s.", len(s.Agents), s.whom(least.Agent), percent(s.known(&least))))
	}
	finding = append(finding, s.usesFinding()...)
	if unknown := s.Unknown(); unknown > 0 {
		finding = append(finding, fmt.Sprintf("%s no verdict, such as texts that are not URLs.", Count(unknown, "row has", "rows have")))
	}
	return finding
}

// known returns the number of rows with a verdict for an agent from a known robots.txt, and how many
// of them are denied.
func (s *Summary) known(a *Agent) (denied, known int64) {
	denied = max(0, a.Denied-s.assumed(missingDeny))
	return denied, denied + s.allowedByRobots(a)
}

// allowedByRobots returns how many rows are allowed to an agent by a known robots.txt.
func (s *Summary) allowedByRobots(a *Agent) int64 {
	assumed := s.assumed(missingAllow)
	if cmp.Or(s.BeforeFirst, s.Missing, missingAllow) == missingAllow {
		assumed -= a.DeniedLater // rows from before the first capture that are denied all the same
	}
	return max(0, a.Allowed-assumed)
}

// assumed returns the number of rows that have a verdict, missingAllow or the like, only because no
// robots.txt is known for the host, or none from the row's time or before.
func (s *Summary) assumed(verdict string) (rows int64) {
	missing := cmp.Or(s.Missing, missingAllow)
	if missing == verdict {
		rows += s.NoRobots
	}
	if cmp.Or(s.BeforeFirst, missing) == verdict {
		rows += s.NoCaptureYet
	}
	return rows
}

// whom names an agent in a sentence about what is closed to it. What the combined verdict all-denied
// closes is closed to all agents.
func (s *Summary) whom(agent string) string { return s.nameIn(agent, "all-denied") }

// whomOpen names an agent in a sentence about what is open to it. What the combined verdict any-denied
// leaves open is open to all agents.
func (s *Summary) whomOpen(agent string) string { return s.nameIn(agent, "any-denied") }

// nameIn names an agent in a sentence. For a combined verdict it names "all of" the agents if the
// verdict is ofAll, else "at least one of" them.
func (s *Summary) nameIn(agent, ofAll string) string {
	switch {
	case s.Combined == agent && s.Combined != "":
		which := "at least one"
		if s.Combined == ofAll {
			which = "all"
		}
		return fmt.Sprintf("%s of %s", which, Count(int64(len(s.Agents)-1), "agent", "agents"))
	case agent == matcher.Everyone:
		return "everyone (*)"
	}
	return Printable(agent)
}

// verb returns the form of a verb for n things.
func verb(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// facts returns the figures at the top of the page.
func (s *Summary) facts() []page.Fact {
	facts := []page.Fact{{Value: Number(s.Rows), Name: "URLs"}}
	if len(s.Agents) > 0 {
		a := &s.Agents[0]
		facts = append(facts, page.Fact{Value: percent(s.known(a)), Name: "of those with a known robots.txt closed to " + s.whom(a.Agent)})
	}
	facts = append(facts, page.Fact{Value: percent(s.OfNothing(), s.Rows), Name: "no robots.txt known"}, page.Fact{Value: Number(s.Unknown()), Name: "without a verdict"})
	if s.Authorities != nil {
		facts = append(facts, page.Fact{Value: Number(*s.Authorities), Name: "hosts"}, page.Fact{Value: Number(*s.AuthoritiesWithout), Name: "hosts without robots.txt"})
	}
	return facts
}

// percent returns a share as percentOf does.
func percent(part, whole int64) string { return percentOf(float64(part), float64(whole)) }

// percentOf returns a share in percent for people, with one digit after the point; a dash if
// whole is 0.
func percentOf(part, whole float64) string {
	if whole <= 0 {
		return "–"
	}
	share := 100 * part / whole
	switch {
	case 0 < share && share < 0.05:
		return "<0.1 %"
	case 99.95 <= share && share < 100:
		return ">99.9 %"
	}
	return fmt.Sprintf("%.1f %%", share)
}

// shareOf returns a share from 0 to 1; 0 if whole is 0.
func shareOf(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// barColumn is the name of a column of bars: none.
const barColumn = ""

// columnsOf returns columns with these names.
func columnsOf(names ...string) []page.Column {
	all := make([]page.Column, len(names))
	for i, name := range names {
		all[i].Name = name
	}
	return all
}

func textCell(text string) page.Cell { return page.Cell{Text: Printable(text)} }

func codeCell(text string) page.Cell { return page.Cell{Kind: page.CodeCell, Text: Printable(text)} }

func numberCell(n int64) page.Cell {
	return page.Cell{Kind: page.NumberCell, Text: Number(n), Number: float64(n)}
}

func shareCell(part, whole int64) page.Cell {
	return page.Cell{Kind: page.NumberCell, Text: percent(part, whole), Number: shareOf(part, whole)}
}

// barCell is the bar of a share, in a column of its own.
func barCell(part, whole int64) page.Cell {
	return page.Cell{Kind: page.BarCell, Number: shareOf(part, whole)}
}

var (
	// verdictParts are the parts of a bar of rows, and weightParts those of a bar of weights.
	verdictParts = []page.Series{
		{Name: "denied", Kind: page.Denied},
		{Name: "allowed by robots.txt", Kind: page.Allowed},
		{Name: "allowed, no robots.txt known", Kind: page.AllowedUnruled},
		{Name: "no verdict", Kind: page.Unknown},
	}
	weightParts = []page.Series{{Name: "denied", Kind: page.Denied}, {Name: "allowed", Kind: page.Allowed}, {Name: "no verdict", Kind: page.Unknown}}
)

// verdicts returns the section with a bar and a row for each agent.
func (h htmlPage) verdicts() page.Section {
	bars := &page.Bars{Parts: verdictParts}
	table := &page.Table{Caption: "URLs by verdict", Columns: columnsOf(
		"Agent", "Closed, of those known", barColumn, "Denied", "Allowed by robots.txt", "Allowed, no robots.txt known", "No verdict",
	)}
	for _, a := range h.Agents {
		name := Printable(a.Agent)
		ruled := h.allowedByRobots(&a)
		unruled := a.Allowed - ruled
		bars.Bars = append(bars.Bars, page.Bar{
			Name: name, Values: []float64{float64(a.Denied), float64(ruled), float64(unruled), float64(a.Unknown)},
			Text: fmt.Sprintf("%s denied, %s allowed by robots.txt, %s allowed because no robots.txt is known, %s no verdict", Number(a.Denied), Number(ruled), Number(unruled), Number(a.Unknown)),
		})
		denied, known := h.known(&a)
		table.Rows = append(table.Rows, []page.Cell{
			textCell(a.Agent), shareCell(denied, known), barCell(denied, known), numberCell(a.Denied), numberCell(ruled), numberCell(unruled), numberCell(a.Unknown),
		})
	}
	text := ""
	if h.OutputsKept > 0 { // h.tally has not seen their rows
		text = fmt.Sprintf("Counts by verdict are of all %s. %s written by an earlier run: hosts, rules and reasons below are of the others.",
			Count(int64(len(h.Outputs)), "output", "outputs"), Count(int64(h.OutputsKept), "was", "were"))
	}
	return page.Section{Title: "Verdicts", Text: text, Parts: []page.Part{bars, table}}
}

// weights returns the section with the sums of -weight; empty without it.
func (h htmlPage) weights() page.Section {
	if h.Weight == nil {
		return page.Section{}
	}
	bars := &page.Bars{Parts: weightParts}
	table := &page.Table{Caption: "Sums of " + Printable(h.Weight.Column) + " by verdict", Columns: columnsOf("Agent", "Share denied", "Denied", "Allowed", "No verdict")}
	for _, a := range h.Agents {
		var sums []page.Cell
		var values []float64
		for _, sum := range []*batch.Sum{&a.Weight.Denied, &a.Weight.Allowed, &a.Weight.Unknown} {
			sums = append(sums, page.Cell{Kind: page.NumberCell, Text: sumText(sum), Number: sum.Float()})
			values = append(values, max(0, sum.Float())) // a bar has no part for weights below 0
		}
		denied, known := values[0], values[0]+values[1]
		share := page.Cell{Kind: page.NumberCell, Text: percentOf(denied, known), Number: denied / max(1, known)}
		bars.Bars = append(bars.Bars, page.Bar{Name: Printable(a.Agent), Values: values, Text: fmt.Sprintf("%s denied, %s allowed", sums[0].Text, sums[1].Text)})
		table.Rows = append(table.Rows, append([]page.Cell{textCell(a.Agent), share}, sums...))
	}
	text := ""
	if none := h.Weight.Nulls + h.Weight.NotNumbers; none > 0 {
		text = fmt.Sprintf("%s no number there and count as 0.", Count(none, "row has", "rows have"))
	}
	return page.Section{Title: "By " + Printable(h.Weight.Column), Text: text, Parts: []page.Part{bars, table}}
}

// reasons returns the section with a row for each reason and a column for each agent. Agents
// with the same counts share a column.
func (h htmlPage) reasons() page.Section {
	table := &page.Table{Caption: "URLs by reason", Columns: columnsOf("Reason")}
	sums := make([]int64, len(h.tally.Reasons[0])) // by reason, over the agents that are shown
	var shown []int                                // the first agent of each column
	for i, reasons := range h.tally.Reasons {
		if slices.Contains(h.tally.Reasons[:i], reasons) { // they share a column that is there
			continue
		}
		var agents []string
		for j := range h.tally.Reasons {
			if h.tally.Reasons[j] == reasons {
				agents = append(agents, Printable(h.Agents[j].Agent))
			}
		}
		shown = append(shown, i)
		table.Columns = append(table.Columns, columnsOf(strings.Join(agents, ", "), barColumn)...)
		for reason, n := range reasons {
			sums[reason] += n
		}
	}
	for reason, sum := range sums {
		if sum == 0 {
			continue
		}
		row := []page.Cell{textCell(matcher.Reason(reason).Words())}
		for _, agent := range shown {
			n, total := h.tally.Reasons[agent][reason], int64(0)
			for _, n := range h.tally.Reasons[agent] {
				total += n
			}
			cell := numberCell(n)
			cell.Text += " (" + percent(n, total) + ")"
			row = append(row, cell, barCell(n, total))
		}
		table.Rows = append(table.Rows, row)
	}
	slices.SortStableFunc(table.Rows, func(a, b []page.Cell) int { return cmp.Compare(b[1].Number, a[1].Number) }) // by the first agent's
	text := ""
	if more := len(h.Agents) - h.tally.Agents; more > 0 && h.Combined == "" {
		text = fmt.Sprintf("Here and below, only the first %[2]d of %[1]d agents are shown separately.", len(h.Agents), h.tally.Agents)
	}
	return page.Section{Title: "Reasons", Text: text, Parts: unlessEmpty(table)}
}

// unlessEmpty returns a table as the parts of a section; nil if it has no rows.
func unlessEmpty(table *page.Table) []page.Part {
	if len(table.Rows) == 0 {
		return nil
	}
	return []page.Part{table}
}

// errorText says how much the counts of t may be too high, and what it may lack.
func errorText(t *tally.Top) string {
	if t.Exact() {
		return "Counts are exact."
	}
	return fmt.Sprintf("There are more than are counted one by one: a count may be too high by the number behind ±, never too low, and what is not listed has at most %s.",
		Number(t.Unlisted()))
}

// countCell returns a count with its possible error.
func countCell(e *tally.Entry) page.Cell {
	cell := numberCell(e.Count)
	if e.Error > 0 {
		cell.Text += " ±" + Number(e.Error)
	}
	return cell
}

// deniedShare returns the share of an authority's rows that is denied, with ≥ if it is a lower
// bound.
func (h htmlPage) deniedShare(e *tally.Entry) page.Cell {
	denied, rows, exact := h.tally.DeniedShare(e)
	cell := shareCell(denied, rows)
	if !exact {
		cell.Text = "≥ " + strings.TrimPrefix(cell.Text, ">")
	}
	return cell
}

// denying returns the section on the hosts with the most denied URLs.
func (h htmlPage) denying() page.Section {
	table := &page.Table{Caption: "Hosts with the most URLs that are denied", Columns: columnsOf("Host", "Denied", "Of its URLs", barColumn, "A rule that denies")}
	for _, e := range h.tally.Denying.Largest(listed) {
		share, rule := h.deniedShare(&e), textCell("")
		if e.Example != "" {
			rule = codeCell(e.Example)
		}
		table.Rows = append(table.Rows, []page.Cell{textCell(e.Key), countCell(&e), share, {Kind: page.BarCell, Number: share.Number}, rule})
	}
	text := "URLs that are denied to at least one agent. " + errorText(h.tally.Denying)
	if len(table.Rows) == 0 {
		text = "No URL is denied."
		if h.OutputsKept > 0 {
			text = "No URL of the outputs that this run wrote is denied."
		}
	}
	return page.Section{Title: "Who denies most", Text: text, Parts: unlessEmpty(table)}
}

// rules returns the section on the rules that deny the most URLs.
func (h htmlPage) rules() page.Section {
	table := &page.Table{Caption: "Rules by the URLs that they deny", Columns: columnsOf("Rule", "Group", "URLs", "For example at")}
	for _, e := range h.tally.Rules.Largest(listed) {
		agent, rule, _ := strings.Cut(e.Key, "\n") // the first line is the group's agent
		table.Rows = append(table.Rows, []page.Cell{codeCell(rule), textCell(agent), countCell(&e), textCell(e.Example)})
	}
	if len(table.Rows) == 0 {
		return page.Section{}
	}
	return page.Section{
		Title: "Which rules deny most", Parts: unlessEmpty(table),
		Text: "Rules as they are written, of all hosts and agents together. " + h.wholeSites() + errorText(h.tally.Rules),
	}
}

// wholeSite matches the line of a rule, with a colon or a blank after its key, whose pattern matches
// every path: empty, "/", or stars with or without a slash and a "$".
var wholeSite = regexp.MustCompile(`^[^:]+[: \t][ \t]*(\*+/?|/)?(\*+\$?)?$`)

// wholeSites says which share of denials comes from rules that close a whole site.
func (h htmlPage) wholeSites() string {
	whole, all := int64(0), int64(0)
	for _, e := range h.tally.Rules.Largest(math.MaxInt) {
		_, rule, _ := strings.Cut(e.Key, "\n") // the first line is the group's agent
		if all += e.Count; wholeSite.MatchString(rule) {
			whole += e.Count
		}
	}
	if !h.tally.Rules.Exact() {
		return fmt.Sprintf("About %s of all denials are by rules that close a whole site, such as Disallow: /. ", percent(whole, all))
	}
	return fmt.Sprintf("%s of all %s are by rules that close a whole site, such as Disallow: /. ", percent(whole, all), Count(all, "denial", "denials"))
}

// largest returns the section on the hosts with the most URLs, and on how many hosts have how many URLs;
// empty without hosts.
func (h htmlPage) largest() page.Section {
	table := &page.Table{Caption: "Hosts with the most URLs", Columns: columnsOf("Host", "URLs", "Denied to "+Printable(h.Agents[0].Agent), barColumn)}
	for _, e := range h.tally.Largest.Largest(listed) {
		table.Rows = append(table.Rows, []page.Cell{textCell(e.Key), countCell(&e), shareCell(e.Denied[0], e.Rows), barCell(e.Denied[0], e.Rows)})
	}
	if len(table.Rows) == 0 {
		return page.Section{}
	}
	columns := &page.Columns{Title: "Hosts by the number of their URLs"}
	sample := h.tally.Authorities
	limits := []int64{1, 10, 100, 1000, 10_000, 100_000} // the least numbers of URLs of the columns
	for i, low := range limits {
		high, name := int64(math.MaxInt64), shortNumber(low)+"+"
		if i < len(limits)-1 {
			high, name = limits[i+1], shortNumber(low)+"–"+shortNumber(limits[i+1]-1)
		}
		n, _ := sample.Count(func(c tally.Counts) bool { return low <= c.Rows && c.Rows < high })
		columns.Columns = append(columns.Columns, page.Bar{Name: name, Values: []float64{float64(n)}, Text: shortNumber(n)})
	}
	text := errorText(h.tally.Largest)
	if sample.Scale() > 1 {
		all, off := sample.Count(func(tally.Counts) bool { return true })
		text += fmt.Sprintf(" The chart is estimated from %s hosts; all together they are good to about %s.", Number(int64(sample.Len())), percentOf(off, float64(all)))
	}
	return page.Section{Title: "URLs of each host", Text: text, Parts: []page.Part{columns, table}}
}

// ages returns the section on how old the fetches were that decided; empty if no age is known.
func (h htmlPage) ages() page.Section {
	names := []string{"< 1 h", "1–6 h", "6–24 h", "1–7 d", "7–30 d", "30 d–1 y", "> 1 y", "?"} // between tally.AgeLimits
	columns := &page.Columns{Title: "URLs by the age of the robots.txt; ? is not known"}
	known := int64(0)
	for i, n := range h.tally.Ages {
		columns.Columns = append(columns.Columns, page.Bar{Name: names[i], Values: []float64{float64(n)}, Text: shortNumber(n)})
		if i <= len(tally.AgeLimits) { // the one after that counts ages that are not known
			known += n
		}
	}
	if known == 0 {
		return page.Section{}
	}
	text := "How old the fetch was that decided."
	switch {
	case h.AsOfColumn != "":
		text = fmt.Sprintf("How old the fetch was that decided, at the row's own time in column %q.", h.AsOfColumn)
	case h.AsOf != nil:
		text = "How old the fetch was that decided, at " + h.AsOf.UTC().Format(time.RFC3339) + "."
	}
	return page.Section{Title: "Age of the rules", Text: text, Parts: []page.Part{columns}}
}

// notes returns the section with remarks on the run; without rows if there are none.
func (h htmlPage) notes() page.Section {
	table := &page.Table{Caption: "What to know of this run", Columns: columnsOf("Note")}
	add := func(text string) { table.Rows = append(table.Rows, []page.Cell{textCell(text)}) }
	if !h.Complete {
		add("The output's reader closed it early: not all rows were read.")
	}
	if h.Limit > 0 {
		add(fmt.Sprintf("Only the first %s of the inputs were judged.", Count(h.Limit, "row", "rows")))
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
	return page.Section{Title: "Notes", Parts: unlessEmpty(table)}
}

// saidText says how many rows have each value that sites can state of a use.
func saidText(c *batch.UseCounts) string {
	if isGraded(c) {
		return fmt.Sprintf("%s immediate, %s reference, %s full%s", Number(c.Immediate), Number(c.Reference), Number(c.Full), unreadableText(c))
	}
	return fmt.Sprintf("%s allowed, %s disallowed%s", Number(c.Allowed), Number(c.Disallowed), unreadableText(c))
}

// unreadableText says how many rows have a value that cannot be read; empty for none.
func unreadableText(c *batch.UseCounts) string {
	if c.Unreadable == 0 {
		return ""
	}
	return ", " + Number(c.Unreadable) + " unreadable"
}

// isGraded reports whether a use has grades, such as reference, in place of allowed and disallowed.
func isGraded(c *batch.UseCounts) bool {
	u, err := usage.ParseUse(c.Use)
	return err == nil && u.Graded()
}

// usesFinding says, for the first agent, which share of what a known robots.txt allows is
// disallowed for each use.
func (s *Summary) usesFinding() []string {
	a := &s.Agents[0]
	var said []string
	for _, u := range a.Uses {
		if u.Disallowed > 0 {
			said = append(said, fmt.Sprintf("%s for %s", percent(u.Disallowed, s.allowedByRobots(a)), Printable(u.Use)))
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

// uses returns the section on what sites state about uses; empty without -use.
func (h htmlPage) uses() page.Section {
	bars := &page.Bars{Parts: usedParts}
	table := &page.Table{Caption: "URLs by what may be done with them", Columns: columnsOf(
		"Use", "Agent", "Share disallowed", barColumn, "Disallowed", "Allowed", "Unreadable", "Nothing said", "Not to be fetched",
	)}
	grades := &page.Table{Caption: "URLs by how much may be used", Columns: columnsOf(
		"Use", "Agent", "Immediate", "Reference", "Full", "Unreadable", "Nothing said", "Not to be fetched",
	)}
	for i := range h.Agents {
		a := &h.Agents[i]
		for j := range a.Uses {
			u := &a.Uses[j]
			nothingSaid, unfetched, allowed := a.Allowed-u.Said(), a.Denied+a.Unknown, h.allowedByRobots(a)
			if isGraded(u) { // it has a row in the other table, and no bar
				grades.Rows = append(grades.Rows, []page.Cell{
					textCell(u.Use), textCell(a.Agent), numberCell(u.Immediate), numberCell(u.Reference), numberCell(u.Full), numberCell(u.Unreadable), numberCell(nothingSaid), numberCell(unfetched),
				})
				continue
			}
			table.Rows = append(table.Rows, []page.Cell{
				textCell(u.Use), textCell(a.Agent), shareCell(u.Disallowed, allowed), barCell(u.Disallowed, allowed), numberCell(u.Disallowed), numberCell(u.Allowed),
				numberCell(u.Unreadable), numberCell(nothingSaid), numberCell(unfetched),
			})
			if len(bars.Bars) == listed {
				continue
			}
			bars.Bars = append(bars.Bars, page.Bar{
				Name: Printable(u.Use + " " + a.Agent), Values: []float64{float64(u.Disallowed), float64(u.Allowed), float64(u.Unreadable), float64(nothingSaid), float64(unfetched)},
				Text: fmt.Sprintf("%s disallowed, %s allowed%s, %s nothing said", Number(u.Disallowed), Number(u.Allowed), unreadableText(u), Number(nothingSaid)),
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

// Page is the page for people that a job writes at its end, with what its workers counted. A job
// without a page has a nil Page, whose methods do nothing.
type Page struct {
	file    blob.Writer
	agents  int
	tallies []*tally.Tally
}

// NewPage returns a page that is written to file. agents is the number of agents with verdicts.
func NewPage(file blob.Writer, agents int) *Page { return &Page{file: file, agents: agents} }

// Counting returns an evaluator that does what e does, and counts its verdicts for the page. Each
// worker has its own.
func (p *Page) Counting(e batch.Evaluator) batch.Evaluator {
	if p == nil {
		return e
	}
	p.tallies = append(p.tallies, tally.New(p.agents))
	return tally.Wrap(e, p.tallies[len(p.tallies)-1])
}

// Write adds up the counts of all evaluators, and writes and completes the page; a nil page is no error.
// The file of a page that cannot be written is left open for its owner to abort.
func (p *Page) Write(s *Summary, now time.Time) error {
	if p == nil {
		return nil
	}
	counts := tally.New(p.agents)
	for _, t := range p.tallies {
		counts.Merge(t)
	}
	err := HTML(s, counts, now).Write(p.file)
	if err == nil {
		err = p.file.Close()
	}
	return err
}
