package jsonl

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
)

// FuzzIndex reads a crawl index: a row for each line that is not blank, whose URL
// is that of its object, and every line comes out as one object.
func FuzzIndex(f *testing.F) {
	f.Add("com,example)/ 20250101000000 {\"url\": \"http://example.com/\", \"status\": \"200\"}\r\n\nalone\ntwo words")
	f.Add("!OpenWayback-CDXJ 1.0\ncom,example)/b 2025 {\"timestamp\":\"x\",\"surt\":1,\"url\":\"v\"} \nc 2  not JSON")
	f.Fuzz(func(t *testing.T, input string) {
		batches, err := urls(t, NewCDXJ(strings.NewReader(input), lines.Options{BatchRows: 3}))
		if err != io.EOF {
			t.Fatal(err)
		}
		var want []string
		for line := range strings.SplitSeq(strings.TrimPrefix(input, "\xEF\xBB\xBF"), "\n") {
			if line = strings.Trim(line, " \t\r"); line != "" {
				want = append(want, indexURL(line))
			}
		}
		got := slices.Concat(batches...)
		for i := range got {
			got[i] = asUTF8(got[i])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
		layout := batch.Layout{URLColumn: "url", Verdicts: []batch.VerdictColumn{{Name: "allowed", Kind: batch.Allowed}}}
		out, err := sunk(t, input, lines.Options{}, true, layout)
		if err != nil {
			if !strings.Contains(err.Error(), "already") {
				t.Fatal(err)
			}
			return
		}
		if n := strings.Count(out, "\n"); n != len(want) {
			t.Fatalf("%d lines for %d rows: %q", n, len(want), out)
		}
		for line := range strings.Lines(out) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("%q is no JSON", line)
			}
		}
	})
}

// indexURL is the URL of a line of a crawl index.
func indexURL(line string) string {
	_, rest, _ := strings.Cut(line, " ")
	_, text, _ := strings.Cut(rest, " ")
	var object map[string]any
	if unmarshal(text, &object) == nil && object != nil {
		if url, ok := object["url"].(string); ok {
			return url
		}
	}
	return null
}
