package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/tally"
)

// What comes from outside is escaped, and what was counted is there.
func TestHTML(t *testing.T) {
	counts := tally.New(1)
	counts.Reasons[0][2] = 7
	counts.Rules.Add([]byte("*\nDisallow: /<script>\x1b[31m"), 7)
	counts.Largest.Add([]byte("https://a.test"), 9).Rows = 9
	counts.Authorities.Add([]byte("https://a.test"), 9, 7)
	s := &Summary{Version: "devel", Profile: "rfc9309", Complete: true, Inputs: []string{"a\"<b>.csv"}, Agents: []Agent{{Agent: "CCBot"}}}
	s.Weigh("bytes")
	s.Add("out.csv", &batch.Stats{Rows: 9, Agents: []batch.Counts{{Allowed: 2, Denied: 7}}})
	started := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pace := newPace(started)
	for i := range 10_000 {
		pace.Add(started.Add(time.Duration(i+1)*100*time.Millisecond), int64(i+1)*1000)
	}
	var out bytes.Buffer
	if err := HTML(s, counts, pace, started).Write(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{
		"URLs: a&#34;&lt;b&gt;.csv", "<code>Disallow: /&lt;script&gt;%1B[31m", "<dd>77.8 %</dd>", "disallow rule", "By bytes", "at most 10.0k/s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Count(text, "<script>") != 1 || strings.Contains(text, "\x1b") {
		t.Error("text from outside is not escaped")
	}
	if seconds, rates := pace.rates(); len(seconds) > mostPoints || len(rates) != len(seconds) || seconds[len(seconds)-1] < 990 {
		t.Errorf("%d points", len(seconds))
	}
}
