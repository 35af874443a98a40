package report

import (
	"fmt"
	"time"
)

// TableDone says what was written of a table.
type TableDone struct {
	Version string  `json:"version"`
	Table   string  `json:"table"`
	Rows    int64   `json:"rows"`
	Out     string  `json:"out"`
	Seconds float64 `json:"seconds"`
}

// String is the summary for people.
func (t TableDone) String() string {
	to := t.Out
	if to == "-" {
		to = "stdout"
	}
	return fmt.Sprintf("%s: %s to %s in %.1f s", t.Table, Count(t.Rows, "row", "rows"), to, t.Seconds)
}

// HostsDone says which robots.txt must be fetched for a frontier.
type HostsDone struct {
	Version string `json:"version"`
	// Rows were read, Invalid of which have no authority.
	Rows    int64 `json:"rows"`
	Invalid int64 `json:"invalid"`
	// Authorities are those of the frontier. Of some the robots.txt is missing, of others
	// stale; MissingRows and StaleRows count the rows that wait for them.
	Authorities   int64     `json:"authorities"`
	Missing       int64     `json:"missing"`
	MissingRows   int64     `json:"missing_rows"`
	Stale         int64     `json:"stale"`
	StaleRows     int64     `json:"stale_rows"`
	AsOf          time.Time `json:"as_of"`
	MaxAgeSeconds int64     `json:"max_age_seconds"`
	Out           string    `json:"out"`
	Seconds       float64   `json:"seconds"`
}

// String is the summary for people.
func (h HostsDone) String() string {
	text := fmt.Sprintf("%s of %s: %s missing (%s waiting), %s older than %s (%s waiting)",
		Count(h.Rows, "row", "rows"), Count(h.Authorities, "host", "hosts"),
		Number(h.Missing), Count(h.MissingRows, "row", "rows"),
		Number(h.Stale), Age(time.Duration(h.MaxAgeSeconds)*time.Second), Count(h.StaleRows, "row", "rows"))
	if h.Invalid > 0 {
		text += "; " + Count(h.Invalid, "row without a host", "rows without a host")
	}
	return fmt.Sprintf("%s; %.1f s", text, h.Seconds)
}
