package parquetio

import (
	"cmp"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/decode"
	"robotsbatch/io/tables/parquet/encode"
)

// rowGroup is a row group that its pieces share. A piece is a run of rows.
type rowGroup struct {
	source   *Source
	index    int // in the file
	rows     int64
	runRows  int64 // rows of each run but the last
	runs     int
	nextRun  int               // the first that is no piece yet
	columns  []*decode.Column  // those of source.columns
	verdicts *tableio.Assembly // nil unless it passes through
	added    *encode.Group     // the verdict columns, once all pieces are encoded; nil if no row is kept
	begun    bool              // its pages are written, before the added ones
	held     int64             // bytes kept by pieces that were written; only the writer uses it

	stored, decoded int64 // bytes of its columns: see [Source.sizes]
	reading         int64 // bytes that reading them takes, apart from what is decoded
}

// newRowGroup returns a row group, cut into runs of at most BatchRows rows, and Piece bytes by the sizes that the file
// declares: see [tableio.SourceOptions].
func newRowGroup(s *Source, index int) *rowGroup {
	g := &rowGroup{source: s, index: index, rows: s.whole.File.Groups[index].Rows, runRows: int64(s.options.BatchRows)}
	g.stored, g.decoded, g.reading = s.sizes(index)
	if rowBytes := g.decoded / max(1, g.rows); rowBytes > 0 {
		g.runRows = max(1, min(g.runRows, s.options.Piece/rowBytes))
	}
	g.runs = int((g.rows + g.runRows - 1) / g.runRows)
	for _, c := range s.columns {
		g.columns = append(g.columns, decode.NewColumn(s.in, s.whole.File.Groups[index].Chunks, c, g.rows, g.runRows, s.options.Memory))
	}
	if s.passed != nil {
		g.verdicts = tableio.NewAssembly(g.runs)
		s.users.Add(1)
	}
	if in, ok := s.in.(announcing); ok && g.stored <= s.options.Memory/4 { // larger ones are not kept at once
		g.announce(in)
	}
	return g
}

// pieceShare divides the memory: a run may declare up to 1/pieceShare of it, so that workers can have
// several at once, and there is room for one that takes more than it declared.
const pieceShare = 8

// announcing is an input that wants to know what will be read, because each read costs
// a request. blob.File is one.
type announcing interface {
	Expect(ranges ...blob.Range) (kept bool)
	Done(blob.Range)
}

// announce says which ranges of the file the row group's columns will be read from, and when each
// column is done. An object in a store keeps what it fetches of them until then.
func (g *rowGroup) announce(in announcing) {
	var all []blob.Range
	for _, c := range g.source.columns {
		all = append(all, g.ranges(c)...)
	}
	if kept := in.Expect(all...); !kept {
		return
	}
	g.reading += g.stored // what is kept takes memory besides the pages
	for i, c := range g.source.columns {
		g.columns[i].Done = func() {
			for _, r := range g.ranges(c) {
				in.Done(r)
			}
		}
	}
}

// rowsOf returns the number of rows of a run.
func (g *rowGroup) rowsOf(run int) int {
	return int(min(g.runRows, g.rows-int64(run)*g.runRows))
}

// ranges returns the parts of the file that hold a column of the row group.
func (g *rowGroup) ranges(c *columns.Column) []blob.Range {
	var ranges []blob.Range
	for _, leaf := range c.Leaves {
		pages := g.source.whole.Chunk(g.index, leaf).Pages
		ranges = append(ranges, blob.Range{Offset: pages.Offset, Length: pages.Length})
	}
	return ranges
}

// piece is a run of rows of a row group.
type piece struct {
	group    *rowGroup
	run      int   // index in the group
	index    int   // in the file
	firstRow int64 // in the file
	rows     int
	kept     int64 // bytes encoded for it that wait for the last piece
}

// Name implements batch.Piece.
func (p *piece) Name() string {
	return fmt.Sprintf("%s: batch %d (rows %d to %d)", p.group.source.options.Name, p.index, p.firstRow, p.firstRow+int64(p.rows)-1)
}

// Size implements batch.Piece. The first run of a row group is charged for the pages that
// are read at a time.
func (p *piece) Size() int64 {
	if p.run == 0 {
		return p.declared() + p.group.reading
	}
	return p.declared()
}

// Kept is what [batch.Kept] asks for: what a row group is read into, and the verdict columns if it passes
// through, stay in memory until its last piece is written, which gives back what g.held has added up.
func (p *piece) Kept() int64 {
	g := p.group
	if p.run == g.runs-1 {
		return -g.held
	}
	kept := p.kept
	if p.run == 0 {
		kept += g.reading
	}
	g.held += kept
	return kept
}

// Continued implements batch.Continued.
func (p *piece) Continued() bool { return p.run < p.group.runs-1 }

// Freed implements batch.Freeing.
func (p *piece) Freed() int64 { return p.declared() }

// declared returns the bytes that the run is expected to take decoded: twice its share of what the row
// group declares, because a dictionary declares once what many rows have, and 16 a row for levels and
// offsets. What it takes beyond is Batch.Undeclared.
func (p *piece) declared() int64 {
	share := float64(p.rows) / float64(p.group.rows)
	return int64(2*share*float64(p.group.decoded)) + 16*int64(p.rows)
}

// Decode implements batch.Piece.
func (p *piece) Decode() (*batch.Batch, error) {
	b, err := p.decode()
	if err = cmp.Or(err, p.group.source.endUse()); err != nil {
		return nil, tableio.Worded(fmt.Errorf("row group %d: %w", p.group.index, err))
	}
	return b, nil
}

// decode decodes the columns to read, and finds the URLs and extra columns in them. If the row group
// passes through, the batch's table is p, which the sink of [NewPassing] wants.
func (p *piece) decode() (*batch.Batch, error) {
	s := p.group.source
	arrays := make([]arrow.Array, len(p.group.columns))
	decoded := int64(0) // bytes
	for i := range arrays {
		at := (i + p.run) % len(arrays) // workers begin with different columns, so that they rarely wait for one another
		values, err := p.group.columns[at].Take(p.run)
		if err != nil {
			return nil, err
		}
		arrays[at] = values
		defer values.Release()
		if decoded += tables.SizeOf(values.Data()); decoded > s.options.Memory {
			return nil, option.Errorf("its rows take more than %d bytes decoded: raise %s, or lower %s", s.options.Memory, option.Memory, option.BatchRows)
		}
	}
	record := array.NewRecord(s.read, arrays, int64(p.rows))
	urls, table, err := s.urls.URLs(record, s.options.Memory)
	if err != nil {
		return nil, err
	}
	b := &batch.Batch{
		Input: s.options.Name, Index: p.index, FirstRow: p.firstRow, URLs: urls, Table: table,
		Undeclared: max(0, decoded-p.declared()),
	}
	if err := s.urls.TakeExtra(b, record); err != nil {
		return nil, err
	}
	if p.group.verdicts != nil {
		b.Table = p
	}
	return b, nil
}
