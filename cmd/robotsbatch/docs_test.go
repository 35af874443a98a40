package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/lint"
)

// documents are README, CONTRIBUTING and the manual's pages, by their paths from the top
// level.
func documents(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("manual/*.md")
	must.Need(t, err == nil && len(names) != 0, "%q, %v", names, err)
	texts := make(map[string]string)
	for _, name := range append(names, "../../README.md", "../../CONTRIBUTING.md") {
		text := must.Get(os.ReadFile(name))(t)
		texts[filepath.ToSlash(filepath.Join("cmd/robotsbatch", name))] = string(text)
	}
	return texts
}

// Links, files, flags and topics that the documents name are there, and every
// page of the manual is linked from the README.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	texts := documents(t)
	known := []string{"h", "help", "tags", "update", "H2"} // the last three are of other programs
	known = append(known, program.Names()...)
	for name, text := range texts {
		for _, link := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(text, -1) {
			_, err := os.Stat(filepath.Join("../..", filepath.Dir(name), link[1]))
			must.Be(t, err == nil, "%s: %v", name, err)
		}
		for _, file := range regexp.MustCompile("`((?:bench|scripts|cmd|io|matcher|batch)/[^` ]+)[^`]*`").FindAllStringSubmatch(text, -1) {
			found, err := filepath.Glob(filepath.Join("../..", file[1]))
			must.Be(t, err == nil && len(found) != 0, "%s: there is no %s", name, file[1])
		}
		for _, flag := range regexp.MustCompile("`-([A-Za-z0-9][A-Za-z0-9-]*)[^`]*`").FindAllStringSubmatch(text, -1) {
			must.Be(t, slices.Contains(known, flag[1]), "%s: there is no flag -%s", name, flag[1])
		}
		for _, topic := range regexp.MustCompile("`robotsbatch help ([a-z-]+)`").FindAllStringSubmatch(text, -1) {
			must.Be(t, slices.Contains(program.HelpWords(), topic[1]) || slices.Contains(lint.CodeNames(), topic[1]), "%s: there is no help on %s", name, topic[1])
		}
		if page, isPage := strings.CutPrefix(name, "cmd/robotsbatch/manual/"); isPage {
			must.Be(t, strings.Contains(texts["README.md"], "(cmd/robotsbatch/manual/"+page+")"), "README.md does not link to %s", page)
			must.Be(t, strings.HasPrefix(text, "# "), "%s has no title", name)
		}
	}
	for _, c := range program.All() {
		for _, o := range c.New().Flags() {
			for _, topic := range regexp.MustCompile(`robotsbatch help ([a-z]+)`).FindAllStringSubmatch(o.More, -1) {
				must.Be(t, slices.Contains(program.HelpWords(), topic[1]), "-%s: there is no help on %s", o.Name, topic[1])
			}
		}
	}
}

// Each DESIGN.md lists the words that it explains, in the order in which it does, and
// says how many these are. It writes a word in italics where it explains it.
func TestDesignsListTheirWords(t *testing.T) {
	for _, room := range []string{"matcher", "io/rules/rulepack", "io/tables"} {
		text := must.Get(os.ReadFile(filepath.Join("../..", room, "DESIGN.md")))(t)
		body, list, ok := strings.Cut(string(text), "## Words\n\n")
		count, words, counted := strings.Cut(strings.TrimSuffix(strings.TrimSpace(list), "."), " are explained here: ")
		if !ok || !counted {
			t.Errorf("%s: DESIGN.md does not end with its words", room)
			continue
		}
		var explained []string
		for _, word := range regexp.MustCompile(`(?:^|[ (])\*([a-zA-Z0-9 -]+)\*[ .,;:)\n]`).FindAllStringSubmatch(strings.ReplaceAll(body, "\n", " "), -1) {
			explained = append(explained, word[1])
		}
		must.EqualSlices(t, strings.Split(strings.ReplaceAll(words, "\n", " "), ", "), explained, room, "DESIGN.md lists")
		must.Be(t, count == strconv.Itoa(len(explained)), "%s: DESIGN.md counts %s words, and explains %d", room, count, len(explained))
	}
}

// The way of a URL in batch/evaluate's comment names functions that are in the files that
// it names.
func TestWayOfAURL(t *testing.T) {
	comment := must.Get(os.ReadFile("../../batch/evaluate/doc.go"))(t)
	steps := regexp.MustCompile(`(?m)^//\t *(\d+)  (.+?)  +([a-z/]+(?:\.go)?)`).FindAllStringSubmatch(string(comment), -1)
	for i, step := range steps {
		must.Equal(t, step[1], strconv.Itoa(i+1), "step", i+1)
		folder, name := "../..", step[3]
		if !strings.Contains(name, "/") {
			folder = "../../batch/evaluate"
		}
		if !strings.HasSuffix(name, ".go") {
			name += "/*.go"
		}
		files, err := filepath.Glob(filepath.Join(folder, name))
		must.Need(t, err == nil && len(files) > 0, "step %s: there is no %s", step[1], name)
		var source []byte
		for _, file := range files {
			text := must.Get(os.ReadFile(file))(t)
			source = append(source, text...)
		}
		for _, function := range regexp.MustCompile(`[,;] `).Split(step[2], -1) {
			_, method, ok := strings.Cut(function, ".")
			if !ok {
				method = function
			}
			must.Be(t, regexp.MustCompile(`(?m)^func (\([^)]*\) )?`+method+`[(\[]`).Match(source), "step %s: %s is not in %s", step[1], function, step[3])
		}
	}
	must.Be(t, len(steps) != 0 && len(steps) <= 23, "%d steps", len(steps))
}

// documentCommands are the commands of this program that a document shows, as
// arguments.
func documentCommands(text string) [][]string {
	text = strings.ReplaceAll(text, "\\\n", " ")
	command := regexp.MustCompile(`^ *(?:\./)?robotsbatch ([a-z-].*)$`)
	var found [][]string
	fenced := false
	for text := range strings.Lines(text) {
		if strings.HasPrefix(text, "```") {
			fenced = !fenced
		}
		line := command.FindStringSubmatch(strings.TrimSuffix(text, "\n"))
		if line == nil || !fenced && !strings.HasPrefix(text, "    ") {
			continue
		}
		var args []string
		for _, word := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(line[1], -1) {
			if word == "#" {
				break
			}
			args = append(args, strings.Trim(word, `"`))
		}
		found = append(found, args)
	}
	return found
}

// The commands of the documents work, one after the other, in a folder that has
// what they name; those on object stores are only parsed.
func TestDocumentsRun(t *testing.T) {
	texts := documents(t)
	shared, examples := t.TempDir(), t.TempDir()
	must.Do(t, os.CopyFS(shared, os.DirFS("../../bench/corpus/sample")))
	t.Chdir(examples)
	makeExamples(t, shared)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Chdir(t.TempDir())
			must.Do(t, os.CopyFS(".", os.DirFS(examples)))
			for _, args := range documentCommands(texts[name]) {
				line := strings.Join(args, " ")
				if strings.Contains(line, "s3://") {
					j := newJob()
					j.operands = must.Get(j.Flags().Parse(args, j.recordFlag))(t)
					err := j.check(t.Context())
					must.Be(t, err == nil, "%s: %v", line, err)
					continue
				}
				args, in, out := redirected(t, args)
				status := run(t.Context(), args, in, out, out)
				denied := args[0] == "explain" && status == exitFailed
				must.Be(t, status == exitDone || denied, "%s: exit status %d: %s", line, status, out)
			}
		})
	}
}

// redirected takes "< FILE" out of a command's arguments, which opens it, and "> FILE".
func redirected(t *testing.T, words []string) (args []string, in io.Reader, out *bytes.Buffer) {
	t.Helper()
	in = strings.NewReader("")
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "<":
			i++
			f := must.Get(os.Open(words[i]))(t)
			t.Cleanup(func() { f.Close() })
			in = f
		case ">":
			i++
		default:
			args = append(args, words[i])
		}
	}
	return args, in, new(bytes.Buffer)
}

// makeExamples makes what the commands of the documents name, with links into a copy of the sample.
func makeExamples(t *testing.T, sample string) {
	t.Helper()
	for _, folder := range []string{"bench/corpus", "corpus", "frontier/dt=2026-03-01", "hive/part=0", "robotstxt"} {
		must.Do(t, os.MkdirAll(folder, 0o777))
	}
	rules := filepath.Join(sample, "rules")
	must.Do(t, errors.Join(os.Symlink(sample, "bench/corpus/sample"), os.Symlink(rules, "robots"), os.Symlink(rules, "corpus/rules")))
	must.WriteFile(t, "urls.txt", "https://example.com/\n")
	must.WriteFile(t, "ranks.csv", "1,example.com\n")
	must.WriteFile(t, "ai.txt", "GPTBot\nCCBot\n")
	must.WriteFile(t, "fetch.txt", "https://example.com/robots.txt\n")
	must.WriteFile(t, "robots.txt", "User-agent: *\nDisallow: /a\n")
	must.WriteFile(t, "robots/example.com", "User-agent: *\nDisallow: /a\n")
	must.WriteFile(t, "seeds.csv", "link\nhttps://example.com/\n")
	must.WriteFile(t, "cdx-00000.gz", "com,example)/ 20260101000000 {\"url\": \"https://example.com/\"}\n")
	warc := string(warcRecord([]string{"2026-01-01T00:00:00Z", "https://example.com/robots.txt", "200", `User-agent: *\nDisallow: /a`}))
	must.WriteFile(t, "robotstxt/a.warc.gz", warc) // read as it is, for it is not compressed
	must.WriteFile(t, "crawl.warc.gz", warc)
	must.WriteFile(t, "pages.csv", "url,fetch_time,bytes\nhttps://example.com/,2026-03-01T12:00:00Z,1024\n")
	for _, line := range []string{
		"-in pages.csv -rules robots -prefix x_ -out pages.parquet",
		"-in urls.txt -rules robots -emit allowed -out urls.txt.zst",
		"-in bench/corpus/sample/frontier.arrow -rules robots -prefix x_ -out frontier.arrow",
		"-in frontier.arrow -rules robots -prefix y_ -columns url -out frontier.parquet",
		"-in frontier.arrow -rules robots -prefix y_ -columns url -out frontier/dt=2026-03-01/part-0.parquet",
		"-in frontier.arrow -rules robots -prefix y_ -columns url -out corpus/frontier.arrow",
		"-in frontier.parquet -rules robots -prefix z_ -columns url -out sorted.parquet",
		"-in frontier.parquet -rules robots -prefix z_ -columns url -out hive/part=0/data.parquet",
		"-in bench/corpus/sample/frontier.arrow -rules robots -prefix x_ -out urls.arrows",
		"compile -rules robots -out site.rules",
		"-in urls.txt -rules robots -out verdicts/",
	} {
		var out bytes.Buffer
		status := run(t.Context(), strings.Fields(line), nil, &out, &out)
		must.Need(t, status == exitDone, "%s: exit status %d: %s", line, status, &out)
	}
}

// What the README and the pages on packs and summaries show is what the program prints, but for the time it took.
func TestReadme(t *testing.T) {
	root := must.Get(filepath.Abs("../.."))(t)
	readme := must.Get(os.ReadFile(filepath.Join(root, "README.md")))(t)
	verdicts := filepath.Join(t.TempDir(), "verdicts.csv")
	t.Chdir(root)
	run := func(line string) string {
		t.Helper()
		args := strings.Fields(line)
		if args[0] == "-in" {
			args = append(args, "-out", verdicts)
		}
		var out bytes.Buffer
		status := run(t.Context(), args, nil, &out, &out)
		must.Need(t, status <= exitFailed, "%s: exit status %d: %s", line, status, &out)
		return out.String()
	}
	flags := " -rules bench/corpus/sample/rules -agent CCBot"

	times := regexp.MustCompile(`[0-9.]+ s, .*\n`)
	summary := times.ReplaceAllString(run("-in bench/corpus/sample/frontier.arrow"+flags), "")
	wantInside(t, string(readme), summary)
	rows := must.Get(os.ReadFile(verdicts))(t)
	wantInside(t, string(readme), strings.Join(strings.SplitAfter(string(rows), "\n")[:3], ""))
	wantInside(t, string(readme), run("explain"+flags+" https://blogbook4.net.example/import%2F/recipe-family-83798.html"))

	page := must.Get(os.ReadFile("cmd/robotsbatch/manual/summary.md"))(t)
	wantInside(t, string(page), times.ReplaceAllString(run("-in bench/corpus/sample/frontier.arrow -weight fetch_priority"+flags), ""))

	page = must.Get(os.ReadFile("cmd/robotsbatch/manual/compile.md"))(t)
	pack := filepath.Join(t.TempDir(), "site.rules")
	made := run("compile -rules bench/corpus/sample/rules -out " + pack)
	made, _, _ = strings.Cut(made, pack) // the rest is its size and the time it took
	wantInside(t, string(page), made+"site.rules has")
	again := run("-in bench/corpus/sample/frontier.arrow -agent CCBot -rules " + pack)
	must.Be(t, strings.HasPrefix(again, summary), "by the folder %s, by its pack %s", summary, again)
	wantInside(t, string(page), run("verify -for https://www.artistconcert29.test "+pack))
}

// What the pages on commands show is what these print.
func TestPagesShowOutputs(t *testing.T) {
	root := must.Get(filepath.Abs("../.."))(t)
	t.Chdir(root)
	for _, name := range []string{"explain", "lint"} {
		page := must.Get(os.ReadFile("cmd/robotsbatch/manual/" + name + ".md"))(t)
		shown := 0
		for _, args := range documentCommands(string(page)) {
			if !strings.Contains(strings.Join(args, " "), "bench/corpus/sample") {
				continue // a file that only stands for the reader's
			}
			var out, messages bytes.Buffer
			status := run(t.Context(), args, nil, &out, &messages)
			must.Need(t, status <= exitFailed, "%q: exit status %d: %s", args, status, &messages)
			wantInside(t, string(page), indent(out.String()))
			shown++
		}
		must.Be(t, shown != 0, "%s.md shows no output", name)
	}
}

// indent makes text a block of code.
func indent(text string) string {
	return regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(text, "    $1")
}

func wantInside(t *testing.T, text, part string) {
	t.Helper()
	must.Be(t, part != "" && strings.Contains(text, part), "the document does not have:\n%s", part)
}
