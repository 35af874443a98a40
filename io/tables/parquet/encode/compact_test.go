package encode

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/columns"
)

// Booleans with nulls at random take hardly more memory than their pages.
func TestBitsMemory(t *testing.T) {
	field := arrow.Field{Name: "allowed", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}
	schema := must.Get(columns.FromArrow(arrow.NewSchema([]arrow.Field{field}, nil)))(t)
	e := must.Get(NewEncoder(schema, compress.None, 0))(t)
	const n = pageEntries
	rng := rand.New(rand.NewPCG(1, 2))
	b := &columns.Bits{Values: make([]byte, n/8), Valid: make([]byte, n/8)}
	for i := range b.Valid {
		b.Values[i], b.Valid[i] = byte(rng.Uint32()), byte(rng.Uint32())
	}
	rows := &Rows{N: n, Leaves: []columns.Leaf{{N: n, Bits: b}}}
	size := 0
	took := must.Allocated(func() { size = len(must.Get(e.Encode(rows))(t).Data) })
	must.Be(t, int(took) <= 8*size, "encoding %d bytes took %d", size, took)
}
