package hosts_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"go.uber.org/goleak"

	"robotsbatch/batch"
	"robotsbatch/io/rules/hosts"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher/urls"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rules know an authority by its number: every third is missing, and the others were
// fetched at various times.
type rules map[string]fetch

type fetch struct {
	status  int
	fetched int64
}

func (r rules) Fetch(authority []byte) (status int, fetched int64, stale, known bool, err error) {
	f, known := r[string(authority)]
	return f.status, f.fetched, false, known, nil
}

// list is a source of URLs.
type list struct{ batches [][]string }

func (l *list) Next(context.Context) (batch.Piece, error) {
	if len(l.batches) == 0 {
		return nil, io.EOF
	}
	p := piece(l.batches[0])
	l.batches = l.batches[1:]
	return p, nil
}

func (l *list) Close() error { return nil }

type piece []string

func (p piece) Name() string { return "list" }
func (p piece) Size() int64  { return int64(len(p)) }
func (p piece) Decode() (*batch.Batch, error) {
	c := batch.Column{Offsets64: []int64{0}, Validity: make([]byte, len(p)/8+1)}
	for i, url := range p {
		if url != "null" {
			c.Data = append(c.Data, url...)
			c.Validity[i/8] |= 1 << (i % 8)
		}
		c.Offsets64 = append(c.Offsets64, int64(len(c.Data)))
	}
	return &batch.Batch{URLs: c}, nil
}

const asOf, maxAge = 1_000_000, 1000

// frontier makes URLs, in runs and without order, and what rules know of them.
func frontier(rng *rand.Rand) (lines []string, known rules) {
	known = make(rules)
	var authorities []string
	for i := range 3000 {
		authority := fmt.Sprintf("https://h%d.example", i)
		if i%2 == 0 {
			authority += ":8443"
		}
		authorities = append(authorities, authority)
		switch i % 6 {
		case 0, 1:
		case 2:
			known[authority] = fetch{status: 200} // no time
		case 3:
			known[authority] = fetch{301, asOf - maxAge - int64(i)}
		default:
			known[authority] = fetch{404, asOf - int64(rng.IntN(2*maxAge))}
		}
	}
	for len(lines) < 40000 {
		authority := authorities[min(rng.IntN(3000), rng.IntN(3000))]
		for range 1 + rng.IntN(4) {
			lines = append(lines, " "+strings.ToUpper(authority)+fmt.Sprintf("/%d", rng.IntN(9)))
		}
		if rng.IntN(50) == 0 {
			lines = append(lines, []string{"mailto:x", "null", "no URL", "http://a\nb/", "http://" + strings.Repeat("a.", 3000) + "a/"}[rng.IntN(5)])
		}
	}
	return lines, known
}

// wanted is what hosts should say, made row by row.
func wanted(lines []string, known rules, locations map[string]string) []string {
	rows := make(map[string]int64)
	var s urls.Scratch
	for _, line := range lines {
		if key, _, err := s.Split([]byte(line)); err == nil && line != "null" && len(key) <= 2048 {
			rows[string(key)]++
		}
	}
	type row struct {
		authority string
		rows      int64
	}
	var order []row
	for authority, n := range rows {
		f, ok := known[authority]
		if !ok || f.fetched != 0 && asOf-f.fetched > maxAge {
			order = append(order, row{authority, n})
		}
	}
	slices.SortFunc(order, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.rows, a.rows), strings.Compare(a.authority, b.authority))
	})
	var all []string
	for _, r := range order {
		text := fmt.Sprintf("%s/robots.txt %d", r.authority, r.rows)
		if f, ok := known[r.authority]; ok {
			text += fmt.Sprintf(" stale %d %d %d", f.status, 1000*f.fetched, asOf-f.fetched)
			if location := locations[r.authority]; location != "" && f.status == 301 {
				text += " " + location
			}
		} else {
			text += " missing"
		}
		all = append(all, text)
	}
	return all
}

// What is wanted does not depend on memory, batches or workers.
func TestWanted(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	lines, known := frontier(rng)
	locations := make(map[string]string)
	for authority := range known {
		if rng.IntN(3) > 0 {
			locations[authority] = authority + "/elsewhere"
		}
	}
	want := wanted(lines, known, locations)
	must.Need(t, len(want) >= 1000, "%d wanted", len(want))
	for _, memory := range []int64{64 << 10, 64 << 20} {
		for _, size := range []int{7, 1000, len(lines)} {
			waiting := hosts.NewWaiting(memory, t.TempDir())
			stats, err := batch.Run(t.Context(), &list{slices.Collect(slices.Chunk(lines, size))}, batch.Discard, waiting.NewEvaluator, batch.Options{Workers: 3})
			if err != nil || stats.Rows != int64(len(lines)) {
				t.Fatal(stats.Rows, err)
			}
			found, err := hosts.Find(waiting, known.Fetch, hosts.Options{
				AsOf: asOf, MaxAge: maxAge, Memory: memory, Folder: t.TempDir(),
				Fetches: func(add hosts.AddFetch) error {
					for authority, location := range locations {
						// Of several the newest of the first source counts that is not too late.
						at := time.Unix(known[authority].fetched, 0)
						for _, f := range []struct {
							source int
							at     time.Time
							to     string
						}{{2, at, "other"}, {1, time.Unix(5, 0), "x"}, {1, at.Add(time.Second / 2), location}, {1, at, "earlier"}, {1, time.Unix(asOf+1, 0), "late"}, {3, at.Add(1), "other"}} {
							if err := add(f.source, []byte(authority), 301, f.at, []byte(f.to)); err != nil {
								return err
							}
						}
					}
					return nil
				},
			})
			must.Do(t, err)
			if got := rowsOf(t, found); !slices.Equal(got, want) {
				t.Errorf("memory %d, batches of %d: %d rows, want %d; %q", memory, size, len(got), len(want), firstDifference(got, want))
			}
			if n := found.Missing + found.Stale; n != int64(len(want)) || found.MissingRows+found.StaleRows+waiting.Invalid() > int64(len(lines)) {
				t.Errorf("%d wanted, %d invalid", n, waiting.Invalid())
			}
			found.Close()
			waiting.Close()
		}
	}
}

func firstDifference(got, want []string) []string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return []string{got[i], want[i]}
		}
	}
	return nil
}

// rowsOf are the rows of the table, without nulls.
func rowsOf(t *testing.T, found *hosts.Wanted) []string {
	t.Helper()
	var got []string
	for record, err := range found.Rows(100) {
		must.Do(t, err)
		for row := range int(record.NumRows()) {
			var fields []string
			for _, column := range record.Columns() {
				if column.IsNull(row) {
					continue
				}
				text := column.ValueStr(row)
				if times, ok := column.(*array.Timestamp); ok {
					text = fmt.Sprint(int64(times.Value(row)))
				}
				fields = append(fields, text)
			}
			got = append(got, strings.Join(fields, " "))
		}
		record.Release()
	}
	return got
}
