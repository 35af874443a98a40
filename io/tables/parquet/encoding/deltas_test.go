package encoding

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/layout"
)

// appendDelta appends numbers in DELTA_BINARY_PACKED.
func appendDelta(dst []byte, numbers []int64, block, miniblocks int) []byte {
	dst = binary.AppendUvarint(dst, uint64(block))
	dst = binary.AppendUvarint(dst, uint64(miniblocks))
	dst = binary.AppendUvarint(dst, uint64(len(numbers)))
	if len(numbers) == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(dst, numbers[0])
	var differences []int64
	for i := 1; i < len(numbers); i++ {
		differences = append(differences, numbers[i]-numbers[i-1])
	}
	for part := range slices.Chunk(differences, block) {
		dst = appendBlock(dst, part, block/miniblocks, miniblocks)
	}
	return dst
}

func appendBlock(dst []byte, differences []int64, size, miniblocks int) []byte {
	least := slices.Min(differences)
	dst = binary.AppendVarint(dst, least)
	var widths, packed []byte
	for part := range slices.Chunk(differences, size) {
		list := make([]uint64, size)
		width := 0
		for i, d := range part {
			list[i] = uint64(d - least)
			for list[i]>>width != 0 && width < 64 {
				width++
			}
		}
		widths, packed = append(widths, byte(width)), layout.AppendPacked(packed, list, width)
	}
	widths = append(widths, make([]byte, miniblocks-len(widths))...)
	return append(append(dst, widths...), packed...)
}

func TestDelta(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for bits := range 65 {
		for _, n := range []int{0, 1, 2, 32, 33, 129, 1000} {
			numbers := make([]int64, n)
			for i := range numbers {
				numbers[i] = int64(rng.Uint64() >> (64 - bits)) // overflows in between
			}
			block, miniblocks := 128<<rng.IntN(3), 1<<rng.IntN(3)
			data := append(appendDelta(nil, numbers, block, miniblocks), "rest"...)
			d, err := newDelta(data)
			must.Need(t, err == nil && d.Left == int64(n), "%d numbers of %d: %v", d.Left, n, err)
			rest, err := d.rest()
			must.Need(t, err == nil && string(rest) == "rest", "%d numbers of %d bits: rest %q: %v", n, bits, rest, err)
			var got []int64
			for len(got) < n {
				part := make([]int64, min(1+rng.IntN(100), n-len(got)))
				must.Do(t, d.Read(part))
				got = append(got, part...)
			}
			must.Need(t, slices.Equal(got, numbers), "%d numbers of %d bits, blocks of %d by %d: other numbers", n, bits, block, miniblocks)
			must.Fail(t, d.Read(make([]int64, 1)), "number behind the last")
		}
	}
}

func TestHostileDelta(t *testing.T) {
	head := func(v ...uint64) string {
		var b []byte
		for _, v := range v {
			b = binary.AppendUvarint(b, v)
		}
		return string(b)
	}
	for name, data := range map[string]string{
		"nothing":                     "",
		"a block of no numbers":       head(0, 1, 5, 0) + "0000000000",
		"a block of 2^62":             head(1<<62, 4, 5, 0) + "0000000000",
		"no miniblocks":               head(128, 0, 5, 0) + "0000000000",
		"miniblocks of eight":         head(128, 16, 5, 0) + "00000000000000000000",
		"10^12 numbers":               head(128, 4, 1e12, 0) + strings.Repeat("\x00", 1000),
		"more blocks than bytes":      head(128, 4, 1e6, 0) + strings.Repeat("\x00", 1000),
		"65 bits":                     head(128, 4, 5, 0) + "\x00\x41\x00\x00\x00" + strings.Repeat("\x00", 1000),
		"a miniblock without numbers": head(128, 4, 5, 0) + "\x00\x20\x00\x00\x00",
	} {
		d, err := newDelta([]byte(data))
		if err == nil {
			err = d.Read(make([]int64, 5))
		}
		must.Fail(t, err, name)
	}
}
