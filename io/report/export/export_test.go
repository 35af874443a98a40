package export_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/report/export"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

func find(t *testing.T, sources ...string) *ruleset.Found {
	t.Helper()
	found, err := ruleset.Find(t.Context(), ruleset.Options{
		Sources: sources, Chains: []matcher.Chain{{matcher.Everyone}}, Memory: 64 << 20, Workers: 2,
	})
	must.Do(t, err)
	return found
}

// rows are those of a table, each value with its column's name, in records of at most
// so many rows.
func rows(t *testing.T, l *ruleset.Listing, table *export.Table, most int) []string {
	t.Helper()
	var list []string
	for record, err := range export.Rows(l, table, export.Options{Rows: most}) {
		must.Do(t, err)
		n := record.NumRows()
		must.Be(t, n <= int64(most) && n != 0, "%d rows in a record", n)
		list = append(list, recordRows(record)...)
		record.Release()
	}
	return list
}

func recordRows(record arrow.Record) []string {
	var list []string
	for row := range int(record.NumRows()) {
		var fields []string
		for i, column := range record.Columns() {
			if column.IsValid(row) {
				fields = append(fields, record.ColumnName(i)+"="+column.ValueStr(row))
			}
		}
		list = append(list, strings.Join(fields, " "))
	}
	return list
}

// Rules of a folder are those that its files parse to, whatever the size of records.
func TestRulesAreThoseOfTheFiles(t *testing.T) {
	const folder = "../../../bench/corpus/sample/rules"
	files := must.Get(os.ReadDir(folder))(t)
	want := make(map[string]int)
	for _, file := range files {
		body := must.Get(os.ReadFile(filepath.Join(folder, file.Name())))(t)
		authority := strings.Replace(file.Name(), "_", ":", 1)
		f := robotstxt.Parse(body, robotstxt.Options{})
		for i, g := range f.Groups {
			for _, rule := range g.Rules {
				kind := "disallow"
				if rule.Allow {
					kind = "allow"
				}
				for _, scheme := range []string{"http", "https"} {
					want[fmt.Sprintf("authority=%s://%s group=%d kind=%s value=%s line=%d", scheme, authority, i+1, kind, rule.Pattern, rule.Line)]++
				}
			}
		}
	}
	listing := must.Get(find(t, folder).List(t.Context()))(t)
	defer listing.Close()
	all := rows(t, listing, export.Rules, 1000)
	got := make(map[string]int)
	for _, row := range all {
		var kept []string
		for _, field := range strings.Fields(row) {
			if name, _, _ := strings.Cut(field, "="); slices.Contains([]string{"authority", "group", "kind", "value", "line"}, name) {
				kept = append(kept, field)
			}
		}
		got[strings.Join(kept, " ")]++
	}
	for row, n := range want {
		must.Equal(t, got[row], n, row)
	}
	one := rows(t, listing, export.Rules, 1)
	must.Be(t, slices.Equal(one, all), "records of one row have other rows")
	must.Be(t, len(all) >= 1000, "%d rows", len(all))
}

// In a pack, an agent meets the same rules in the tables as in those of the folder.
func TestPackHasTheSameRulesForEachAgent(t *testing.T) {
	folder, pack := t.TempDir(), filepath.Join(t.TempDir(), "site.rules")
	must.WriteFile(t, filepath.Join(folder, "http", "a.example"), `User-agent: Foo/1
User-agent: bar
Disallow: /both
User-agent: foo
Allow: /foo*$
Disallowed: /x
User-agent: *
Disallow /all
User-agent: MJ12bot
`)
	must.WriteFile(t, filepath.Join(folder, "http", "b.example"), "User-agent: x\n")
	meet := func(l *ruleset.Listing) []string {
		var met []string
		for _, agent := range rows(t, l, export.Agents, 10) {
			for _, rule := range rows(t, l, export.Rules, 10) {
				a, r := parse(agent), parse(rule)
				if a["authority"] == r["authority"] && a["group"] == r["group"] {
					met = append(met, fmt.Sprintln(a["authority"], a["token"], r["kind"], r["value"], r["normalised"], r["line"], r["body_digest"]))
				}
			}
		}
		slices.Sort(met)
		return slices.Compact(met)
	}
	found := find(t, folder)
	listing := must.Get(found.List(t.Context()))(t)
	defer listing.Close()
	compile(t, found, pack)
	packed := must.Get(find(t, pack).List(t.Context()))(t)
	defer packed.Close()
	want, got := meet(listing), meet(packed)
	must.Be(t, slices.Equal(want, got) && len(want) == 4, "folder\n%s\npack\n%s", want, got)
}

func parse(row string) map[string]string {
	fields := make(map[string]string)
	for _, field := range strings.Fields(row) {
		name, value, _ := strings.Cut(field, "=")
		fields[name] = value
	}
	return fields
}

// A hostile robots.txt, with as many agents as rules, makes as many rows as it has
// lines, and no record is much larger than the limit.
func TestHostileBodiesAreBounded(t *testing.T) {
	folder := t.TempDir()
	var body strings.Builder
	for i := range 15000 {
		fmt.Fprintf(&body, "User-agent: a%d\n", i)
	}
	for range 15000 {
		body.WriteString("Allow: /\xff\n")
	}
	host := strings.Repeat("long.", 40) + "example"
	must.WriteFile(t, filepath.Join(folder, "http", host), body.String())
	listing := must.Get(find(t, folder).List(t.Context()))(t)
	defer listing.Close()
	for _, table := range export.Tables {
		total := int64(0)
		for record, err := range export.Rows(listing, table, export.Options{Rows: 1 << 20}) {
			must.Do(t, err)
			size := 0
			for _, column := range record.Columns() {
				for _, buffer := range column.Data().Buffers() {
					if buffer != nil {
						size += buffer.Len()
					}
				}
			}
			must.Be(t, size <= 16<<20, "%s: a record of %d bytes", table.Name, size)
			total += record.NumRows()
			record.Release()
		}
		must.Equal(t, total, map[string]int64{"rules": 15000, "agents": 15000, "access": 1}[table.Name], table.Name, "rows")
	}
}

// Captures are told apart by what their bodies look like.
func TestCaptures(t *testing.T) {
	name := filepath.Join(t.TempDir(), "captures.jsonl")
	must.WriteFile(t, name, `{"url":"http://a.example/robots.txt","body":"\u001f\u008b"}
{"url":"no URL","status":500}
`)
	var got []string
	for record, err := range export.CaptureRows(t.Context(), find(t, name), export.Options{Rows: 10}, 0) {
		must.Do(t, err)
		got = append(got, recordRows(record)...)
		record.Release()
	}
	must.Be(t, len(got) == 2 && strings.Contains(got[0], "body_kind=binary") && !strings.Contains(got[1], "body_kind") && !strings.Contains(got[1], "authority"),
		"%q", got)
	ended := errors.New("ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ended)
	for _, err := range export.CaptureRows(ctx, find(t, name), export.Options{Rows: 10}, 0) {
		must.Is(t, err, ended)
	}
}

// compile makes a rule pack.
func compile(t *testing.T, found *ruleset.Found, name string) {
	t.Helper()
	must.Get(found.Compile(t.Context(), name))(t)
}
