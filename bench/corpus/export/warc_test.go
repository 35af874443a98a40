package export_test

import (
	"os"
	"path/filepath"
	"testing"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/warc"
	"robotsbatch/io/store/must"
)

// TestCrawl: the files are like those of crawlers, and have the captures and bodies asked
// for.
func TestCrawl(t *testing.T) {
	folder := t.TempDir()
	c := corpus.New(corpus.Options{Origins: 500, Missing: 0.45, Rules: 60, Bare: true})
	must.Do(t, export.Crawl(folder, c, 3))
	files := must.Get(filepath.Glob(filepath.Join(folder, "*.warc.gz")))(t)
	must.Equal(t, len(files), 3, "files")
	bodies := make(map[string]bool)
	for i := range c.Bodies() {
		bodies[string(c.AppendBody(nil, i))] = true
	}
	statuses := make(map[int]int)
	total := 0
	for _, name := range files {
		f := must.Get(os.Open(name))(t)
		defer f.Close()
		r, err := warc.NewReader(f, warc.Options{Name: name, Broken: func(err error) { t.Error(err) }})
		must.Do(t, err)
		var x captures.Capture
		for r.Next(&x) == nil {
			total++
			statuses[x.Status]++
			if x.Status == 200 && !bodies[string(x.Body)] {
				t.Errorf("%s has a body that is not listed", x.URL)
			}
			must.Equal(t, x.Status/100 == 3, len(x.Location) > 0, x.URL, "status", x.Status, "Location", x.Location)
		}
		if n := r.Stats(); n.Records != 3*n.Responses+1 {
			t.Errorf("%s: %+v", name, n)
		}
	}
	if total != 500 || statuses[200] < 200 || statuses[404] < 50 || statuses[301] < 30 || statuses[503] == 0 {
		t.Errorf("statuses %v of %d", statuses, total)
	}
}
