package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"robotsbatch/batch/compare"
	"robotsbatch/io/report/export"
	"robotsbatch/io/store/runs"
)

// shownChanges is the number of authorities, and of rules, that a summary of changes names.
const shownChanges = 10

// ChangeCounter counts changed verdicts, in bounded memory. It is safe for concurrent use.
type ChangeCounter struct {
	mu     sync.Mutex
	agents []AgentChanges
	// hosts counts by authority, and rules by the text of the rule that now decides. A key is this name,
	// a zero byte and the new verdict as a byte.
	hosts, rules *runs.Counter
}

// NewChangeCounter returns a ChangeCounter for agents that takes about memory bytes, and has its temporary
// files in a folder.
func NewChangeCounter(agents []string, memory int64, folder string) *ChangeCounter {
	t := &ChangeCounter{hosts: runs.NewCounter(memory/2, folder), rules: runs.NewCounter(memory/2, folder)}
	for _, name := range agents {
		t.agents = append(t.agents, AgentChanges{Name: name})
	}
	return t
}

// Close removes temporary files.
func (t *ChangeCounter) Close() {
	t.hosts.Close()
	t.rules.Close()
}

// Add counts a changed verdict: by agent, by authority, and by the rule that now decides. An authority
// is counted once for each new verdict of a row, whichever agents have it, and so is a rule.
func (t *ChangeCounter) Add(c *compare.Change) error {
	t.mu.Lock()
	t.agents[c.Agent].add(c.New, 1)
	t.mu.Unlock()
	if !c.SameVerdict { // another agent has not counted this verdict of the row
		authority := c.Authority[:min(len(c.Authority), runs.MaxKey-2)] // 2 bytes follow; a longer one is no host's
		if err := t.hosts.Add(append(bytes.Clone(authority), 0, byte(c.New)), 1); err != nil {
			return err
		}
	}
	if c.SameRule {
		return nil
	}
	rule := c.Rule
	switch {
	case rule == "":
		rule = c.Reason.String()
	case c.Gone:
		rule = "gone: " + rule
	}
	return t.rules.Add(append([]byte(rule), 0, byte(c.New)), 1)
}

// Changes are the verdicts that changed between two sets of rules.
type Changes struct {
	Version string `json:"version"`
	// Rows counts all rows that were read, and RowsChanged those whose verdict changed for some agent.
	Rows        int64          `json:"rows"`
	RowsChanged int64          `json:"rows_changed"`
	Agents      []AgentChanges `json:"agents"`
	// Authorities counts those with changes. Top has those with the most changes, and Rules the rules
	// that make the most.
	Authorities int64        `json:"authorities_changed"`
	Top         []ChangedKey `json:"top_authorities"`
	Rules       []ChangedKey `json:"top_rules"`
	Seconds     float64      `json:"seconds"`
}

// ChangedVerdicts counts verdicts that changed, by what they are now.
type ChangedVerdicts struct {
	Denied  int64 `json:"denied"`
	Allowed int64 `json:"allowed"`
	None    int64 `json:"no_verdict"`
}

// add counts n verdicts that are now this one.
func (c *ChangedVerdicts) add(now compare.Verdict, n int64) {
	switch now {
	case compare.Denied:
		c.Denied += n
	case compare.Allowed:
		c.Allowed += n
	default:
		c.None += n
	}
}

func (c *ChangedVerdicts) total() int64 { return c.Denied + c.Allowed + c.None }

// AgentChanges are an agent's verdicts that changed.
type AgentChanges struct {
	Name string `json:"agent"`
	ChangedVerdicts
}

// ChangedKey is an authority or a rule with the rows whose verdict changed there, each once for
// each new verdict, whichever agents have it.
type ChangedKey struct {
	Name string `json:"name"`
	ChangedVerdicts
}

// Changes returns the counts, with the authorities and rules that have the most changes.
// Nothing can be added afterwards.
func (t *ChangeCounter) Changes() (*Changes, error) {
	c := &Changes{Agents: t.agents}
	var err error
	if c.Top, c.Authorities, err = mostChanged(t.hosts); err == nil {
		c.Rules, _, err = mostChanged(t.rules)
	}
	return c, err
}

// mostChanged returns the shownChanges names of a counter with the most changes, and the number of all
// names. The counter's keys come in order, so that those of a name, one a verdict, follow each other.
func mostChanged(counter *runs.Counter) (top []ChangedKey, names int64, err error) {
	var now ChangedKey
	addName := func() {
		if now.total() == 0 { // before the first name
			return
		}
		names++
		top = append(top, now)
		slices.SortStableFunc(top, func(a, b ChangedKey) int { return cmp.Compare(b.total(), a.total()) })
		top = top[:min(len(top), shownChanges)]
	}
	err = counter.Merge(func(key []byte, n int64) error {
		name, verdict, _ := bytes.Cut(key, []byte{0})
		if string(name) != now.Name {
			addName()
			now = ChangedKey{Name: string(name)}
		}
		now.add(compare.Verdict(verdict[0]), n)
		return nil
	})
	addName()
	return top, names, err
}

// String returns the summary for people, on several lines.
func (c *Changes) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s change their verdict, of %s\n", Number(c.RowsChanged), Count(c.Rows, "row", "rows"), Count(c.Authorities, "host", "hosts"))
	if c.RowsChanged == 0 {
		return b.String()
	}
	var agents []ChangedKey
	for _, a := range c.Agents {
		agents = append(agents, ChangedKey(a))
	}
	for _, part := range []struct {
		title string
		keys  []ChangedKey
	}{{"agent", agents}, {"host", c.Top}, {"rule", c.Rules}} {
		rows := [][]string{{part.title, "now denied", "now allowed", "no verdict now"}}
		for _, k := range part.keys {
			rows = append(rows, []string{Printable(k.Name), Number(k.Denied), Number(k.Allowed), Number(k.None)})
		}
		b.WriteString("\n" + alignColumns(rows))
	}
	return b.String()
}

// alignColumns returns rows as text with columns: the first one to the left, the others, which
// have numbers, to the right.
func alignColumns(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := "  " + row[0] + strings.Repeat(" ", widths[0]-len([]rune(row[0])))
		for i, cell := range row[1:] {
			line += "  " + strings.Repeat(" ", widths[i+1]-len([]rune(cell))) + cell
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// AccessChanges are the authorities whose access changed between two sets of rules.
type AccessChanges struct {
	Version string `json:"version"`
	export.Changed
	Seconds float64 `json:"seconds"`
}

// String returns the summary for people, on several lines.
func (c *AccessChanges) String() string {
	text := fmt.Sprintf("%s of %s change access for an agent\n", Number(c.Different), Count(c.Authorities, "host", "hosts"))
	if c.Different > 0 {
		rows := [][]string{{"agent", "closed", "opened", "other rules", "added", "removed"}}
		for _, a := range c.Agents {
			rows = append(rows, []string{Printable(a.Agent), Number(a.Closed), Number(a.Opened), Number(a.Rules), Number(a.Added), Number(a.Removed)})
		}
		text += "\n" + alignColumns(rows)
	}
	if c.Stating == nil {
		return text
	}
	if c.Different > 0 {
		text += "\n"
	}
	text += fmt.Sprintf("%s of %s state something else about a use\n", Number(*c.Stating), Count(c.Authorities, "host", "hosts"))
	if *c.Stating == 0 {
		return text
	}
	rows := [][]string{{"agent and use", "now disallowed", "now allowed", "other"}}
	for _, u := range c.Uses {
		rows = append(rows, []string{Printable(u.Agent + " " + u.Use), Number(u.Disallowed), Number(u.Allowed), Number(u.Other)})
	}
	return text + "\n" + alignColumns(rows)
}
