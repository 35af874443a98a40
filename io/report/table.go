package report

import "fmt"

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
