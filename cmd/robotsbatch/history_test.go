package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"robotsbatch/io/store/must"
)

// capturesOf are captures as a csv: "host day status what", where what is a path that the
// body disallows, or a host that a redirect leads to. A day may have a fraction; "-" is no
// time.
func capturesOf(t *testing.T, text string) string {
	t.Helper()
	out := "url,status,fetched_at,location,body\n"
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		host, day, status := fields[0], fields[1], fields[2]
		body, location := "", ""
		if len(fields) > 3 {
			if status == "301" {
				location = "https://" + fields[3] + "/robots.txt"
			} else {
				body = "\"User-agent: *\nDisallow: " + fields[3] + "\n\""
			}
		}
		out += fmt.Sprintf("https://%s/robots.txt,%s,%s,%s,%s\n", host, status, dayText(t, day), location, body)
	}
	return out
}

// rowsOf are rows as a csv: "url day", of URLs without their scheme.
func rowsOf(t *testing.T, text string) string {
	t.Helper()
	out := "url,when\n"
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		out += fmt.Sprintf("https://%s,%s\n", fields[0], dayText(t, fields[1]))
	}
	return out
}

// dayText is a day of 2026, from 0, as a time.
func dayText(t *testing.T, day string) string {
	if day == "-" {
		return ""
	}
	var days float64
	must.Get(fmt.Sscan(day, &days))(t)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(days * 24 * float64(time.Hour)))
	return at.Format(time.RFC3339Nano)
}

// sentence is what shows that a sentence of the page on histories is true.
type sentence struct {
	captures string
	more     string // captures of a second -rules
	folder   string // what a robots.txt of a.example disallows in a folder that is the first -rules
	rows     string
	flags    string // in place of -as-of column:when
	want     string // the columns that the program adds, row by row
	fails    string // flags with which the job finds no rules
	packless bool   // it is about captures alone
}

var sentences = map[string]sentence{
	"A row is decided by the newest capture of its authority's robots.txt that is not after the row's time.": {
		captures: "a.example 10 200 /x\na.example 20 200 /y\na.example 30 404\na.example 40 503\n",
		rows:     "a.example/x 10\na.example/y 10\na.example/x 19.9\na.example/x 20\na.example/y 25\na.example/x 35\na.example/x 40\n",
		want:     "false true false true false true false",
	},
	"Among captures in the same second, the one with the later fraction counts, then the later one in the sources.": {
		captures: "a.example 10 200 /x\na.example 10 200 /y\nb.example 10.000009 200 /y\nb.example 10.000001 200 /x\n",
		rows:     "a.example/x 10\na.example/y 10\nb.example/x 10\nb.example/y 10\n",
		want:     "true false true false",
	},
	"Times are compared in whole seconds, and fractions are cut off.": {
		captures: "a.example 10.000009 200 /x\n", // 0.8 seconds
		rows:     "a.example/x 10.000001\na.example/x 9.999999\n",
		flags:    "-as-of column:when -assume missing=null",
		want:     "false ",
	},
	"A capture without a time counts as earlier than all others.": {
		captures: "a.example - 200 /x\na.example 10 200 /y\n",
		rows:     "a.example/x 0\na.example/x 9\na.example/x 10\n",
		want:     "false false true",
	},
	"A redirect counts as what its target says at the row's time.": {
		captures: "a.example 10 301 b.example\nb.example 12 200 /x\nb.example 20 200 /y\n",
		rows:     "a.example/x 11\na.example/x 13\na.example/x 20\na.example/y 20\n",
		want:     "true false true false",
	},
	"If a robots.txt was unreachable in two captures at least 30 days apart, and in all between them and up to the row's time, the last good copy decides, and without one everything is allowed.": {
		captures: "a.example 10 200 /x\na.example 20 503\na.example 45 500\na.example 50 500\nb.example 20 503\nb.example 50 503\n",
		rows:     "a.example/z 49\na.example/z 50\na.example/x 50\nb.example/x 49\nb.example/x 50\n",
		flags:    "-as-of column:when -explain",
		want:     "false,unreachable,,, true,stale_rules,,, false,disallow_rule,Disallow: /x,2,* false,unreachable,,, true,unreachable_30_days,,,; 1 row allowed because robots.txt was unreachable for 30 days",
	},
	"A single failure denies until the next capture, however late the row is, and a failure without a time adds nothing to the 30 days.": {
		captures: "a.example 10 200 /x\na.example 20 503\nb.example - 503\nb.example 20 503\nb.example 45 503\nc.example 80 404\n",
		rows:     "a.example/z 20\na.example/z 80\nb.example/z 50\nb.example/z 80\n",
		want:     "false false false false",
	},
	"A 304 has the rules of the newest earlier 2xx from its own time on, and without one it is a failure.": {
		captures: "a.example 10 200 /x\na.example 20 404\na.example 30 304\nb.example 30 304\nb.example 40 200 /x\n",
		rows:     "a.example/x 25\na.example/x 30\na.example/z 30\nb.example/z 35\n",
		flags:    "-as-of column:when -with robots_fetched_at,robots_status",
		want:     "true,2026-01-21T00:00:00Z,404 false,2026-01-31T00:00:00Z,304 true,2026-01-31T00:00:00Z,304 false,2026-01-31T00:00:00Z,304",
	},
	"A row before the first capture of its authority has the verdict of `-assume missing=VERDICT`, and the reason is `no_capture_yet`.": {
		captures: "a.example 10 200 /x\n",
		rows:     "a.example/x 9\na.example/robots.txt 9\n",
		flags:    "-as-of column:when -assume missing=deny -explain",
		want:     "false,no_capture_yet,,, true,robots_txt,,,",
	},
	"With `-assume before-first=use` the first capture decides such a row.": {
		captures: "a.example 10 200 /x\na.example 20 200 /y\n",
		rows:     "a.example/x 9\na.example/y 9\nc.example/x 9\n",
		flags:    "-as-of column:when -assume before-first=use,missing=null",
		want:     "false true ",
	},
	"`-assume before-first=allow`, `deny` or `null` gives such a row this verdict, whatever holds for an authority without any capture.": {
		captures: "a.example 10 200 /x\n",
		rows:     "a.example/x 9\na.example/x 11\nc.example/x 9\n",
		flags:    "-as-of column:when -assume before-first=deny,missing=null",
		want:     "false false ",
	},
	"A row without a time has no verdict, and the reason is `no_time`.": {
		captures: "a.example 10 200 /x\n",
		rows:     "a.example/x -\na.example/robots.txt -\nc.example/ -\n",
		flags:    "-as-of column:when -explain",
		want:     ",no_time,,, ,no_time,,, ,no_time,,,",
	},
	"An authority without any capture has the verdict of `-assume missing=VERDICT` at any time, and the reason is `no_robots`.": {
		captures: "a.example 10 200 /x\n",
		rows:     "c.example/x 9\nc.example/x 11\n",
		flags:    "-as-of column:when -assume missing=deny -explain",
		want:     "false,no_robots,,, false,no_robots,,,",
	},
	"With several `-rules`, the first that knows the authority at the row's time decides.": {
		captures: "a.example 20 200 /x\n", more: "a.example 10 200 /y\na.example 30 200 /y\nb.example 10 200 /y\n",
		rows: "a.example/x 15\na.example/y 15\na.example/x 20\na.example/y 35\nb.example/y 10\n",
		want: "true false false true false", packless: true,
	},
	"The files of a folder hold at all times.": {
		captures: "a.example 20 200 /x\nb.example 20 200 /x\n", folder: "/y",
		rows: "a.example/y 0\na.example/x 30\nb.example/x 30\n",
		want: "false true false",
	},
	"With `-ever-denied` a row is denied if it was denied at any moment from its own time up to the newest capture.": {
		captures: "a.example 10 404\na.example 20 200 /x\na.example 30 200 /y\nb.example 20 200 /x\nb.example 25 503\nb.example 56 503\n",
		rows:     "a.example/x 10\na.example/x 5\na.example/x 30\na.example/y 20\na.example/z 10\nb.example/x 60\nb.example/z 60\n",
		flags:    "-as-of column:when -ever-denied",
		want:     "false false true false true false true",
	},
	"The column `robots_fetched_at` is the time of the newest capture that is not after the row, or of the last good copy where that decides.": {
		captures: "a.example 10 200 /x\na.example 15 200 /x\na.example 20 200 /x\na.example 30 200 /y\nb.example 1 200 /x\nb.example 5 200 /x\nb.example 10 503\nb.example 35 503\nb.example 40 503\n",
		rows:     "a.example/x 16\na.example/x 20\na.example/x 25\na.example/x 31\na.example/x 5\nb.example/x 36\nb.example/x 45\n",
		flags:    "-as-of column:when -with robots_fetched_at",
		want:     "false,2026-01-16T00:00:00Z false,2026-01-21T00:00:00Z false,2026-01-21T00:00:00Z true,2026-01-31T00:00:00Z true, false,2026-02-05T00:00:00Z false,2026-01-06T00:00:00Z",
	},
	"The column `robots_until` is the time from which something else held, null where nothing else followed.": {
		captures: "a.example 10 200 /x\na.example 20 200 /x\na.example 30 503\n",
		rows:     "a.example/x 10\na.example/x 30\na.example/x 60\n",
		flags:    "-as-of column:when -with robots_until",
		want:     "false,2026-01-31T00:00:00Z false, false,",
	},
	"The column `age` is the seconds from `robots_fetched_at` to the row's time.": {
		captures: "a.example 10 200 /x\na.example 12 200 /x\na.example 14 200 /x\n",
		rows:     "a.example/x 10\na.example/x 11\na.example/x 13\n",
		flags:    "-as-of column:when -with age",
		want:     "false,0 false,86400 false,86400",
	},
	"A row counts as decided by an old robots.txt if `age` is more than `-max-age`.": {
		captures: "a.example 10 200 /x\na.example 20 200 /x\n",
		rows:     "a.example/x 15\na.example/x 21\na.example/x 22\n",
		flags:    "-as-of column:when -max-age 36h",
		want:     "false false false; 2 decided by robots.txt older than 36h",
	},
	"With `-as-of TIME` all rows are decided as if each had that time. If all captures are later, the job ends with status 1, unless `-allow-no-rules` is given.": {
		captures: "a.example 10 200 /x\na.example 20 200 /y\nb.example 20 200 /x\n",
		rows:     "a.example/x 30\na.example/y 30\nb.example/x 0\n",
		flags:    "-as-of 2026-01-15T00:00:00Z",
		want:     "false true true",
		fails:    "-as-of 2026-01-10T00:00:00Z",
	},
	"Without `-as-of` the newest capture decides all rows, with a history or without.": {
		captures: "a.example 10 200 /x\na.example 20 200 /y\n",
		rows:     "a.example/x 10\na.example/y 10\n",
		flags:    "-assume missing=allow",
		want:     "true false",
	},
}

// Each sentence of the page on histories is true, of captures and of a rule pack.
func TestHistorySentences(t *testing.T) {
	page := must.Get(os.ReadFile("manual/history.md"))(t)
	_, list, _ := strings.Cut(string(page), "## Which capture decides\n")
	list, _, _ = strings.Cut(list, "\nThe verdict")
	count := 0
	for line := range strings.Lines(list) {
		text, is := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !is {
			continue
		}
		count++
		t.Run(text, func(t *testing.T) {
			s, ok := sentences[text]
			must.Need(t, ok, "nothing shows it")
			s.check(t)
		})
	}
	must.Equal(t, count, len(sentences), "sentences that are shown, of those of the page")
}

func (s *sentence) check(t *testing.T) {
	t.Chdir(t.TempDir())
	must.WriteFile(t, "1.csv", capturesOf(t, s.captures))
	must.WriteFile(t, "rows.csv", rowsOf(t, s.rows))
	rules := []string{"-rules", "1.csv"}
	if s.more != "" {
		must.WriteFile(t, "2.csv", capturesOf(t, s.more))
		rules = append(rules, "-rules", "2.csv")
	}
	if s.folder != "" {
		must.Do(t, os.Mkdir("hosts", 0o777))
		must.WriteFile(t, "hosts/a.example", "User-agent: *\nDisallow: "+s.folder+"\n")
		rules = append([]string{"-rules", "hosts"}, rules...)
	}
	if s.flags == "" {
		s.flags = "-as-of column:when"
	}
	s.compare(t, rules)
	if s.packless {
		return
	}
	mustRun(t, append([]string{"compile", "-history", "-out", "h.rules"}, rules...)...)
	s.compare(t, []string{"-rules", "h.rules"})
}

// compare runs the job, and compares the columns that it adds.
func (s *sentence) compare(t *testing.T, rules []string) {
	t.Helper()
	args := append(append([]string{"-in", "rows.csv", "-out", "-"}, strings.Fields(s.flags)...), rules...)
	status, out, said := runWith(t.Context(), "", args...)
	must.Need(t, status == exitDone, "%q: exit status %d: %s", args, status, said)
	var got []string
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for _, line := range lines[1:] {
		_, added, _ := strings.Cut(line, ",")
		_, added, _ = strings.Cut(added, ",")
		got = append(got, strings.ReplaceAll(added, " 00:00:00Z", "T00:00:00Z"))
	}
	want, note, _ := strings.Cut(s.want, ";")
	s.checkFailure(t, rules)
	must.Equal(t, strings.Join(got, " "), want, args)
	must.Be(t, strings.Contains(said, note), "%q: the summary lacks %q: %s", args, note, said)
}

// checkFailure checks that the job fails with the flags of fails, and not if it may be without
// rules.
func (s *sentence) checkFailure(t *testing.T, rules []string) {
	t.Helper()
	if s.fails == "" {
		return
	}
	args := append(append([]string{"-in", "rows.csv", "-out", "-"}, strings.Fields(s.fails)...), rules...)
	status, out, said := runWith(t.Context(), "", args...)
	must.Be(t, status == exitFailed && out == "", "%q: exit status %d, want %d: %s%s", args, status, exitFailed, out, said)
	mustRun(t, append(args, "-allow-no-rules")...)
}
