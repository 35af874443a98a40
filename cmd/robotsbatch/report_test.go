package main

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/urls"
)

// reportTables are the tables of a page, by caption: rows of the cells' texts.
func reportTables(t *testing.T, page string) map[string][][]string {
	t.Helper()
	tables := make(map[string][][]string)
	for _, table := range regexp.MustCompile(`(?s)<table>.*?</table>`).FindAllString(page, -1) {
		caption := regexp.MustCompile(`(?s)<caption>(.*?)</caption>`).FindStringSubmatch(table)[1]
		_, body, _ := strings.Cut(table, "<tbody>")
		for _, row := range regexp.MustCompile(`(?s)<tr>.*?</tr>`).FindAllString(body, -1) {
			var cells []string
			for _, cell := range regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`).FindAllStringSubmatch(row, -1) {
				cells = append(cells, html.UnescapeString(strings.TrimSpace(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(cell[1], ""))))
			}
			tables[caption] = append(tables[caption], cells)
		}
	}
	return tables
}

// reportFacts are what stands at the top of a page.
func reportFacts(page string) map[string]string {
	facts := make(map[string]string)
	for _, fact := range regexp.MustCompile(`<dt>(.*?)</dt><dd>(.*?)</dd>`).FindAllStringSubmatch(page, -1) {
		facts[html.UnescapeString(fact[1])] = html.UnescapeString(fact[2])
	}
	return facts
}

func percentText(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// counted is what a page must say of an explained output, by caption. Examples are left
// out: any is right.
func counted(rows []map[string]string, agents []string) (tables map[string][][]string, facts map[string]string) {
	tables = make(map[string][][]string)
	column := func(row map[string]string, name string, agent int) string {
		if len(agents) > 1 {
			name += "_" + strings.ToLower(strings.ReplaceAll(agents[agent], "*", "all"))
		}
		return row[name]
	}
	type hostCounts struct{ rows, deniedFirst, deniedAny int }
	hosts, without := make(map[string]*hostCounts), make(map[string]bool)
	rules := make(map[[2]string]int)
	reasons := make(map[string][]int)
	verdict := make([][3]int, len(agents))
	var scratch urls.Scratch
	for _, row := range rows {
		var host *hostCounts
		if authority, _, err := scratch.Split([]byte(row["url"])); err == nil {
			host = hosts[string(authority)]
			if host == nil {
				host = new(hostCounts)
				hosts[string(authority)] = host
			}
			host.rows++
			if column(row, "reason", 0) == "no_robots" {
				without[string(authority)] = true
			}
		}
		anyDenied := false
		for agent := range agents {
			reason := column(row, "reason", agent)
			if reasons[reason] == nil {
				reasons[reason] = make([]int, len(agents))
			}
			reasons[reason][agent]++
			switch column(row, "allowed", agent) {
			case "true":
				verdict[agent][0]++
			case "false":
				verdict[agent][1]++
				anyDenied = true
				if agent == 0 {
					host.deniedFirst++
				}
				if reason == "disallow_rule" {
					rules[[2]string{column(row, "rule", agent), column(row, "rule_agent", agent)}]++
				}
			default:
				verdict[agent][2]++
			}
		}
		if anyDenied {
			host.deniedAny++
		}
	}
	unruled := 0
	if n := reasons["no_robots"]; n != nil {
		unruled = n[0]
	}
	for agent, name := range agents {
		v := verdict[agent]
		tables["URLs by verdict"] = append(tables["URLs by verdict"], []string{
			name, percentText(v[1], v[0]+v[1]-unruled), "", fmt.Sprint(v[1]), fmt.Sprint(v[0] - unruled), fmt.Sprint(unruled), fmt.Sprint(v[2]),
		})
	}
	words := map[string]string{
		"disallow_rule": "A disallow rule matches", "invalid_url": "Not a URL", "no_robots": "No robots.txt known", "no_rule_matched": "No rule matches",
		"unsupported_scheme": "A scheme without robots.txt", "no_group": "robots.txt has no group for it",
	}
	alike := true // agents of which all is the same share a column
	for _, n := range reasons {
		alike = alike && len(slices.Compact(slices.Clone(n))) == 1
	}
	countUsed(tables, rows, agents, column, verdict, unruled)
	for reason, n := range reasons {
		row := []string{words[reason]}
		for agent, n := range n {
			if agent == 0 || !alike {
				row = append(row, fmt.Sprintf("%d (%s)", n, percentText(n, len(rows))), "")
			}
		}
		tables["URLs by reason"] = append(tables["URLs by reason"], row)
	}
	names := slices.Sorted(maps.Keys(hosts))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(hosts[b].deniedAny, hosts[a].deniedAny) })
	for _, name := range names {
		if h := hosts[name]; h.deniedAny > 0 {
			tables["Hosts with the most URLs that are denied"] = append(tables["Hosts with the most URLs that are denied"],
				[]string{name, fmt.Sprint(h.deniedAny), percentText(h.deniedAny, h.rows)})
		}
	}
	slices.Sort(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(hosts[b].rows, hosts[a].rows) })
	for _, name := range names {
		h := hosts[name]
		tables["Hosts with the most URLs"] = append(tables["Hosts with the most URLs"],
			[]string{name, fmt.Sprint(h.rows), percentText(h.deniedFirst, h.rows)})
	}
	for rule, n := range rules {
		tables["Rules by the URLs that they deny"] = append(tables["Rules by the URLs that they deny"], []string{rule[0], rule[1], fmt.Sprint(n)})
	}
	whom := strings.Replace(agents[0], "*", "everyone (*)", 1)
	return tables, map[string]string{
		"URLs": fmt.Sprint(len(rows)), "of those with a known robots.txt closed to " + whom: percentText(verdict[0][1], verdict[0][0]+verdict[0][1]-unruled), "without a verdict": fmt.Sprint(verdict[0][2]),
		"no robots.txt known": percentText(unruled, len(rows)), "hosts": fmt.Sprint(len(hosts)), "hosts without robots.txt": fmt.Sprint(len(without)),
	}
}

// countUsed counts rows by the columns of uses; unruled are allowed for want of a robots.txt.
func countUsed(tables map[string][][]string, rows []map[string]string, agents []string, column func(map[string]string, string, int) string, verdict [][3]int, unruled int) {
	const used, graded = "URLs by what may be done with them", "URLs by how much may be used"
	for agent, name := range agents {
		for _, use := range []string{"train-ai", "signal:search", "signal:use"} {
			said, known := make(map[string]int), 0
			for _, row := range rows {
				value := column(row, map[string]string{"train-ai": "use_train_ai", "signal:search": "signal_search", "signal:use": "signal_use"}[use], agent)
				if said[value]++; value != "" {
					known++
				}
			}
			// All that these sites say can be read.
			rest := []string{"0", fmt.Sprint(verdict[agent][0] - known), fmt.Sprint(verdict[agent][1] + verdict[agent][2])}
			if use == "signal:use" {
				cells := []string{use, name, fmt.Sprint(said["immediate"]), fmt.Sprint(said["reference"]), fmt.Sprint(said["full"])}
				tables[graded] = append(tables[graded], append(cells, rest...))
				continue
			}
			cells := []string{use, name, percentText(said["false"], verdict[agent][0]-unruled), "", fmt.Sprint(said["false"]), fmt.Sprint(said["true"])}
			tables[used] = append(tables[used], append(cells, rest...))
		}
	}
}

// Every figure of the page is what counting the explained output gives, in any order of
// the rows and for any size of batches. It once gave the share of denied rows of those
// runs of a host that had one.
func TestReportIsWhatTheOutputSays(t *testing.T) {
	t.Chdir(t.TempDir())
	random := rand.New(rand.NewPCG(91, 92))
	for i := range 5 {
		text := ""
		for _, agent := range []string{"A", "*"} {
			text += fmt.Sprintf("User-agent: %s\nDisallow: /%d\nDisallow: /%d/x\n", agent, random.IntN(4), random.IntN(4))
			text += fmt.Sprintf("Content-Usage: /%d train-ai=%c\n", random.IntN(4), "yn"[random.IntN(2)])
			text += fmt.Sprintf("Content-Signal: search=no, use=%s\nContent-Signal: /%d search=yes, use=immediate\n\n", []string{"full", "reference"}[random.IntN(2)], random.IntN(4))
		}
		must.WriteFile(t, fmt.Sprintf("robots/%c.example", 'a'+i), text)
	}
	var rows []string
	for range 400 {
		switch random.IntN(20) {
		case 0:
			rows = append(rows, "mailto:x@a.example")
		case 1:
			rows = append(rows, "https://g.example/1")
		default:
			scheme := []string{"http", "https"}[random.IntN(2)]
			rows = append(rows, fmt.Sprintf("%s://%c.example/%d/%c", scheme, 'a'+random.IntN(6), random.IntN(4), 'x'+random.IntN(2)))
		}
	}
	for round, agents := range [][]string{{"*"}, {"A"}, {"A", "*"}} {
		var flags []string
		for _, agent := range agents {
			flags = append(flags, "-agent", agent)
		}
		for _, size := range []int{1, 3, 64, 1000} {
			random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			must.WriteFile(t, "urls.txt", strings.Join(rows, "\n"))
			mustRun(t, append(flags, "-in", "urls.txt", "-rules", "robots", "-explain", "-use", "train-ai,signal:search,signal:use", "-out", "out.csv", "-report", "report.html", "-quiet",
				"-batch-rows", strconv.Itoa(size), "-workers", strconv.Itoa(1+random.IntN(3)))...)
			page := readFile(t, "report.html")
			tables, facts := counted(tableOf(t, readFile(t, "out.csv")), agents)
			text := strings.NewReplacer("\u00a0", " ", "; bars are relative to the largest</caption>", "</caption>").Replace(string(page))
			got := reportTables(t, text)
			for caption, want := range tables {
				found := got[caption]
				inOrder := strings.HasPrefix(caption, "Hosts") || caption == "URLs by verdict"
				for i := range found {
					found[i] = found[i][:min(len(want[0]), len(found[i]))]
				}
				if !inOrder {
					byText := func(a, b []string) int { return slices.Compare(a, b) }
					slices.SortFunc(found, byText)
					slices.SortFunc(want, byText)
				}
				must.Equal(t, fmt.Sprint(found), fmt.Sprint(want), "round", round, "batches of", size, caption)
			}
			must.Equal(t, len(tables), 7, "tables")
			shown := reportFacts(text)
			for name, want := range facts {
				must.Equal(t, shown[name], want, "round", round, name)
			}
		}
	}
}
