package runs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"robotsbatch/io/store/must"
)

// form is of records that are a u16 length, a u64 key and text.
var form = Form{
	Head:    10,
	Size:    func(head []byte) int { return 10 + int(binary.LittleEndian.Uint16(head)) },
	Key:     func(record []byte) uint64 { return binary.LittleEndian.Uint64(record[2:]) },
	Compare: func(a, b []byte) int { return bytes.Compare(a[10:], b[10:]) },
}

func randomRecords(n int) [][]byte {
	r := rand.New(rand.NewPCG(3, 4))
	var all [][]byte
	for range n {
		text := make([]byte, r.IntN(60))
		switch r.IntN(200) {
		case 0, 1:
			text = make([]byte, maxRecord-10)
		case 2: // longer than a chunk
			text = make([]byte, maxRecord+r.IntN(math.MaxUint16-maxRecord))
		}
		for i := range text {
			text[i] = byte(r.IntN(3))
		}
		record := binary.LittleEndian.AppendUint16(nil, uint16(len(text)))
		record = binary.LittleEndian.AppendUint64(record, uint64(r.IntN(n/2+1)))
		all = append(all, append(record, text...))
	}
	return all
}

func TestSorter(t *testing.T) {
	for _, n := range []int{0, 1, 5000} {
		records := randomRecords(n)
		want := slices.Clone(records)
		slices.SortFunc(want, func(a, b []byte) int {
			if x, y := form.Key(a), form.Key(b); x != y {
				return int(int64(x) - int64(y))
			}
			return form.Compare(a, b)
		})
		for _, memory := range []int64{0, 64 << 10, 1 << 30} {
			folder := t.TempDir()
			s := NewSorter(form, memory, folder)
			for _, record := range records {
				must.Do(t, s.Add(slices.Clone(record)))
			}
			must.Equal(t, s.spill.Size() > 0, n > 1 && memory < 1<<30, n, "records", memory, "bytes of memory: spilled")
			var got [][]byte
			must.Do(t, s.Merge(func(record []byte) error { got = append(got, slices.Clone(record)); return nil }))
			must.Be(t, slices.EqualFunc(got, want, bytes.Equal) && s.Len() == int64(n), "%d records, %d bytes of memory: the order is wrong", n, memory)
			s.Close()
			left, err := os.ReadDir(folder)
			must.Be(t, err == nil && len(left) == 0, "left behind: %v, %v", left, err)
		}
	}
}

func TestSorterErrors(t *testing.T) {
	s := NewSorter(form, 0, "/nowhere/at all")
	var err error
	for _, record := range randomRecords(5000) {
		if err = s.Add(record); err != nil {
			break
		}
	}
	must.Is(t, err, os.ErrNotExist)
	s = NewSorter(form, 0, t.TempDir())
	defer s.Close()
	for _, record := range randomRecords(50) {
		must.Do(t, s.Add(record))
	}
	stop := errors.New("stop")
	must.Is(t, s.Merge(func([]byte) error { return stop }), stop)
}
