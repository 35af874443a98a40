package batch_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"robotsbatch/batch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listSource is a source of batches with the given columns.
type listSource struct {
	columns []batch.Column
	next    int
	row     int64
	fail    map[int]error
	panics  map[int]bool
}

func (s *listSource) Next(context.Context) (batch.Piece, error) {
	if s.next == len(s.columns) {
		return nil, io.EOF
	}
	p := &listPiece{source: s, index: s.next, batch: &batch.Batch{Input: "list", Index: s.next, FirstRow: s.row, URLs: s.columns[s.next]}}
	s.row += int64(p.batch.URLs.Len())
	s.next++
	return p, nil
}

func (s *listSource) Close() error { return nil }

type listPiece struct {
	source *listSource
	index  int
	batch  *batch.Batch
}

func (p *listPiece) Name() string { return fmt.Sprintf("list: batch %d", p.index) }
func (p *listPiece) Size() int64  { return int64(len(p.batch.URLs.Data)) }
func (p *listPiece) Decode() (*batch.Batch, error) {
	if p.source.panics[p.index] {
		panic("a broken piece")
	}
	return p.batch, p.source.fail[p.index]
}

// textSink writes a line per row: a letter per agent (a, d or -), reason and rule.
type textSink struct {
	strings.Builder
	closed, aborted bool
}

func (s *textSink) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
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
	return batch.Bytes(out.String()), nil
}

func line(a *batch.AgentVerdicts, row int) string {
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

func (s *textSink) Write(c batch.Chunk) error {
	s.Builder.Write(c.(batch.Bytes))
	return nil
}
func (s *textSink) Close() error { s.closed = true; return nil }
func (s *textSink) Abort()       { s.aborted = true }
