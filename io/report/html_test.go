package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/tally"
	"robotsbatch/io/report/export"
	"robotsbatch/io/report/stats"
	"robotsbatch/io/store/must"
)

// What comes from outside is escaped, and what was counted is there.
func TestHTML(t *testing.T) {
	counts := tally.New(1)
	counts.Reasons[0][2] = 7
	counts.Rules.Add([]byte("*\nDisallow: /<script>\x1b[31m"), 7)
	counts.Largest.Add([]byte("https://a.test"), 9).Rows = 9
	counts.Authorities.Add([]byte("https://a.test"), 9, 7)
	s := &Summary{Version: "devel", Profile: "rfc9309", Complete: true, Inputs: []string{"/home/me/a\"<b>.csv"}, Agents: []Agent{{Agent: "CCBot"}}}
	s.Weigh("bytes")
	s.Add("out.csv", &batch.Stats{Rows: 9, Counters: batch.Counters{NoRobots: 1}, Agents: []batch.Counts{{RowCounts: batch.RowCounts{Allowed: 2, Denied: 7}}}})
	started := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	must.Do(t, HTML(s, counts, started).Write(&out))
	text := strings.ReplaceAll(out.String(), "\u00a0", " ")
	for _, want := range []string{
		"Read a&#34;&lt;b&gt;.csv by the rules of", "<code>Disallow: /&lt;script&gt;%1B[31m", "<dd>87.5 %</dd>", "A disallow rule matches", "By bytes",
		`<p class="finding">Of 8 URLs whose robots.txt is known, 87.5 % are closed to CCBot; for 11.1 % of all 9 none is known.</p>`,
		// Of 2 allowed rows one is allowed because no robots.txt is known.
		`7 denied, 1 allowed by robots.txt, 1 allowed because no robots.txt is known`,
	} {
		must.Be(t, strings.Contains(text, want), "there is no %s", want)
	}
	must.Be(t, !strings.Contains(text, "/home/me"), "the page has the path of a machine")
	must.Be(t, strings.Count(text, "<script>") == 1 && !strings.Contains(text, "\x1b"), "text from outside is not escaped")
}

// A share that is not nothing is not called 0, and one that is not all is not called 100.
func TestPercent(t *testing.T) {
	for _, test := range []struct {
		part, whole int64
		want        string
	}{
		{0, 9, "0.0 %"}, {1, 100_000, "<0.1 %"}, {1, 1000, "0.1 %"}, {99_999, 100_000, ">99.9 %"}, {9, 9, "100.0 %"}, {0, 0, "–"}, {1, 3, "33.3 %"},
	} {
		must.Equal(t, percent(test.part, test.whole), test.want, test.part, test.whole)
	}
}

// Rules that close a whole site are counted as that, however they are written.
func TestWholeSites(t *testing.T) {
	counts := tally.New(1)
	for rule, rows := range map[string]int64{"Disallow: /": 2, "disallow:/*": 1, "Disallow /": 1, "Disallow: /**": 1, "Disallow :\t/*$": 1, "Disallow: */": 1, "Disallow: /a": 1, "Disallow: /*?": 1, "Disallow: /$": 1} {
		counts.Rules.Add([]byte("*\n"+rule), rows)
	}
	got := htmlPage{&Summary{}, counts}.wholeSites()
	want := "70.0 % of all 10 denials are by rules that close a whole site"
	must.Be(t, strings.HasPrefix(got, want), "%s, want %s", got, want)
}

// The page of a history says the latest finding first and then the first month's, each with its
// number of sites, and what sites with a capture in each month say; it has a line for each agent,
// the span of the captures, and no share of sites without an answer.
func TestStatsOverTime(t *testing.T) {
	table := &stats.Table{First: time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC), Last: time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)}
	for i, month := range []string{"2026-01", "2026-02", "2026-03"} {
		n := int64(i)
		for _, rank := range []int{stats.All, stats.Panel} {
			classes := [export.Classes]int64{export.WithRules: 8 + n, export.OldCopy: 1, export.Unreachable: 1}
			if rank == stats.Panel {
				classes = [export.Classes]int64{export.WithRules: 6}
			}
			base := classes[export.WithRules]
			table.Counts = append(table.Counts,
				stats.Count{Month: month, Rank: rank, Agent: "any of 2", AnyOf: 2, Classes: classes, Base: base, Full: 2 * n, None: base - 2*n, FullNamed: n, Root: 2 * n},
				stats.Count{Month: month, Rank: rank, Agent: "GPTBot", Classes: classes, Base: base, Full: n, None: base - n, Root: n},
				stats.Count{Month: month, Rank: rank, Agent: "<Bot>", Classes: classes, Base: base, None: base})
		}
	}
	var out bytes.Buffer
	must.Do(t, statsPage(table, &StatsOrigin{Name: "x.rules", Version: "devel", Made: time.Now()}).Write(&out))
	for _, want := range []string{
		`<p class="finding">40.0 % of 10 sites that were reached deny everything to at least one of 2 agents, 50.0 % of them by name.</p>`,
		"<p>In 2026-01 it was 0.0 % of 8 sites. Of the 6 sites with a capture in each month it was 0.0 % in 2026-01 and is 66.7 % now. 20.0 % deny everything to GPTBot, 0.0 % of them by name. 20.0 % deny it the front page. 2 sites gave no answer: these are in no share.",
		"Captures from 5 January 2026 to 9 March 2026; n is 8 in 2026-01 and 10 in 2026-03.", "Panel: sites (registered domains) with a capture in each month over time",
		"12 sites: 10 reached (10 with_rules, 0 html, 0 refused, 0 no_file, 0 other), 1 old_copy, 1 unreachable. Shares are of the 10 sites that were reached.",
		"by how much they deny each agent: shares of 10 sites that were reached",
		"&lt;Bot&gt; from 0.0 % to 0.0 %", `<polyline class="line0" points="0.00,220.00 `, "<summary>The numbers of each month</summary>",
	} {
		must.Be(t, strings.Contains(strings.ReplaceAll(out.String(), "\u00a0", " "), want), "there is no %s in %s", want, out.String())
	}
	must.Be(t, !strings.Contains(out.String(), "<Bot>"), "an agent is not escaped")
}
