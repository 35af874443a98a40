package batch

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// column makes a column of values; a nil value is null. Without one there is no
// bitmap, as verdicts are used again only where no row can be null.
func column(values ...[]byte) Column {
	c := Column{Offsets32: []int32{0}}
	if slices.ContainsFunc(values, func(value []byte) bool { return value == nil }) {
		c.Validity = make([]byte, (len(values)+7)/8)
	}
	for i, value := range values {
		if value != nil && c.Validity != nil {
			c.Validity[i>>3] |= 1 << (i & 7)
		}
		c.Data = append(c.Data, value...)
		c.Offsets32 = append(c.Offsets32, int32(len(c.Data)))
	}
	return c
}

func urls(lines ...string) Column {
	values := make([][]byte, len(lines))
	for i, line := range lines {
		values[i] = []byte(line)
	}
	return column(values...)
}

// table compiles bodies for chains.
func table(t testing.TB, bodies map[string]string, chains ...string) *matcher.Table {
	t.Helper()
	parsed := make([]matcher.Chain, len(chains))
	for i, s := range chains {
		var err error
		if parsed[i], err = matcher.ParseChain(s); err != nil {
			t.Fatal(err)
		}
	}
	var table matcher.Table
	for authority, body := range bodies {
		file := robotstxt.Parse([]byte(body), robotstxt.Options{})
		table.Add([]byte(authority), matcher.Origin{Access: access.Rules, Tries: matcher.Compile(file, parsed)})
	}
	return &table
}

// listSource hands out columns as batches.
type listSource struct {
	columns []Column
	next    int
	row     int64
	fail    map[int]error
	panics  map[int]bool
}

func (s *listSource) Next(context.Context) (Piece, error) {
	if s.next == len(s.columns) {
		return nil, io.EOF
	}
	p := &listPiece{source: s, index: s.next, batch: &Batch{Input: "list", Index: s.next, FirstRow: s.row, URLs: s.columns[s.next]}}
	s.row += int64(p.batch.URLs.Len())
	s.next++
	return p, nil
}

func (s *listSource) Close() error { return nil }

type listPiece struct {
	source *listSource
	index  int
	batch  *Batch
}

func (p *listPiece) Name() string { return fmt.Sprintf("list: batch %d", p.index) }
func (p *listPiece) Size() int64  { return int64(len(p.batch.URLs.Data)) }
func (p *listPiece) Decode() (*Batch, error) {
	if p.source.panics[p.index] {
		panic("a broken piece")
	}
	return p.batch, p.source.fail[p.index]
}

// textSink writes a line a row: a letter an agent (a, d or -), reason and rule.
type textSink struct {
	strings.Builder
	closed, aborted bool
}

func (s *textSink) Encode(b *Batch, v *Verdicts) (Chunk, error) {
	var out strings.Builder
	for row := range v.Rows {
		if v.Selected != nil && v.Selected[row>>3]>>(row&7)&1 == 0 {
			continue
		}
		for i := range v.Agents {
			out.WriteString(line(&v.Agents[i], row))
		}
		out.WriteByte('\n')
	}
	return Bytes(out.String()), nil
}

func line(a *AgentVerdicts, row int) string {
	verdict := "d"
	switch bit := byte(1) << (row & 7); {
	case a.Valid[row>>3]&bit == 0:
		verdict = "-"
	case a.Allowed[row>>3]&bit != 0:
		verdict = "a"
	}
	if len(a.Reasons) == 0 {
		return verdict
	}
	s := fmt.Sprintf("[%s %v", verdict, a.Reasons[row])
	if i := a.Rules[row]; i >= 0 {
		x := a.Explanations[i]
		s += fmt.Sprintf(" %q %d %q", x.Text, x.Line, x.Agent)
	}
	return s + "]"
}

func (s *textSink) Write(c Chunk) error {
	s.Builder.Write(c.(Bytes))
	return nil
}
func (s *textSink) Close() error { s.closed = true; return nil }
func (s *textSink) Abort()       { s.aborted = true }
