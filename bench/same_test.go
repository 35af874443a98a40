package bench

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/frontier/arrowipc"
	"robotsbatch/io/frontier/delimited"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/text"
	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

// TestVerdictsAreTheSameHoweverTheyCome: a row's verdict does not depend on the format of
// the frontier, the size of batches, the number of workers or the other rows.
func TestVerdictsAreTheSameHoweverTheyCome(t *testing.T) {
	dir := t.TempDir()
	c := corpus.New(corpus.Options{Origins: 100, URLs: 1500, Seed: 3})
	must.Do(t, export.Rules(filepath.Join(dir, "rules"), c))
	var grouped []string
	for _, url := range c.URLs() {
		grouped = append(grouped, string(url))
	}
	grouped = append(grouped, "gopher://a.example/", "http://unknown.example/robots.txt")
	mixed := append([]string(nil), grouped...)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })

	verdictOf := make(map[string]string)
	for order, urls := range map[string][]string{"grouped": grouped, "shuffled": mixed} {
		list := filepath.Join(dir, order+".txt")
		must.Do(t, os.WriteFile(list, []byte(strings.Join(urls, "\n")+"\n"), 0o666))
		for _, input := range forms(t, dir, list) {
			for _, rows := range []int{1, 1000, 65536} {
				for _, workers := range []int{1, 2, 8} {
					name := fmt.Sprintf("%s %s, %d rows a batch, %d workers", order, filepath.Base(input), rows, workers)
					lines := strings.Split(verdictLines(t, dir, input, rows, workers), "\n")
					lines = lines[:len(lines)-1]
					must.Need(t, len(lines) == len(urls), "%s: %d rows of %d", name, len(lines), len(urls))
					for i, url := range urls {
						if want, ok := verdictOf[url]; !ok {
							verdictOf[url] = lines[i]
						} else if lines[i] != want {
							t.Fatalf("%s: row %d: %s is %s, was %s", name, i, url, lines[i], want)
						}
					}
				}
			}
		}
	}
	seen := make(map[string]bool)
	for _, verdict := range verdictOf {
		seen[strings.SplitN(verdict, ",", 3)[1]] = true
	}
	must.Be(t, len(seen) >= 6, "only the reasons %v: the test says little", seen)
}

// forms writes a list in all formats of frontiers.
func forms(t *testing.T, dir, list string) []string {
	t.Helper()
	names := []string{list}
	data := must.Get(os.ReadFile(list))(t)
	for codec, ending := range map[compress.Codec]string{compress.Gzip: ".gz", compress.Zstd: ".zst"} {
		packed := must.Get(compress.AppendCompressed(nil, data, codec))(t)
		must.Do(t, os.WriteFile(list+ending, packed, 0o666))
		names = append(names, list+ending)
	}
	for _, codec := range []compress.Codec{compress.None, compress.LZ4, compress.Zstd} {
		for _, ending := range []string{".arrow", ".arrows"} {
			name := strings.TrimSuffix(list, ".txt") + "." + codec.String() + ending
			sink := create(t, name, func(w blob.Writer) (batch.Sink, error) {
				return arrowipc.NewSink(w, arrowipc.SinkOptions{
					Layout: batch.Layout{Keep: batch.KeepURL, URLColumn: "url"}, Codec: codec, Stream: ending == ".arrows",
				})
			})
			source, closeSource := openFrontier(t, list, 700)
			must.Get(batch.Run(context.Background(), source, sink, evaluator(&ruletable.Table{}, evaluate.Options{}), batch.Options{}))(t)
			closeSource()
			names = append(names, name)
		}
	}
	return names
}

func create(t *testing.T, name string, open func(blob.Writer) (batch.Sink, error)) batch.Sink {
	t.Helper()
	w := must.Get(blob.Create(t.Context(), name))(t)
	return must.Get(open(w))(t)
}

func openFrontier(t *testing.T, name string, rows int) (batch.Source, func()) {
	t.Helper()
	file := must.Get(blob.Open(t.Context(), name))(t)
	if strings.HasSuffix(name, ".arrow") {
		size, _ := file.Size()
		source := must.Get(arrowipc.OpenFile(file, size, arrowipc.Options{Name: name, BatchRows: rows}))(t)
		return source, func() { source.Close(); file.Close() }
	}
	kind, _, r, err := format.Sniff(file, filepath.Base(name))
	must.Do(t, err)
	if kind == format.Text {
		source := text.NewSource(r, lines.Options{Name: name, BatchRows: rows})
		return source, func() { source.Close(); r.Close(); file.Close() }
	}
	source := must.Get(arrowipc.OpenStream(r, arrowipc.Options{Name: name, BatchRows: rows}))(t)
	return source, func() { source.Close(); r.Close(); file.Close() }
}

// evaluator returns the function that makes evaluators for a job.
func evaluator(origins matcher.Origins, o evaluate.Options) func() batch.Evaluator {
	return func() batch.Evaluator { return evaluate.New(origins, o) }
}

// verdictLines returns the verdicts for two agents, with explanations, as csv lines.
func verdictLines(t *testing.T, dir, input string, rows, workers int) string {
	t.Helper()
	chains := []matcher.Chain{{"CCBot"}, {"Googlebot", "*"}}
	rules := must.Get(rulesdir.Open(t.Context(), filepath.Join(dir, "rules"), rulesdir.Options{Chains: chains, Explain: true}))(t)
	defer rules.Close()
	columns := must.Get(batch.VerdictColumns(batch.ColumnOptions{Agents: []string{"CCBot", "Googlebot"}, Explain: true}))(t)
	output := filepath.Join(dir, "verdicts.csv")
	sink := create(t, output, func(w blob.Writer) (batch.Sink, error) {
		return delimited.NewSink(w, lines.SinkOptions{Layout: batch.Layout{Keep: batch.KeepNone, URLColumn: "url", Verdicts: columns}})
	})
	source, closeSource := openFrontier(t, input, rows)
	defer closeSource()
	explain := evaluator(rules, evaluate.Options{Agents: len(chains), Explain: true})
	must.Get(batch.Run(context.Background(), source, sink, explain, batch.Options{Workers: workers}))(t)
	data := must.Get(os.ReadFile(output))(t)
	_, lines, _ := bytes.Cut(data, []byte("\n"))
	return string(lines)
}
