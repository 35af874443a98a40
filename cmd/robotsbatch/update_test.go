package main

import (
	"bytes"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"robotsbatch/io/store/must"
)

var updatedHistories = flag.Int("updates", 100, "number of random `histories` that are cut into parts, in tables and in WARC files each")

// A pack to which captures are added is, byte for byte, one that is compiled of everything at
// once: captures are cut at random times, or anyhow, with redirects, outages, answers "not
// modified" and revisits across the cuts; with and without a history, and at a time.
func TestUpdateIsCompilingAtOnce(t *testing.T) {
	for r := range cutReplays(t) {
		flags, all, updated := r.update(t)
		must.Be(t, bytes.Equal(all, updated), "%q: another pack\n%s", flags, diffPacks(t))
	}
}

// A revisit of what neither the pack nor the new captures have may refer to what the pack did not
// keep: it denies, and that is said. One whose 2xx comes later has its body.
func TestUpdateOfRevisitsAllowsNothingMore(t *testing.T) {
	allowsNothingMore(t, func(r *replayed) { r.warc, r.lost, r.pages = true, true, 1+7*r.random.IntN(2) })
}

// Where most captures are of pages, a pack drops those that no redirect leads to. What a later
// redirect leads to may be among them: then the host is denied, and that is said. Otherwise each
// verdict is that of a pack that is compiled of everything at once.
func TestUpdateOfPagesAllowsNothingMore(t *testing.T) {
	allowsNothingMore(t, func(r *replayed) { r.pages = 8 })
}

func allowsNothingMore(t *testing.T, prepare func(*replayed)) {
	t.Helper()
	const denied = "false,unreachable,,,"
	rows, differ := 0, 0
	for r := range cutReplays(t) {
		prepare(r)
		flags, _, _ := r.update(t)
		job := []string{"-in", "rows.csv", "-out", "-", "-columns", "verdict", "-quiet", "-explain"}
		second := r.newest
		if slices.Contains(flags, "-history") {
			second = 0
			job = append(job, "-as-of", "column:when")
		}
		writeRows(t, r.rows(second))
		all, updated := said(t, nil, exitDone, append(job, "-rules", "all.rules")...), said(t, nil, exitDone, append(job, "-rules", "new.rules")...)
		want := strings.Split(string(all), "\n")
		for i, got := range strings.Split(string(updated), "\n") {
			if rows++; got == want[i] {
				continue
			}
			if differ++; got != denied || !strings.Contains(r.updated, "denied because what decides may be a capture that the old pack did not keep") {
				text, _ := os.ReadFile("rows.csv")
				t.Errorf("%q: %s: %s, want %s", flags, strings.Split(string(text), "\n")[i], got, want[i])
			}
		}
	}
	t.Logf("%d of %d rows are denied", differ, rows)
	must.Be(t, (differ != 0 || testing.Short()) && 10*differ <= rows, "%d of %d rows are denied", differ, rows)
}

// cutReplays yields random histories that are cut into three parts, and then written.
func cutReplays(t *testing.T) iter.Seq[*replayed] {
	return func(yield func(*replayed) bool) {
		left := must.Short(min(*updatedHistories, 20), *updatedHistories)
		for batch := uint64(0); left > 0; batch++ {
			histories := min(left, 10)
			left -= histories
			for _, warc := range []bool{false, true} {
				t.Chdir(t.TempDir())
				random := rand.New(rand.NewPCG(batch, 41))
				cuts := [2]int{random.IntN(90), random.IntN(90)}
				slices.Sort(cuts[:])
				anyhow := random.IntN(3) == 0
				r := &replayed{random: random, warc: warc, histories: histories}
				r.part = func(f *replayedFetch) int {
					if strings.Contains(f.URL, "bodies") || !r.lost && slices.ContainsFunc(f.record, func(s string) bool { return strings.HasSuffix(s, ":nowhere") }) {
						return 0
					}
					if anyhow {
						return random.IntN(3)
					}
					day := int((f.Second - replayStart) / aDay)
					if f.Second == 0 || day < cuts[0] {
						return 0
					}
					if day < cuts[1] {
						return 1
					}
					return 2
				}
				if !yield(r) {
					return
				}
			}
		}
	}
}

// update writes the parts, and compiles them at once, as all.rules, and one after another, as
// new.rules.
func (r *replayed) update(t *testing.T) (flags []string, all, updated []byte) {
	t.Helper()
	r.writeAll(t, r.histories)
	end := "jsonl"
	if r.warc {
		end = "warc"
	}
	if r.random.IntN(3) == 0 {
		flags = append(flags, "-assume", "429=allow,redirect=deny")
	}
	if r.random.IntN(2) == 0 {
		flags = append(flags, "-history")
	}
	if r.random.IntN(3) == 0 {
		second := replayStart + int64(r.random.IntN(110))*aDay
		flags = append(flags, "-as-of", time.Unix(second, 0).UTC().Format(time.RFC3339))
	}
	sources := 1 + r.random.IntN(2)
	compile := func(name, part string, more ...string) []byte {
		args := []string{"compile", "-allow-no-rules", "-out", name}
		for source := range sources {
			args = append(args, "-rules", fmt.Sprintf("%d-%s.%s", source, part, end))
		}
		var out, err bytes.Buffer
		status := run(t.Context(), slices.Concat(args, flags, more), strings.NewReader(""), &out, &err)
		must.Need(t, status == exitDone, "%q: exit status %d: %s", args, status, &err)
		r.updated = err.String()
		data, fault := os.ReadFile(name)
		must.Do(t, fault)
		said(t, nil, exitDone, "verify", name)
		return data
	}
	all = compile("all.rules", "*")
	compile("old.rules", "0")
	compile("old.rules", "1", "-update", "old.rules")
	return flags, all, compile("new.rules", "2", "-update", "old.rules")
}

// diffPacks shows where all.rules and new.rules differ.
func diffPacks(t *testing.T) string {
	return string(said(t, nil, exitDone, "diff", "-rules", "all.rules", "-against", "new.rules"))
}
