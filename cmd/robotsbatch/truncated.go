package main

import (
	"fmt"

	"robotsbatch/io/frontier"
)

// truncatedSummary is a truncated input in the summary.
type truncatedSummary struct {
	Input string `json:"input"`
	// Rows that came before the cut.
	Rows int64 `json:"rows"`
}

// reportTruncated says which inputs of an output that is done were cut.
func (j *job) reportTruncated(src *frontier.Concatenation) {
	for _, t := range src.Truncated() {
		j.log.warn(fmt.Sprintf("%s is cut, and its first %s taken: %v", t.Input, counted(t.Rows, "row was", "rows were"), t.Err))
		j.summary.Truncated = append(j.summary.Truncated, truncatedSummary{t.Input, t.Rows})
	}
}
