package evaluate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

// usedLines are lines of robots.txt files for the tests of uses.
var usedLines = []string{
	"User-agent: a", "User-agent: b", "User-agent: *", "Disallow: /x", "Disallow: /", "Allow: /a", "Content-Usage: train-ai=n", "Content-Usage: /a train-ai=y, search=n",
	"Content-Usage: /a*c$ search=y", "Content-Usage: /x/ x", "Content-Signal: ai-train=no,use=full", "Content-Signal: /a ai-train=yes", "Content-Usage: /ab search=n",
	"Content-Usage: /a train-ai=no", "Content-Usage: search=?0, ai=n", "Content-Signal: use=none, ai-train=false",
}

// usedPaths end the URLs of those tests.
var usedPaths = []string{"", "?q", "/", "/a", "/a/b", "/a/c", "/ab", "/abc", "/x", "/x/y", "/robots.txt", "/a/c#f", " "}

// usedBodies returns random bodies by host, and URLs of these hosts with blanks around some.
func usedBodies(random *rand.Rand) (bodies map[string]string, list []string) {
	bodies = make(map[string]string)
	for i := range 6 {
		var body strings.Builder
		for range random.IntN(9) {
			body.WriteString(usedLines[random.IntN(len(usedLines))] + "\n")
		}
		host := fmt.Sprintf("https://h%d.example", i)
		bodies[host] = body.String()
		for range 1 + random.IntN(20) {
			list = append(list, []string{"", "", " "}[random.IntN(3)]+host+usedPaths[random.IntN(len(usedPaths))])
		}
	}
	random.Shuffle(random.IntN(len(list)), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return bodies, append(list, "no URL", "https://unknown.example/a")
}

// usedColumns are columns about uses for agents a, b and *.
func usedColumns(t *testing.T, combined bool) []batch.VerdictColumn {
	t.Helper()
	var with []*batch.ColumnKind
	for _, name := range []string{"train-ai", "search", "signal:ai-train"} {
		use := must.Get(usage.ParseUse(name))(t)
		with = append(with, batch.UseKinds(use, !combined)...)
	}
	grade := must.Get(batch.ParseWith("signal_use"))(t)
	columns := must.Get(batch.VerdictColumns(batch.ColumnOptions{Agents: []string{"a", "b", "*"}, Combined: combined, With: append(with, grade)}))(t)
	return columns
}

// usedTable compiles bodies with what columns need.
func usedTable(bodies map[string]string, columns []batch.VerdictColumn) *ruletable.Table {
	table := new(ruletable.Table)
	agents := matcher.NewAgents([]matcher.Chain{{"a"}, {"b"}, {"*"}})
	for host, body := range bodies {
		f := robotstxt.Parse([]byte(body), robotstxt.Options{})
		compiler := matcher.Compiler{Explain: true}
		o := matcher.Origin{Access: access.Rules}
		o.Tries, o.Of = compiler.Compile(f, agents)
		o.Facts.Usage = matcher.CompileUsage(f, agents, batch.UsageOf(columns))
		table.Add([]byte(host), o)
	}
	return table
}

// said is what the reference says of URLs: it is asked once for each.
type said struct {
	bodies map[string]string // by host
	uses   map[asked]string
	fetch  map[asked]bool
}

type asked struct {
	url, agent string
	use        usage.Use
}

// split returns the body that is for a URL, and its path.
func (s *said) split(url string) (body, path string, ok bool) {
	for host, body := range s.bodies {
		if path, ok := strings.CutPrefix(strings.TrimSpace(url), host); ok {
			if path, _, _ = strings.Cut(path, "#"); !strings.HasPrefix(path, "/") {
				path = "/" + path
			}
			return body, path, true
		}
	}
	return "", "", false
}

// of returns what the reference says of a URL, "-" for null.
func (s *said) of(url, agent string, u usage.Use) string {
	question := asked{url, agent, u}
	answer, ok := s.uses[question]
	if !ok {
		answer = "-"
		if body, path, ok := s.split(url); ok {
			directive := map[usage.Directive]string{usage.ContentUsage: reference.ContentUsage, usage.ContentSignal: reference.ContentSignal}[u.Directive]
			switch word := reference.Preferences([]byte(body), directive, []string{u.Key}, []string{agent}, path, reference.RFC9309)[u.Key]; word {
			case "allowed":
				answer = "true"
			case "disallowed":
				answer = "false"
			case reference.Unreadable:
				answer = word
			case "":
			default:
				answer = fmt.Sprintf("%q", word)
			}
		}
		s.uses[question] = answer
	}
	return answer
}

// mayFetch reports whether the reference allows a URL to an agent.
func (s *said) mayFetch(url, agent string) bool {
	question := asked{url: url, agent: agent}
	allowed, ok := s.fetch[question]
	if !ok {
		if body, path, ok := s.split(url); ok {
			allowed = reference.Decide(reference.Parse([]byte(body), reference.RFC9309, 0), []string{agent}, path, reference.RFC9309).Allowed
		}
		s.fetch[question] = allowed
	}
	return allowed
}

// TestUsesAreThoseOfTheReference compares columns about uses with the reference, for agents
// apart and combined, in blocks of any size, with and without explanations.
func TestUsesAreThoseOfTheReference(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	rounds := must.Short(50, 300)
	names := []string{"a", "b", "*"}
	for round := range rounds {
		bodies, list := usedBodies(random)
		oracle := &said{bodies, make(map[asked]string), make(map[asked]bool)}
		for _, combine := range []batch.Combine{batch.CombineNone, batch.CombineAnyDenied, batch.CombineAllDenied} {
			columns := usedColumns(t, combine != batch.CombineNone)
			e := New(usedTable(bodies, columns), Options{Agents: 3, Combine: combine, Columns: columns, Explain: round%2 == 0, AllowUnreadable: round%3 == 0})
			e.blockRows = 1 + random.IntN(2*len(list))
			var v batch.Verdicts
			must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.URLs(list...)}, &v))
			for row, url := range list {
				want := unpermitted(combine, oracle, url, names, columns, round%3 == 0)
				got := len(v.Unpermitted) > 0 && v.Unpermitted[row>>3]>>(row&7)&1 != 0
				must.Need(t, got == want, "combine %d, %q of %q: unpermitted is %t", combine, url, bodies, got)
			}
			for _, c := range v.Columns {
				if c.Kind.Use.Part != batch.UseValue {
					continue
				}
				for row, url := range list {
					want := oracle.of(url, names[c.Agent], c.Kind.Use.Use)
					if combine != batch.CombineNone {
						want = combinedUse(combine, oracle, url, names, c.Kind.Use.Use)
					}
					got := valueText(&c, c.At(row))
					if c.At(row) == batch.Unreadable {
						got = reference.Unreadable
					}
					must.Need(t, got == want, "%s, combine %d, agent %s, %q of %q:\ngot %s, want %s", c.Kind.Name, combine, names[c.Agent], url, bodies, got, want)
				}
			}
		}
	}
}

// combinedUse combines what the reference says of the agents that may fetch a URL, if the
// combined verdict allows it.
func combinedUse(combine batch.Combine, oracle *said, url string, names []string, u usage.Use) string {
	values := make(map[string]bool)
	allowed := 0
	for _, name := range names {
		if oracle.mayFetch(url, name) {
			allowed++
			values[oracle.of(url, name, u)] = true
		}
	}
	order := []string{"false", "true", `"immediate"`, `"reference"`, `"full"`, reference.Unreadable, "-"}
	if combine == batch.CombineAllDenied {
		order = []string{`"full"`, `"reference"`, `"immediate"`, "true", "-", reference.Unreadable, "false"}
	}
	if allowed == 0 || combine == batch.CombineAnyDenied && allowed < len(names) {
		return "-"
	}
	for _, value := range order {
		if values[value] {
			return value
		}
	}
	return "-"
}

// unpermitted reports whether a use is disallowed to an agent that may fetch a URL, or stated in
// a form that cannot be read. With a combined verdict that denies the URL none counts.
func unpermitted(combine batch.Combine, oracle *said, url string, names []string, columns []batch.VerdictColumn, allowUnreadable bool) bool {
	allowed, forbidden := 0, false
	for _, name := range names {
		if !oracle.mayFetch(url, name) {
			continue
		}
		allowed++
		for _, c := range columns {
			if c.Kind.Use != nil {
				value := oracle.of(url, name, c.Kind.Use.Use)
				forbidden = forbidden || value == "false" || value == reference.Unreadable && !allowUnreadable
			}
		}
	}
	return forbidden && (combine != batch.CombineAnyDenied || allowed == len(names))
}

// TestUseLine checks the line that decides, and that a long one is cut.
func TestUseLine(t *testing.T) {
	long := "Content-Usage: /long train-ai=n;x=\"" + strings.Repeat("x", 10_000) + "\""
	bodies := map[string]string{"https://a.example": "User-agent: *\nContent-Usage: train-ai=n\n" + long}
	columns := usedColumns(t, false)
	var v batch.Verdicts
	e := New(usedTable(bodies, columns), Options{Agents: 3, Columns: columns})
	must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.URLs("https://a.example/", "https://a.example/long", "https://b.example/")}, &v))
	var got []string
	for i, c := range v.Columns {
		if i%3 != 0 || c.Kind.Use.Use.Key != "train-ai" { // of agent a
			continue
		}
		for row := range v.Rows {
			text := valueText(&c, c.At(row))
			got = append(got, fmt.Sprintf("%s %.30s %d", c.Kind.Name, text, len(text)))
		}
	}
	want := []string{
		"use_train_ai false 5", "use_train_ai false 5", "use_train_ai - 1",
		"use_train_ai_line 2 1", "use_train_ai_line 3 1", "use_train_ai_line - 1",
		`use_train_ai_text "Content-Usage: train-ai=n" 27`, `use_train_ai_text "Content-Usage: /long train-ai 515`, "use_train_ai_text - 1",
	}
	for i := range want {
		must.Need(t, i < len(got) && got[i] == want[i], "got %q", got)
	}
}
