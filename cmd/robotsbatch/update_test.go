package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var updatedHistories = flag.Int("updates", 100, "number of random `histories` that are cut into parts, in tables and in WARC files each")

// A pack to which captures are added is, byte for byte, one that is compiled of everything at
// once: captures are cut at random times, or anyhow, with redirects, outages, answers "not
// modified" and revisits across the cuts; with and without a history, and at a time.
func TestUpdateIsCompilingAtOnce(t *testing.T) {
	left := *updatedHistories
	if testing.Short() {
		left = min(left, 20)
	}
	for batch := uint64(0); left > 0; batch++ {
		histories := min(left, 10)
		left -= histories
		for _, warc := range []bool{false, true} {
			t.Chdir(t.TempDir())
			random := rand.New(rand.NewPCG(batch, 41))
			cuts := [2]int{random.IntN(90), random.IntN(90)}
			slices.Sort(cuts[:])
			anyhow := random.IntN(3) == 0
			r := &replayed{random: random, warc: warc}
			r.part = func(f *replayedFetch) int {
				if strings.Contains(f.URL, "bodies") {
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
			r.writeAll(t, histories)
			r.askUpdated(t, random)
		}
	}
}

func (r *replayed) askUpdated(t *testing.T, random *rand.Rand) {
	t.Helper()
	end := "jsonl"
	if r.warc {
		end = "warc"
	}
	var flags []string
	if random.IntN(3) == 0 {
		flags = append(flags, "-assume", "429=allow,redirect=deny")
	}
	if random.IntN(2) == 0 {
		flags = append(flags, "-history")
	}
	if random.IntN(3) == 0 {
		second := replayStart + int64(random.IntN(110))*aDay
		flags = append(flags, "-as-of", time.Unix(second, 0).UTC().Format(time.RFC3339))
	}
	sources := 1 + random.IntN(2)
	compile := func(name, part string, more ...string) []byte {
		args := []string{"compile", "-quiet", "-allow-no-rules", "-out", name}
		for source := range sources {
			args = append(args, "-rules", fmt.Sprintf("%d-%s.%s", source, part, end))
		}
		said(t, nil, exitDone, slices.Concat(args, flags, more)...)
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		said(t, nil, exitDone, "verify", name)
		return data
	}
	all := compile("all.rules", "*")
	compile("old.rules", "0")
	compile("old.rules", "1", "-update", "old.rules")
	if updated := compile("new.rules", "2", "-update", "old.rules"); !bytes.Equal(all, updated) {
		t.Errorf("%d sources, %q, %s: another pack\n%s", sources, flags, end, diffPacks(t))
	}
}

// diffPacks shows where all.rules and new.rules differ.
func diffPacks(t *testing.T) string {
	return string(said(t, nil, exitDone, "diff", "-rules", "all.rules", "-against", "new.rules"))
}
