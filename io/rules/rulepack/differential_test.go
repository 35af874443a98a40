package rulepack

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/bench/corpus"
	"robotsbatch/io/rules/rulesdir"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// TestReference compares what a pack says of a made-up frontier with the
// reference: verdict, reason, rule, line and agent.
func TestReference(t *testing.T) {
	c := corpus.New(must.Short(corpus.Options{Seed: 7, Origins: 60, URLs: 1000},
		corpus.Options{Seed: 7, Origins: 300, URLs: 6000, Distinct: 0.5, Ports: 0.05, IDN: 0.05}))
	chains := []matcher.Chain{{"*"}, {"CCBot"}, {"Nobody", "GPTBot"}}
	for _, profile := range []struct {
		engine    matcher.Profile
		reference reference.Profile
	}{{robotstxt.RFC9309, reference.RFC9309}, {robotstxt.Google, reference.Google}} {
		p := mustOpen(t, buildCorpus(t, c, profile.engine), Options{Chains: chains, Profile: profile.engine, Explain: true})
		files := make(map[int]reference.File)
		var scratch urls.Scratch
		var target matcher.Target
		var o matcher.Origin
		for origin, url := range c.URLs() {
			authority, path, err := scratch.Split(url)
			if err != nil {
				continue
			}
			must.Do(t, p.Lookup(authority, &o))
			must.Need(t, (o.Access == access.Rules) == (origin.Body >= 0), "%s: access %d, body %d", authority, o.Access, origin.Body)
			if origin.Body < 0 {
				continue
			}
			f, ok := files[origin.Body]
			if !ok {
				f = reference.Parse(c.AppendBody(nil, origin.Body), profile.reference, 0)
				files[origin.Body] = f
			}
			target.Set(path, profile.engine)
			for i, chain := range chains {
				want := reference.Decide(f, chain, string(path), profile.reference)
				if want.Reason == "robots_txt" {
					continue
				}
				d := o.Trie(i).Match(&target)
				rule := matcher.RuleInfo{}
				if d.Reason.HasRule() {
					rule = o.Trie(i).Rule(d.Rule)
				}
				if d.Allowed != want.Allowed || d.Reason.String() != want.Reason || rule.Line != want.Line ||
					string(rule.Text) != want.Rule || string(rule.Agent) != want.Agent {
					t.Fatalf("%s for %v: %+v %+v %q, reference %+v", url, chain, d, rule, rule.Text, want)
				}
			}
		}
	}
}

// buildCorpus makes a pack of a corpus.
func buildCorpus(t testing.TB, c *corpus.Corpus, p matcher.Profile) string {
	var entries []Entry
	for origin := range c.Origins() {
		if origin.Body < 0 {
			continue
		}
		e := Entry{Access: access.Rules, Authority: origin.Authority(), Body: c.AppendBody(nil, origin.Body)}
		entries = append(entries, e)
	}
	return build(t, entries, BuildOptions{Profile: p}, 2)
}

// TestRecords compares the records of made-up bodies, found in a pack by the
// agents' names, with those that the parsed body gives for each chain.
func TestRecords(t *testing.T) {
	lines := []string{
		"User-agent: *", "User-agent: A", "User-agent: a/1", "User-agent: B2", "User-agent: c", "User-agent:", "Disallow: /x",
		"Crawl-delay: 1", "Crawl-delay: 2.5", "Crawl-delay: x", "Sitemap: https://s.test/\xff a", "Sitemap:",
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, profile := range []matcher.Profile{robotstxt.RFC9309, robotstxt.Google} {
		var entries []Entry
		for i := range 2000 {
			var text strings.Builder
			for range 1 + rng.IntN(12) {
				text.WriteString(lines[rng.IntN(len(lines))] + "\n")
			}
			entries = append(entries, body(fmt.Sprintf("http://%d.example", i), text.String()))
		}
		p := mustOpen(t, build(t, entries, BuildOptions{Profile: profile}, 2), Options{
			Chains: []matcher.Chain{{"*"}, {"A"}, {"B2"}, {"D", "c", "a"}}, Profile: profile, Explain: true, Records: true,
		})
		for _, e := range entries {
			err := checkEntry(p, e)
			must.Need(t, err == nil, "%v\n%s", err, e.Body)
		}
	}
}

// TestFolderAndPack evaluates the sample through its folder and through a pack of
// it: the same verdicts, with the same explanations and records.
func TestFolderAndPack(t *testing.T) {
	const sample = "../../../bench/corpus/sample"
	for _, profile := range []matcher.Profile{robotstxt.RFC9309, robotstxt.Google} {
		chains := []matcher.Chain{{"CCBot"}, {"Nobody", "GPTBot"}, {"*"}}
		open := func(explain bool) *rulesdir.Dir {
			o := rulesdir.Options{Chains: chains, Profile: profile, Explain: explain, Records: true, Digests: true}
			folder := must.Get(rulesdir.Open(t.Context(), filepath.Join(sample, "rules"), o))(t)
			t.Cleanup(func() { folder.Close() })
			return folder
		}
		name := filepath.Join(t.TempDir(), "sample.rules")
		b := must.Get(Create(context.Background(), name, BuildOptions{Profile: profile}))(t)
		defer b.Abort()
		must.Do(t, open(false).Walk(2, func() {}, func(authority, body []byte) error {
			return b.Add(Entry{Authority: authority, Access: access.Rules, Body: body})
		}))
		must.Get(b.Finish())(t)
		urls := sampleURLs(t, filepath.Join(sample, "frontier.txt.zst"))
		for _, explain := range []bool{false, true} {
			pack := mustOpen(t, name, Options{Chains: chains, Profile: profile, Explain: explain, Records: true})
			o := evaluate.Options{Agents: len(chains), Profile: profile, Explain: explain, Columns: factColumns(t)}
			want, got := verdictsOf(t, open(explain), urls, o), verdictsOf(t, pack, urls, o)
			for row := range want.Rows {
				a, b := factsOf(want, row), factsOf(got, row)
				must.Need(t, reflect.DeepEqual(a, b), "%s: row %d has %+v, by the folder %+v", profile, row, b, a)
			}
			for agent := range chains {
				a, b := rows(&want.Agents[agent], want.Rows), rows(&got.Agents[agent], got.Rows)
				for row := range a {
					must.Need(t, a[row] == b[row], "%s, explain %v: row %d for %v is %s, by the folder %s", profile, explain, row, chains[agent], b[row], a[row])
				}
			}
		}
	}
}

// factColumns are the columns of what is known of a robots.txt.
func factColumns(t *testing.T) (columns []batch.VerdictColumn) {
	for _, name := range batch.WithNames() {
		kind := must.Get(batch.ParseWith(name))(t)
		columns = append(columns, batch.VerdictColumn{Name: name, Kind: kind})
	}
	return columns
}

// factsOf are a row's facts.
func factsOf(v *batch.Verdicts, row int) (facts []any) {
	for i := range v.Columns {
		var fact any
		switch c := &v.Columns[i]; {
		case c.At(row) < 0:
		case c.Floats != nil:
			fact = c.Floats[c.At(row)]
		case c.Texts != nil:
			fact = c.Texts[c.At(row)]
		case c.Lists != nil:
			fact = c.Lists[c.At(row)]
		default:
			fact = c.Ints[c.At(row)]
		}
		facts = append(facts, fact)
	}
	return facts
}

// rows are an agent's verdicts with all that explains them.
func rows(v *batch.AgentVerdicts, n int) []string {
	list := make([]string, n)
	for row := range list {
		list[row] = fmt.Sprint(v.Allowed[row/8]>>(row%8)&1, v.Valid[row/8]>>(row%8)&1)
		if v.Reasons != nil {
			list[row] += v.Reasons[row].String()
		}
		if v.Rules != nil && v.Rules[row] >= 0 {
			list[row] += fmt.Sprintf(" %+v", v.Explanations[v.Rules[row]])
		}
	}
	return list
}

func sampleURLs(t *testing.T, name string) *batch.Batch {
	t.Helper()
	decoder := must.Get(zstd.NewReader(nil))(t)
	defer decoder.Close()
	packed := must.Get(os.ReadFile(name))(t)
	list := must.Get(decoder.DecodeAll(packed, nil))(t)
	column := batch.Column{Offsets64: []int64{0}}
	for line := range bytes.Lines(list) {
		column.Data = append(column.Data, bytes.TrimRight(line, "\r\n")...)
		column.Offsets64 = append(column.Offsets64, int64(len(column.Data)))
	}
	return &batch.Batch{URLs: column}
}

func verdictsOf(t *testing.T, origins matcher.Origins, b *batch.Batch, o evaluate.Options) *batch.Verdicts {
	t.Helper()
	var v batch.Verdicts
	must.Do(t, evaluate.New(origins, o).Evaluate(b, &v))
	must.Need(t, v.Rows >= 1000, "%d rows", v.Rows)
	return &v
}
