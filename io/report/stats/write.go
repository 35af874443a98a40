package stats

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// writtenCount is a Count in its written form.
type writtenCount struct {
	Month string `json:"month,omitempty"`
	// Rank is "all" or "top 1000".
	Rank        string `json:"rank"`
	Agent       string `json:"agent"`
	Sites       int64  `json:"sites"`
	Full        int64  `json:"full"`
	Partial     int64  `json:"partial"`
	None        int64  `json:"none"`
	Undecided   int64  `json:"undecided"`
	Unreachable int64  `json:"unreachable"`
	// The shares are of the sites that were not unreachable.
	FullShare       float64 `json:"full_share"`
	PartialShare    float64 `json:"partial_share"`
	FullNamed       int64   `json:"full_named"`
	FullEveryone    int64   `json:"full_everyone"`
	PartialNamed    int64   `json:"partial_named"`
	PartialEveryone int64   `json:"partial_everyone"`
}

func rowOf(c Count) writtenCount {
	return writtenCount{
		Month: c.Month, Rank: rankName(c.Rank), Agent: c.Agent, Sites: c.Sites, Full: c.Full, Partial: c.Partial, None: c.None,
		Undecided: c.Undecided, Unreachable: c.Unreachable, FullShare: share(c.Full, c.Reached()), PartialShare: share(c.Partial, c.Reached()),
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
	rows := make([]writtenCount, len(counts))
	for i, c := range counts {
		rows[i] = rowOf(c)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(rows)
}

// WriteCSV writes a header and a line for each count; in a history it begins with the month.
func WriteCSV(w io.Writer, counts []Count) error {
	c := csv.NewWriter(w)
	header := strings.Split("month,rank,agent,sites,full,partial,none,undecided,unreachable,full_share,partial_share,full_named,full_everyone,partial_named,partial_everyone", ",")
	without := 1
	if len(counts) > 0 && counts[0].Month != "" {
		without = 0
	}
	lines := [][]string{header[without:]}
	for _, count := range counts {
		r := rowOf(count)
		line := []string{r.Month, r.Rank, r.Agent}
		for _, n := range []int64{r.Sites, r.Full, r.Partial, r.None, r.Undecided, r.Unreachable} {
			line = append(line, strconv.FormatInt(n, 10))
		}
		for _, x := range []float64{r.FullShare, r.PartialShare} {
			line = append(line, strconv.FormatFloat(x, 'g', -1, 64))
		}
		for _, n := range []int64{r.FullNamed, r.FullEveryone, r.PartialNamed, r.PartialEveryone} {
			line = append(line, strconv.FormatInt(n, 10))
		}
		lines = append(lines, line[without:])
	}
	return c.WriteAll(lines)
}

// WriteText writes a table for each rank, or in a history one of months and agents.
func WriteText(w io.Writer, counts []Count, site Site) error {
	var b strings.Builder
	if len(counts) > 0 && counts[0].Month != "" {
		writeMonths(&b, counts, site)
	} else {
		writeRanks(&b, counts, site)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeRanks(b *strings.Builder, counts []Count, site Site) {
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
			fmt.Fprintf(b, "%s %s\n", rankName(c.Rank), site)
			fmt.Fprintf(b, "%-*s  %9s  %22s  %22s  %9s  %9s  %11s\n", width, "", "", "all denied", "some denied", "", "", "")
			fmt.Fprintf(b, "%-*s  %9s  %8s %13s  %8s %13s  %9s  %9s  %11s\n", width, "agent", "sites", "share", "by name   by *", "share", "by name   by *", "none", "undecided", "unreachable")
		}
		fmt.Fprintf(b, "%-*s  %9d  %7.2f%% %6d %7d  %7.2f%% %6d %7d  %9d  %9d  %11d\n", width, c.Agent, c.Sites,
			100*share(c.Full, c.Reached()), c.FullNamed, c.FullEveryone, 100*share(c.Partial, c.Reached()), c.PartialNamed, c.PartialEveryone, c.None, c.Undecided, c.Unreachable)
	}
}

// mostInText is how many agents have a column in a text of months.
const mostInText = 6

// writeMonths writes the share of sites that deny all, with a line for each month.
func writeMonths(b *strings.Builder, counts []Count, site Site) {
	for _, rank := range History(counts) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		shown := min(len(rank.Agents), mostInText)
		fmt.Fprintf(b, "%s %s: share that denies all\n%-7s  %9s  %11s", rankName(rank.Rank), site, "month", "sites", "unreachable")
		for _, agent := range rank.Agents[:shown] {
			fmt.Fprintf(b, "  %*s", max(8, len(agent)), agent)
		}
		b.WriteByte('\n')
		for month, name := range rank.Months {
			for i, agent := range rank.Agents[:shown] {
				c := &rank.Counts[i][month]
				if i == 0 {
					fmt.Fprintf(b, "%-7s  %9d  %11d", name, c.Sites, c.Unreachable)
				}
				fmt.Fprintf(b, "  %*s", max(8, len(agent)), fmt.Sprintf("%.2f%%", 100*share(c.Full, c.Reached())))
			}
			b.WriteByte('\n')
		}
		if more := len(rank.Agents) - shown; more > 0 {
			fmt.Fprintf(b, "and %d agents more: csv has all\n", more)
		}
	}
}

// RankHistory has the counts of a rank over time.
type RankHistory struct {
	Rank           int
	Months, Agents []string
	// Counts are those of each agent, and of each an element for each month; one without
	// sites where nothing was known yet.
	Counts [][]Count
}

// History arranges what Tables returns of months by rank, agent and month.
func History(counts []Count) []RankHistory {
	var all []RankHistory
	var months []string
	for _, c := range counts {
		if len(months) == 0 || months[len(months)-1] != c.Month {
			months = append(months, c.Month)
		}
	}
	for _, c := range counts {
		r := slices.IndexFunc(all, func(r RankHistory) bool { return r.Rank == c.Rank })
		if r < 0 {
			r = len(all)
			all = append(all, RankHistory{Rank: c.Rank, Months: months})
		}
		a := slices.Index(all[r].Agents, c.Agent)
		if a < 0 {
			a = len(all[r].Agents)
			all[r].Agents = append(all[r].Agents, c.Agent)
			all[r].Counts = append(all[r].Counts, make([]Count, len(months)))
		}
		all[r].Counts[a][slices.Index(months, c.Month)] = c
	}
	slices.SortStableFunc(all, func(a, b RankHistory) int { return a.Rank - b.Rank })
	return all
}
