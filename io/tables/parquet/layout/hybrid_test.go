package layout

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"robotsbatch/io/store/must"
)

// appendPacked appends numbers of width bits, the lowest bit of a byte first.
func appendPacked(dst []byte, numbers []uint64, width int) []byte {
	var bits []byte
	for _, v := range numbers {
		for k := range width {
			bits = append(bits, byte(v>>k&1))
		}
	}
	for len(bits)%8 > 0 {
		bits = append(bits, 0)
	}
	for i := 0; i < len(bits); i += 8 {
		b := byte(0)
		for k, bit := range bits[i : i+8] {
			b |= bit << k
		}
		dst = append(dst, b)
	}
	return dst
}

// appendHybrid appends numbers as runs and groups of random lengths.
func appendHybrid(rng *rand.Rand, dst []byte, numbers []uint32, width int) []byte {
	for len(numbers) > 0 {
		same := 1
		for same < len(numbers) && numbers[same] == numbers[0] {
			same++
		}
		if same > 3 && rng.IntN(4) > 0 {
			dst = binary.AppendUvarint(dst, uint64(same)<<1)
			for k := 0; k < width; k += 8 {
				dst = append(dst, byte(numbers[0]>>k))
			}
			numbers = numbers[same:]
			continue
		}
		groups := 1 + rng.IntN(5)
		list := make([]uint64, 8*groups)
		n := 0
		for ; n < min(len(list), len(numbers)); n++ {
			list[n] = uint64(numbers[n])
		}
		if n < len(list) { // the last one, as short as it may be
			groups = (n + 7) / 8
		}
		dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
		dst = appendPacked(dst, list[:8*groups], width)
		numbers = numbers[n:]
	}
	return dst
}

func randomNumbers(rng *rand.Rand, n, width int) []uint32 {
	numbers := make([]uint32, n)
	for i := range numbers {
		if i > 0 && rng.IntN(5) > 0 {
			numbers[i] = numbers[i-1]
		} else {
			numbers[i] = uint32(rng.Uint64() & (1<<width - 1))
		}
	}
	return numbers
}

func TestHybrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for width := range 33 {
		for range 20 {
			want := randomNumbers(rng, 1+rng.IntN(500), width)
			data := appendHybrid(rng, nil, want, width)
			h := NewHybrid(data, width)
			var got []uint32
			for len(got) < len(want) {
				part := make([]uint32, min(1+rng.IntN(60), len(want)-len(got)))
				must.Do(t, h.Read(part))
				got = append(got, part...)
			}
			must.Need(t, slices.Equal(got, want), "width %d: %d, want %d", width, got, want)
			if err := h.Done(); err != nil {
				t.Errorf("width %d: %v", width, err)
			}
			h = NewHybrid(data, width)
			equal, largest, err := h.Count(len(want), want[0])
			if n := len(want) - len(slices.DeleteFunc(slices.Clone(want), func(v uint32) bool { return v == want[0] })); err != nil || equal != n || largest != slices.Max(want) {
				t.Errorf("width %d: %d are %d, the largest is %d: %v", width, equal, want[0], largest, err)
			}
			h = NewHybrid(append(data, 8<<1, 0, 0, 0, 0), width)
			err = h.Read(got)
			must.Be(t, err == nil && h.Done() != nil, "width %d: more numbers than there should be: no error", width)
			h = NewHybrid(data[:len(data)-1], width)
			must.Fail(t, h.Read(append(got, make([]uint32, 8)...)), "width", width, "fewer numbers than there should be")
		}
	}
}

// The deprecated encoding begins with the highest bit.
func TestBitPacked(t *testing.T) {
	h := newBitPacked([]byte{0b00_01_10_11, 0b11_00_00_00}, 2, 5)
	got := make([]uint32, 5)
	err := h.Read(got)
	must.Be(t, err == nil && slices.Equal(got, []uint32{0, 1, 2, 3, 3}) && h.Done() == nil, "%d: %v", got, err)
}

func TestHostileHybrid(t *testing.T) {
	for name, data := range map[string]string{
		"nothing": "", "a header that does not end": "\xff\xff\xff", "a run without its number": "\x08",
		"a number that is too large": "\x08\x04", "a run that is too long": "\xfe\xff\xff\xff\xff\xff\x01\x01",
		"groups without their bits": "\xff\xff\xff\xff\x0f",
	} {
		h := NewHybrid([]byte(data), 2)
		must.Fail(t, h.Read(make([]uint32, 100)), name)
	}
}

// DuckDB fills packed numbers up to 256, whatever there are.
func TestFilledUpHybrid(t *testing.T) {
	h := NewHybrid(appendPacked([]byte{32<<1 | 1}, make([]uint64, 256), 1), 1)
	got, err := h.AppendBytes(nil, 5, 1)
	must.Be(t, err == nil && !bytes.Contains(got, []byte{1}) && h.Done() == nil, "%d: %v, %v", got, err, h.Done())
	h = NewHybrid([]byte{6 << 1, 1}, 1)
	got, err = h.AppendBytes(nil, 5, 1)
	must.Be(t, err == nil && !bytes.Contains(got, []byte{0}) && h.Done() != nil, "%d of a run that is too long: %v", got, err)
}

// TestAppendBytes: levels come as bytes however many are asked for at a time, some skipped.
func TestAppendBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for width := 1; width <= 3; width++ {
		most := byte(1)<<width - 1
		levels := make([]byte, 3000)
		for i := range levels {
			levels[i] = most
			if i/500%2 == 0 { // else a run
				levels[i] = byte(rng.IntN(int(most) + 1))
			}
		}
		for _, size := range []int{1, 7, 8, 9, 64, 300, 3000} {
			h := NewHybrid(AppendHybrid(nil, levels, width), width)
			var got []byte
			for skip := 0; len(got) < len(levels); skip++ {
				n := min(size, len(levels)-len(got))
				var err error
				if skip%3 == 2 {
					_, _, err = h.Count(n, 0)
					got = append(got, levels[len(got):len(got)+n]...)
				} else {
					got, err = h.AppendBytes(got, n, most)
				}
				must.Do(t, err)
			}
			must.Be(t, bytes.Equal(got, levels) && h.Done() == nil, "%d bits, %d at a time: other levels", width, size)
		}
	}
}
