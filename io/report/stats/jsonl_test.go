package stats

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// A survey as JSON is counted as the table is.
func TestAddJSONL(t *testing.T) {
	for _, o := range []Options{{}, {Site: ByAuthority}} {
		var text strings.Builder
		for _, row := range rows {
			text.WriteString("{")
			for i, word := range strings.Fields(row) {
				if word = fmt.Sprintf("%q", word); word == `"-"` {
					word = "null"
				}
				fmt.Fprintf(&text, "%q:%s,", columnNames[i], word)
			}
			text.WriteString("\"rules\":3}\n\n")
		}
		tally := newTally(o)
		if err := tally.addJSONL(context.Background(), strings.NewReader(text.String())); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, c := range tally.Tables() {
			fmt.Fprintln(&got, c)
		}
		if want := counted(t, o); got.String() != want {
			t.Errorf("%+v: %s\nwant\n%s", o, got.String(), want)
		}
	}
}

func TestAddJSONLRefuses(t *testing.T) {
	good := `{"authority":"http://a.test","agent":"Bot","blocked":"all","by":"name"}` + "\n"
	for text, want := range map[string]string{
		good + "\n[]\n":                            "line 3: it is not an object of a survey",
		good + `{"authority":"http://a.test"}`:     "line 2: it has no authority or no agent: this is not a table",
		`{"agent":"Bot"}`:                          "line 1: it has no authority or no agent",
		strings.Replace(good, "all", "most", 1):    `line 1: the column blocked has "most"`,
		`{"authority":1,"agent":"Bot"}`:            "line 1: it is not an object",
		good + strings.Repeat("x", 2<<20) + "\n":   "jsonl: ",
		`{"authority":"http://a.test","agent":"B"`: "line 1: it is not an object",
	} {
		err := newTally(Options{}).addJSONL(context.Background(), strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}
