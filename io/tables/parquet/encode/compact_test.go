package encode

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/tables/parquet/columns"
)

// Booleans with nulls at random take hardly more memory than their pages.
func TestBitsMemory(t *testing.T) {
	schema, err := columns.FromArrow(arrow.NewSchema([]arrow.Field{{Name: "allowed", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}}, nil))
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEncoder(schema, compress.None, 0)
	if err != nil {
		t.Fatal(err)
	}
	const n = pageEntries
	rng := rand.New(rand.NewPCG(1, 2))
	b := &columns.Bits{Values: make([]byte, n/8), Valid: make([]byte, n/8)}
	for i := range b.Valid {
		b.Values[i], b.Valid[i] = byte(rng.Uint32()), byte(rng.Uint32())
	}
	rows := &Rows{N: n, Leaves: []columns.Leaf{{N: n, Bits: b}}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g, err := e.Encode(rows)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if took := int(after.TotalAlloc - before.TotalAlloc); took > 8*len(g.Data) {
		t.Errorf("encoding %d bytes took %d", len(g.Data), took)
	}
}
