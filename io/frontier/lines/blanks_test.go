package lines

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Blanks counts as one that looks at each line does.
func TestBlanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		data := make([]byte, rng.IntN(40))
		for i := range data {
			data[i] = "ab \t\n\r\n\v"[rng.IntN(8)]
		}
		var got Blanks
		got.Add(&Block{Data: data, FirstLine: 7})
		count, line, first := int64(0), int64(0), ""
		for number, rest := int64(7), data; len(rest) > 0; number++ {
			var row []byte
			row, rest = TakeLine(rest)
			if row = bytes.Trim(row, " \t\r\v\f"); !bytes.ContainsAny(row, " \t") {
				continue
			}
			if count++; count == 1 {
				line, first = number, string(row)
			}
		}
		if n, text := got.Count(); n != count || text != first || got.line != line {
			t.Fatalf("%q: %d, the first %q in line %d; want %d, %q, %d", data, n, text, got.line, count, first, line)
		}
	}
}
