package report

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
)

// Summary is what a job did: -summary-json writes it, and the last line on stderr
// says it. Its keys are a contract with scripts: new ones may come, none goes.
type Summary struct {
	// Version is the program's.
	Version string `json:"version"`
	// Complete is false when the output's reader closed it before the end.
	Complete bool `json:"complete"`
	// ExitStatus is 0, or 3 with too many rows without a verdict; that of a job that failed is
	// another, and Error says why.
	ExitStatus int      `json:"exit_status"`
	Error      string   `json:"error,omitempty"`
	Profile    string   `json:"profile"`
	Inputs     []string `json:"inputs"`
	Rules      []string `json:"rules"`
	Outputs    []string `json:"outputs"`
	// OutputsKept is how many of them an earlier run has written (-resume).
	OutputsKept int `json:"outputs_kept,omitempty"`
	// Truncated are inputs that ended too early (-accept-truncated).
	Truncated []manifest.Truncated `json:"truncated,omitempty"`
	// Notes say which columns are written as another type than they have, or are lost with the names of
	// folders.
	Notes []string `json:"notes,omitempty"`
	// Limit is how many rows were read, as of -limit, of which there may be more; absent
	// without it.
	Limit int64 `json:"limit,omitempty"`
	// Rows were read and RowsWritten written. Emit says which, as of -emit; empty for all.
	Rows        int64  `json:"rows"`
	RowsWritten int64  `json:"rows_written"`
	Emit        string `json:"emit,omitempty"`
	batch.Counters
	// Missing is the verdict of NoRobots rows: allow, deny or null. BeforeFirst is that of
	// NoCaptureYet rows, empty for the same.
	Missing     string `json:"missing"`
	BeforeFirst string `json:"before_first,omitempty"`
	// AsOf is the time that ages were counted up to, null where no fetch has a
	// time, and where each row has its own, in AsOfColumn. Outdated rows were decided by a
	// fetch older than MaxAgeSeconds then.
	AsOf          *time.Time `json:"as_of"`
	AsOfColumn    string     `json:"as_of_column,omitempty"`
	MaxAgeSeconds int64      `json:"max_age_seconds"`
	// Combined is how the verdicts of all agents were combined: any-denied or all-denied;
	// empty when they were not. Then the first of Agents, of this name, has the combined
	// verdicts.
	Combined string  `json:"combined,omitempty"`
	Agents   []Agent `json:"agents"`
	// Weight is absent without -weight.
	Weight *Weight `json:"weight,omitempty"`
	// Authorities are the distinct ones; above a million, estimated. They are absent with
	// several outputs, which are counted each by itself and may share authorities.
	Authorities        *int64 `json:"authorities,omitempty"`
	AuthoritiesWithout *int64 `json:"authorities_without_robots,omitempty"`
	// RulesHTML and RulesBinary count robots.txt files that are none: of folders the files that
	// were read, of packs and captures all hosts.
	RulesHTML   int64 `json:"rules_html,omitempty"`
	RulesBinary int64 `json:"rules_binary,omitempty"`
	// StartedAt and FinishedAt are absent where a manifest makes a summary. They have one
	// width, in UTC: as texts they sort by time.
	StartedAt     string  `json:"started_at,omitempty"`
	FinishedAt    string  `json:"finished_at,omitempty"`
	Seconds       float64 `json:"seconds"`
	URLsPerSecond int64   `json:"urls_per_second"`

	keptRows int64 // the number of rows of kept outputs, which this run did not read
	// authorities is the sum of the outputs' numbers of authorities, and without counts those of them
	// without a robots.txt.
	authorities, without int64
}

// CountOdd counts the robots.txt files that are HTML or binary.
func (s *Summary) CountOdd(odd []ruleset.OddBodies, captured *ruleset.Captured) {
	for _, o := range odd {
		s.RulesHTML += o.HTML
		s.RulesBinary += o.Binary
	}
	if captured != nil && captured.Pack != nil {
		s.RulesHTML += captured.Pack.HTML
		s.RulesBinary += captured.Pack.Binary
	}
}

// Agent is one agent's verdicts.
type Agent struct {
	// Agent as it was asked for, a chain with commas.
	Agent string `json:"agent"`
	batch.RowCounts
	// Weight has the sums of -weight, absent without it.
	Weight *batch.Weights `json:"weight,omitempty"`
}

// Weight is what is said of the column of -weight as a whole.
type Weight struct {
	Column string `json:"column"`
	// Nulls and NotNumbers are rows that count as 0: without a value, and with one
	// that is no number.
	Nulls      int64 `json:"null"`
	NotNumbers int64 `json:"not_a_number"`
}

// Weigh prepares the summary for a job with -weight, the column of weights. s.Agents must be set.
func (s *Summary) Weigh(column string) {
	s.Weight = &Weight{Column: column}
	for i := range s.Agents {
		s.Agents[i].Weight = new(batch.Weights)
	}
}

// noneKnown reports whether no authority has a robots.txt; false without authorities.
func (s *Summary) noneKnown() bool { return s.authorities > 0 && s.without == s.authorities }

// Keep adds the counts of an output that an earlier run wrote to path.
func (s *Summary) Keep(path string, o *manifest.Output) {
	s.OutputsKept++
	s.keptRows += o.Counts.Rows
	s.Add(path, &o.Counts)
	s.Truncated = append(s.Truncated, o.Truncated...)
}

// Add adds the counts of an output that was written to path.
func (s *Summary) Add(path string, stats *batch.Stats) {
	s.Outputs = append(s.Outputs, path)
	s.Rows += stats.Rows
	s.RowsWritten += stats.Selected
	s.Counters.Add(&stats.Counters)
	s.authorities += stats.Authorities
	s.without += stats.WithoutRobots
	s.Authorities, s.AuthoritiesWithout = nil, nil
	if len(s.Outputs) == 1 {
		s.Authorities, s.AuthoritiesWithout = &stats.Authorities, &stats.WithoutRobots
	}
	for i, counts := range stats.Agents {
		s.Agents[i].RowCounts.Add(&counts.RowCounts)
		if s.Weight != nil {
			s.Agents[i].Weight.Add(&counts.Weights)
		}
	}
	if s.Weight != nil {
		s.Weight.Nulls += stats.WeightNulls
		s.Weight.NotNumbers += stats.WeightNotNumbers
	}
}

// noting is a source or a sink with notes for people, such as that it changed a column's type.
type noting interface{ Notes() []string }

// Notes returns the notes of those parts that have any. The parts are sources and sinks, after all is
// written.
func Notes(parts ...any) []string {
	var notes []string
	for _, part := range parts {
		if said, ok := part.(noting); ok {
			notes = append(notes, said.Notes()...)
		}
	}
	return notes
}

// AddNotes adds notes, each once.
func (s *Summary) AddNotes(notes []string) {
	for _, note := range notes {
		if !slices.Contains(s.Notes, note) {
			s.Notes = append(s.Notes, note)
		}
	}
}

// mostNotes is the number of notes that people are shown.
const mostNotes = 10

// ShownNotes returns the first notes, and how many more there are.
func (s *Summary) ShownNotes() []string {
	if more := len(s.Notes) - mostNotes; more > 0 {
		return append(slices.Clone(s.Notes[:mostNotes]), fmt.Sprintf("and %d more: the summary as JSON has all", more))
	}
	return s.Notes
}

// SetTimes sets when the job began and ended, and its rate.
func (s *Summary) SetTimes(started time.Time) {
	const milliseconds = "2006-01-02T15:04:05.000Z"
	s.StartedAt, s.FinishedAt = started.UTC().Format(milliseconds), time.Now().UTC().Format(milliseconds)
	seconds := time.Since(started).Seconds()
	s.Seconds, s.URLsPerSecond = seconds, Rate(s.Rows-s.keptRows, seconds)
}

// Unknown returns the number of rows without a verdict: that of the agent with the most, as the agents
// hardly differ.
func (s *Summary) Unknown() int64 {
	most := int64(0)
	for _, agent := range s.Agents {
		most = max(most, agent.Unknown)
	}
	return most
}

// String returns the summary on one line. Lines has the verdicts of several agents.
func (s *Summary) String() string {
	var b strings.Builder
	if s.Limit > 0 {
		b.WriteString("only the first ")
	}
	fmt.Fprintf(&b, "%s%s%s unknown (%s invalid", Count(s.Rows, "row", "rows"), s.agentsText(), Number(s.Unknown()), Number(s.Invalid))
	if s.UnsupportedScheme > 0 {
		fmt.Fprintf(&b, ", %s of another scheme", Number(s.UnsupportedScheme))
	}
	if s.Missing == missingNull && s.NoRobots > 0 {
		fmt.Fprintf(&b, ", %s because no robots.txt is known", Number(s.NoRobots))
	}
	b.WriteString(")")
	if s.hasOneVerdict() {
		s.writeFigures(&b, &s.Agents[0])
	}
	s.writeUnweighed(&b)
	if which := s.emittedText(); which != "" || s.RowsWritten != s.Rows {
		fmt.Fprintf(&b, "; %s written%s", Count(s.RowsWritten, "row", "rows"), which)
	}
	for _, r := range s.Remarks() {
		count := Number(r.Count)
		if r.Row != "" {
			count = Count(r.Count, r.Row, r.Rows)
		}
		age := Age(time.Duration(s.MaxAgeSeconds) * time.Second)
		fmt.Fprintf(&b, "; %s %s", count, strings.ReplaceAll(r.Text, batch.MaxAge, age))
	}
	if s.OutputsKept > 0 {
		fmt.Fprintf(&b, "; %d of %s done before", s.OutputsKept, Count(int64(len(s.Outputs)), "output", "outputs"))
	}
	if s.Authorities != nil {
		fmt.Fprintf(&b, "; %s, %s without robots.txt", Count(*s.Authorities, "host", "hosts"), Number(*s.AuthoritiesWithout))
	}
	if s.Seconds > 0 { // not known of a manifest
		fmt.Fprintf(&b, "; %s s, %s URLs a second", secondsText(s.Seconds), Number(s.URLsPerSecond))
	}
	return b.String()
}

// agentsText returns the part of String before the number of unknown rows: for which agents the rows
// were judged, the verdicts if there is one for all agents, and how many rows are allowed or denied
// because no robots.txt is known. String itself says how many have no verdict because of that.
func (s *Summary) agentsText() string {
	text := fmt.Sprintf(" for %s; ", Count(int64(len(s.Agents)), "agent", "agents"))
	switch {
	case len(s.Agents) == 1 && s.Agents[0].Agent == matcher.Everyone:
		text = " for everyone (*): " + s.verdictsText(&s.Agents[0]) + ", "
	case len(s.Agents) == 1:
		text = ": " + s.verdictsText(&s.Agents[0]) + ", "
	case s.Combined != "":
		text = fmt.Sprintf("; %s of %s: %s; ", s.Combined, Count(int64(len(s.Agents)-1), "agent", "agents"), s.verdictsText(&s.Agents[0]))
	case s.NoRobots > 0 && s.Missing == missingDeny: // several agents; in the cases above, verdictsText says it
		text += Count(s.NoRobots, "row", "rows") + " denied because no robots.txt is known; "
	case s.NoRobots > 0 && s.Missing != missingNull:
		text += Count(s.NoRobots, "row", "rows") + " allowed because no robots.txt is known; "
	}
	return text
}

// Values of Summary.Missing.
const missingAllow, missingDeny, missingNull = "allow", "deny", "null"

// verdictsText says how many rows are allowed and denied to an agent, and how many of these
// only because no robots.txt is known.
func (s *Summary) verdictsText(a *Agent) string {
	because := ""
	if s.NoRobots > 0 {
		because = fmt.Sprintf(" (%s because no robots.txt is known)", Number(s.NoRobots))
	}
	allowed, denied := Number(a.Allowed)+" allowed", Number(a.Denied)+" denied"
	switch s.Missing {
	case missingNull:
	case missingDeny:
		denied += because
	default:
		allowed += because
	}
	return allowed + ", " + denied
}

// emittedText says which rows Emit selects, if that is not obvious: with a verdict for each of several
// agents.
func (s *Summary) emittedText() string {
	agents := len(s.Agents)
	if agents < 2 || s.Combined != "" {
		return ""
	}
	switch s.Emit {
	case "allowed":
		return fmt.Sprintf(", allowed to all %d agents", agents)
	case "denied":
		return fmt.Sprintf(", denied to at least one of %d agents", agents)
	case "unknown":
		return fmt.Sprintf(", denied to none of %d agents and allowed to not all", agents)
	}
	return ""
}

// hasOneVerdict reports whether each row has one verdict: for one agent, or combined for all.
func (s *Summary) hasOneVerdict() bool { return len(s.Agents) == 1 || s.Combined != "" }

// Lines returns the verdicts of several agents, an agent a line; nil if String has them.
func (s *Summary) Lines() []string {
	const most = 32 // of a table with a column for each agent
	if s.hasOneVerdict() {
		return nil
	}
	shown := s.Agents[:min(len(s.Agents), most)]
	var nameWidth, allowedWidth, deniedWidth int
	for i := range shown {
		a := &shown[i]
		nameWidth = max(nameWidth, utf8.RuneCountInString(a.Agent))
		allowedWidth, deniedWidth = max(allowedWidth, len(Number(a.Allowed))), max(deniedWidth, len(Number(a.Denied)))
	}
	var lines []string
	for i := range shown {
		a := &shown[i]
		var b strings.Builder
		fmt.Fprintf(&b, "%-*s  %*s allowed  %*s denied", nameWidth, a.Agent, allowedWidth, Number(a.Allowed), deniedWidth, Number(a.Denied))
		s.writeFigures(&b, a)
		lines = append(lines, b.String())
	}
	if more := len(s.Agents) - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("and %s more: the summary as JSON has all", Count(int64(more), "agent", "agents")))
	}
	return lines
}

// writeFigures writes an agent's counts by use (-use) and sums (-weight).
func (s *Summary) writeFigures(b *strings.Builder, a *Agent) {
	for i := range a.Uses {
		fmt.Fprintf(b, "; %s: %s", a.Uses[i].Use, saidText(&a.Uses[i]))
	}
	if s.Weight != nil {
		fmt.Fprintf(b, "; %s: %s allowed, %s denied", s.Weight.Column, sumText(&a.Weight.Allowed), sumText(&a.Weight.Denied))
		if unknown := sumText(&a.Weight.Unknown); unknown != "0" {
			fmt.Fprintf(b, ", %s unknown", unknown)
		}
	}
}

// writeUnweighed writes how many rows have no number in the column of -weight.
func (s *Summary) writeUnweighed(b *strings.Builder) {
	if s.Weight == nil {
		return
	}
	between := ", " // the sums of the only verdict come before, and name the column
	if !s.hasOneVerdict() {
		between = "; " + s.Weight.Column + ": "
	}
	for _, odd := range countTexts([]counted{{s.Weight.Nulls, "row null", "rows null"}, {s.Weight.NotNumbers, "row not a number", "rows not a number"}}) {
		b.WriteString(between + odd)
		between = ", "
	}
}

// secondsText returns seconds with more digits if they are few.
func secondsText(seconds float64) string {
	if seconds < 1 {
		return fmt.Sprintf("%.3f", seconds)
	}
	return fmt.Sprintf("%.2f", seconds)
}

// Write writes the summary as JSON and completes w, or aborts it after an error.
func (s *Summary) Write(w blob.Writer) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		_, err = w.Write(append(data, '\n'))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		w.Abort()
		return option.Errorf("%s: %w", option.SummaryJSON, err)
	}
	return nil
}

// summaryForm matches the beginning of what Write writes.
var summaryForm = regexp.MustCompile(`^\{\s*"version": "[^"\n]*",\s*"complete": (true|false),\s*"exit_status": \d+,`)

// IsSummary reports whether a file or object is a summary that Write wrote; false for what is neither,
// such as a folder. The error is fs.ErrNotExist if there is none.
func IsSummary(ctx context.Context, name string) (bool, error) {
	info, err := blob.Stat(ctx, name)
	if err != nil || !info.Known() {
		return false, err
	}
	f, err := blob.Open(ctx, name)
	if err != nil {
		return false, err
	}
	defer f.Close()              // it was only read from
	begin := make([]byte, 1<<10) // more than summaryForm matches
	n, err := io.ReadFull(f, begin)
	if err == io.EOF || err == io.ErrUnexpectedEOF { // it is shorter
		err = nil
	}
	return summaryForm.Match(begin[:n]), err
}

// Merged returns the summary of the job that a manifest describes, by the options of the job and the counts
// of its outputs. path returns where the output of a name lies.
func Merged(m *manifest.Manifest, path func(name string) string) *Summary {
	s := &Summary{Complete: true, Outputs: []string{}, Missing: missingAllow}
	for _, assumed := range m.Job.Options["assume"] {
		for assumption := range strings.SplitSeq(assumed, ",") {
			switch name, verdict, _ := strings.Cut(assumption, "="); name {
			case "missing":
				s.Missing = verdict
			case "before-first":
				s.BeforeFirst = verdict
			}
		}
	}
	agents := slices.Concat(m.Job.Options["agent"], m.Job.Options["agents"])
	if len(agents) == 0 {
		agents = []string{matcher.Everyone}
	}
	switch strings.Join(m.Job.Options["agents-as"], "") { // at most one
	case "list", "any-denied": // a list has the combined verdict as well
		s.Combined = "any-denied"
	case "all-denied":
		s.Combined = "all-denied"
	}
	if s.Combined != "" {
		agents = append([]string{s.Combined}, agents...)
	}
	for i := range m.Outputs {
		for len(agents) < len(m.Outputs[i].Counts.Agents) { // a forged manifest may not name all
			agents = append(agents, "")
		}
	}
	for _, name := range agents {
		s.Agents = append(s.Agents, Agent{Agent: name})
	}
	if weight := m.Job.Options["weight"]; len(weight) > 0 {
		s.Weigh(weight[0])
	}
	if emit := m.Job.Options["emit"]; len(emit) > 0 && emit[0] != "all" {
		s.Emit = emit[0]
	}
	for i := range m.Outputs {
		s.Add(path(m.Outputs[i].Output.Name), &m.Outputs[i].Counts)
	}
	return s
}
