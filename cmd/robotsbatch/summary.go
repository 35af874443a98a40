package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/io/blob"
	"robotsbatch/io/frontier"
)

// summary is what -summary-json writes and the last line on stderr says. The
// keys are part of the command line's contract: new ones may come, none goes.
type summary struct {
	// Version is the program's.
	Version string `json:"version"`
	// Complete is false when the output's reader closed it before the end.
	Complete bool `json:"complete"`
	// ExitStatus is 0, or 3 with too many rows without a verdict.
	ExitStatus int      `json:"exit_status"`
	Profile    string   `json:"profile"`
	Inputs     []string `json:"inputs"`
	Rules      []string `json:"rules"`
	Outputs    []string `json:"outputs"`
	// OutputsKept is how many of them an earlier run has written (-resume).
	OutputsKept int `json:"outputs_kept,omitempty"`
	// Truncated are inputs that ended too early (-accept-truncated).
	Truncated []truncatedSummary `json:"truncated,omitempty"`
	// Notes say which columns come out as another type than they have.
	Notes []string `json:"notes,omitempty"`
	// Rows were read and RowsWritten written (-emit).
	Rows        int64 `json:"rows"`
	RowsWritten int64 `json:"rows_written"`
	// Invalid and UnsupportedScheme are rows that have no verdict, whatever the
	// agent.
	Invalid           int64 `json:"invalid"`
	UnsupportedScheme int64 `json:"unsupported_scheme"`
	// AsOf is the time that ages were counted up to, null where no fetch has a
	// time. Outdated rows were decided by a fetch older than MaxAgeSeconds then.
	AsOf          *time.Time `json:"as_of"`
	MaxAgeSeconds int64      `json:"max_age_seconds"`
	Outdated      int64      `json:"outdated"`
	// SitemapsCut rows have more sitemaps than are listed.
	SitemapsCut int64          `json:"sitemaps_cut"`
	Agents      []agentSummary `json:"agents"`
	// Authorities are distinct within an output; above a million, estimated.
	Authorities        int64   `json:"authorities"`
	AuthoritiesWithout int64   `json:"authorities_without_robots"`
	Seconds            float64 `json:"seconds"`
	URLsPerSecond      int64   `json:"urls_per_second"`

	keptRows int64 // that were not read in this run
}

// agentSummary are one agent's verdicts.
type agentSummary struct {
	// Agent as it was asked for, a chain with commas.
	Agent   string `json:"agent"`
	Allowed int64  `json:"allowed"`
	Denied  int64  `json:"denied"`
	// Unknown rows have no verdict, the invalid ones among them.
	Unknown int64 `json:"unknown"`
}

func newSummary(c *jobConfig, inputs []frontier.Input) *summary {
	s := &summary{Version: version(), Complete: true, Profile: profileName(c.profile), Rules: slices.Clone(c.folders), Outputs: []string{}}
	s.MaxAgeSeconds = int64(c.maxAge / time.Second)
	if !c.asOf.IsZero() {
		s.AsOf = &c.asOf
	}
	for i, name := range s.Rules {
		s.Rules[i] = blob.Shown(name)
	}
	for _, in := range inputs {
		s.Inputs = append(s.Inputs, in.Name())
	}
	for _, agent := range c.agentChains() {
		s.Agents = append(s.Agents, agentSummary{Agent: agent})
	}
	return s
}

// keep adds what an earlier run did.
func (s *summary) keep(path string, o *manifest.Output) {
	s.OutputsKept++
	s.keptRows += o.Counts.Rows
	s.add(path, o.Counts.Stats())
	for _, t := range o.Truncated {
		s.Truncated = append(s.Truncated, truncatedSummary(t))
	}
}

// add adds what one output's job did.
func (s *summary) add(path string, stats *batch.Stats) {
	s.Outputs = append(s.Outputs, path)
	s.Rows += stats.Rows
	s.RowsWritten += stats.Selected
	s.Invalid += stats.Invalid
	s.UnsupportedScheme += stats.UnsupportedScheme
	s.Outdated += stats.Outdated
	s.SitemapsCut += stats.MoreSitemaps
	s.Authorities += stats.Authorities
	s.AuthoritiesWithout += stats.WithoutRobots
	for i, counts := range stats.Agents {
		s.Agents[i].Allowed += counts.Allowed
		s.Agents[i].Denied += counts.Denied
		s.Agents[i].Unknown += counts.Unknown
	}
}

// noting is a source or a sink that may change a column's type.
type noting interface{ Notes() []string }

// note adds what the source of an output's first input and its sink say of types,
// each once.
func (s *summary) note(parts ...any) {
	for _, part := range parts {
		said, ok := part.(noting)
		if !ok {
			continue
		}
		for _, note := range said.Notes() {
			if !slices.Contains(s.Notes, note) {
				s.Notes = append(s.Notes, note)
			}
		}
	}
}

// mostNotes is how many notes people are shown.
const mostNotes = 10

// notes are the lines of notes for people.
func (s *summary) notes() []string {
	if more := len(s.Notes) - mostNotes; more > 0 {
		return append(slices.Clone(s.Notes[:mostNotes]), fmt.Sprintf("and %d more: see -summary-json", more))
	}
	return s.Notes
}

// finish sets the times.
func (s *summary) finish(started time.Time) {
	seconds := time.Since(started).Seconds()
	s.Seconds, s.URLsPerSecond = seconds, rate(s.Rows-s.keptRows, seconds)
}

// unknown is the number of rows that lack a verdict for an agent; which agent
// hardly matters, for rows are invalid and authorities unknown for all.
func (s *summary) unknown() int64 {
	most := int64(0)
	for _, agent := range s.Agents {
		most = max(most, agent.Unknown)
	}
	return most
}

// String is the summary in one line.
func (s *summary) String() string {
	var b strings.Builder
	b.WriteString(counted(s.Rows, "row", "rows"))
	if len(s.Agents) == 1 {
		fmt.Fprintf(&b, ": %s allowed, %s denied, ", grouped(s.Agents[0].Allowed), grouped(s.Agents[0].Denied))
	} else {
		for _, agent := range s.Agents {
			fmt.Fprintf(&b, "; %s: %s allowed, %s denied", agent.Agent, grouped(agent.Allowed), grouped(agent.Denied))
		}
		b.WriteString("; ")
	}
	fmt.Fprintf(&b, "%s unknown (%s invalid", grouped(s.unknown()), grouped(s.Invalid))
	if s.UnsupportedScheme > 0 {
		fmt.Fprintf(&b, ", %s of another scheme", grouped(s.UnsupportedScheme))
	}
	b.WriteString(")")
	if s.RowsWritten != s.Rows {
		fmt.Fprintf(&b, "; %s written", counted(s.RowsWritten, "row", "rows"))
	}
	if s.Outdated > 0 {
		fmt.Fprintf(&b, "; %s decided by robots.txt older than %s", grouped(s.Outdated), ageText(time.Duration(s.MaxAgeSeconds)*time.Second))
	}
	if s.SitemapsCut > 0 {
		fmt.Fprintf(&b, "; %s with more sitemaps than are listed", grouped(s.SitemapsCut))
	}
	if s.OutputsKept > 0 {
		fmt.Fprintf(&b, "; %d of %s were done before", s.OutputsKept, counted(int64(len(s.Outputs)), "output", "outputs"))
	}
	fmt.Fprintf(&b, "; %s, %s without robots.txt; %s s, %s URLs a second",
		counted(s.Authorities, "authority", "authorities"), grouped(s.AuthoritiesWithout), secondsText(s.Seconds), grouped(s.URLsPerSecond))
	return b.String()
}

// secondsText has more digits where there is less time.
func secondsText(seconds float64) string {
	if seconds < 1 {
		return fmt.Sprintf("%.3f", seconds)
	}
	return fmt.Sprintf("%.2f", seconds)
}

// attrs is the summary for structured logs.
func (s *summary) attrs() []any {
	return []any{"summary", s}
}

// writeTo writes the summary as JSON and completes w.
func (s *summary) writeTo(w blob.Writer) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		_, err = w.Write(append(data, '\n'))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		w.Abort()
		return fmt.Errorf("-summary-json: %w", err)
	}
	return nil
}
