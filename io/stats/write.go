package stats

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// row is a Count in its written form.
type row struct {
	// Rank is "all" or "top 1000".
	Rank            string  `json:"rank"`
	Agent           string  `json:"agent"`
	Sites           int64   `json:"sites"`
	Full            int64   `json:"full"`
	Partial         int64   `json:"partial"`
	None            int64   `json:"none"`
	Undecided       int64   `json:"undecided"`
	FullShare       float64 `json:"full_share"`
	PartialShare    float64 `json:"partial_share"`
	FullNamed       int64   `json:"full_named"`
	FullEveryone    int64   `json:"full_everyone"`
	PartialNamed    int64   `json:"partial_named"`
	PartialEveryone int64   `json:"partial_everyone"`
}

func rowOf(c Count) row {
	return row{
		Rank: rankName(c.Rank), Agent: c.Agent, Sites: c.Sites, Full: c.Full, Partial: c.Partial, None: c.None, Undecided: c.Undecided,
		FullShare: share(c.Full, c.Sites), PartialShare: share(c.Partial, c.Sites),
		FullNamed: c.FullNamed, FullEveryone: c.FullEveryone, PartialNamed: c.PartialNamed, PartialEveryone: c.PartialEveryone,
	}
}

func rankName(rank int) string {
	if rank == All {
		return "all"
	}
	return fmt.Sprintf("top %d", rank)
}

func share(part, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// WriteJSON writes an array with an object for each count.
func WriteJSON(w io.Writer, counts []Count) error {
	rows := make([]row, len(counts))
	for i, c := range counts {
		rows[i] = rowOf(c)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(rows)
}

// WriteCSV writes a header and a line for each count.
func WriteCSV(w io.Writer, counts []Count) error {
	c := csv.NewWriter(w)
	lines := [][]string{strings.Split("rank,agent,sites,full,partial,none,undecided,full_share,partial_share,full_named,full_everyone,partial_named,partial_everyone", ",")}
	for _, count := range counts {
		r := rowOf(count)
		line := []string{r.Rank, r.Agent}
		for _, n := range []int64{r.Sites, r.Full, r.Partial, r.None, r.Undecided} {
			line = append(line, strconv.FormatInt(n, 10))
		}
		for _, x := range []float64{r.FullShare, r.PartialShare} {
			line = append(line, strconv.FormatFloat(x, 'g', -1, 64))
		}
		for _, n := range []int64{r.FullNamed, r.FullEveryone, r.PartialNamed, r.PartialEveryone} {
			line = append(line, strconv.FormatInt(n, 10))
		}
		lines = append(lines, line)
	}
	return c.WriteAll(lines)
}

// WriteText writes a table for each rank. sites names what is counted, such as
// "authorities".
func WriteText(w io.Writer, counts []Count, sites string) error {
	var b strings.Builder
	width := len("agent")
	for _, c := range counts {
		width = max(width, len(c.Agent))
	}
	last := -1
	for _, c := range counts {
		if c.Rank != last {
			if last >= 0 {
				b.WriteByte('\n')
			}
			last = c.Rank
			fmt.Fprintf(&b, "%s %s\n", rankName(c.Rank), sites)
			fmt.Fprintf(&b, "%-*s  %9s  %22s  %22s  %9s  %9s\n", width, "", "", "all denied", "some denied", "", "")
			fmt.Fprintf(&b, "%-*s  %9s  %8s %13s  %8s %13s  %9s  %9s\n", width, "agent", "sites", "share", "by name   by *", "share", "by name   by *", "none", "undecided")
		}
		fmt.Fprintf(&b, "%-*s  %9d  %7.2f%% %6d %7d  %7.2f%% %6d %7d  %9d  %9d\n", width, c.Agent, c.Sites,
			100*share(c.Full, c.Sites), c.FullNamed, c.FullEveryone, 100*share(c.Partial, c.Sites), c.PartialNamed, c.PartialEveryone, c.None, c.Undecided)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
