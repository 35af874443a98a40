package stats

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher/usage"
)

// ofObjects counts a survey that is a text of JSON objects.
func ofObjects(t *testing.T, text string, o Options) (*SiteCounter, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "survey.jsonl")
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	return OfSurvey(t.Context(), frontier.Input{Path: name}, frontier.Options{Memory: 64 << 20, Options: lines.Options{BatchRows: 2}}, o)
}

// The memory of a host with many ports is not cleared again for each later host.
func TestSitesOfManyPorts(t *testing.T) {
	counter := newSiteCounter(Options{Site: ByAuthority})
	for _, ports := range []int{1, mostSpare + 1, 1} {
		counter.enter([]byte("com,example\x00"), []byte("com,example"))
		for port := range ports {
			counter.add(fmt.Sprintf("http://example.com:%d", port), "example.com", 0, 0, firstClass)
		}
		counter.leave()
		for _, spare := range counter.spare {
			must.Equal(t, len(spare.states) <= mostSpare, true, ports, "ports")
		}
	}
}

// A survey as JSON is counted as the table is.
func TestAddJSONL(t *testing.T) {
	for _, o := range []Options{{}, {Site: ByAuthority}} {
		var text strings.Builder
		for _, row := range rows {
			text.WriteString("{")
			for i, word := range strings.Fields(row) {
				if rowKeys[i] != rootKey {
					word = fmt.Sprintf("%q", word)
				}
				if word == `"-"` {
					word = "null"
				}
				fmt.Fprintf(&text, "%q:%s,", keys[rowKeys[i]].name, word)
			}
			text.WriteString("\"rules\":3}\n\n")
		}
		tally := must.Get(ofObjects(t, text.String(), o))(t)
		var got strings.Builder
		for _, c := range tally.Table().Counts {
			fmt.Fprintln(&got, textOf(&c))
		}
		must.Equal(t, got.String(), counted(t, o), o)
	}
}

func TestAddJSONLRefuses(t *testing.T) {
	good := `{"authority":"http://a.test","agent":"Bot","class":"with_rules","blocked":"all","by":"name"}` + "\n"
	for text, want := range map[string]string{
		good:                                       `no line has a key "registered_domain": this is not a table that robotsbatch survey wrote`,
		good + "\n[]\n":                            "line 3: it is not a JSON object",
		good + `{"authority":"http://a.test"}`:     "line 2: it has no authority or no agent: this is not a table",
		`{"agent":"Bot"}`:                          "line 1: it has no authority or no agent",
		strings.Replace(good, "all", "most", 1):    `line 1: the column blocked has "most"`,
		`{"authority":1,"agent":"Bot"}`:            "line 1: ",
		good + strings.Repeat("x", 2<<20) + "\n":   "line 2",
		`{"authority":"http://a.test","agent":"B"`: "line 1: ",
	} {
		_, err := ofObjects(t, text, Options{})
		must.Be(t, err != nil && strings.Contains(err.Error(), want), "%.60q: %v, want %s", text, err, want)
	}
	older := `{"authority":"http://a.test","registered_domain":null,"agent":"Bot","blocked":"all","by":"name","access":"rules"}` + "\n"
	_, err := ofObjects(t, older, Options{})
	if want := `line 1: it is a survey of an earlier version: make it again with robotsbatch survey`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	domain := strings.Replace(good, "}", `,"registered_domain":null,"agent_class":null,"root":true}`, 1)
	_, err = ofObjects(t, domain, Options{Uses: []usage.Use{{Key: "train-ai"}}})
	if want := `no line has a key "use_train_ai": make the survey again with use train-ai`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
