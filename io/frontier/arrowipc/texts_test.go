package arrowipc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/klauspost/compress/zstd"

	"robotsbatch/batch"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/arrow/layout"
)

// handMadeTexts is a record batch of one column of texts with zstd.
type handMadeTexts struct {
	rows, nulls int
	offsets     []int64
	bitmap      []byte // nil for none
	width       int
	text        []byte
	size        int  // that the buffer of texts says, if not 0
	cut         bool // the frame
}

// newTextsOf has a text for each row, of which each seventh is null if nulls is set. The texts begin
// at byte begin of their buffer.
func newTextsOf(rows, begin, width int, nulls bool) (t *handMadeTexts, values []string) {
	t = &handMadeTexts{rows: rows, width: width, text: bytes.Repeat([]byte("x"), begin), offsets: []int64{int64(begin)}}
	if nulls {
		t.bitmap = make([]byte, (rows+7)/8)
	}
	for i := range rows {
		value := fmt.Sprintf("http://h%d.test/%s", i, strings.Repeat("a", i%50))
		if nulls && i%7 == 3 {
			value = ""
			t.nulls++
		} else if nulls {
			t.bitmap[i/8] |= 1 << (i % 8)
		}
		values = append(values, value)
		t.text = append(t.text, value...)
		t.offsets = append(t.offsets, int64(len(t.text)))
	}
	t.text = append(t.text, "the end that no row has"...)
	return t, values
}

// stream returns an Arrow stream of it.
func (h *handMadeTexts) stream(t testing.TB) []byte {
	w := must.Get(zstd.NewWriter(nil, zstd.WithEncoderCRC(true)))(t)
	defer w.Close()
	var offsets []byte
	for _, o := range h.offsets {
		offsets = append(offsets, binary.LittleEndian.AppendUint64(nil, uint64(o))[:h.width]...)
	}
	b := &layout.BatchMeta{Version: layout.MetadataV5, Rows: int64(h.rows), Nodes: []layout.FieldNode{{Length: int64(h.rows), Nulls: int64(h.nulls)}}, Codec: layout.CodecZstd}
	var body []byte
	for i, plain := range [][]byte{h.bitmap, offsets, h.text} {
		buffer, size := []byte(nil), len(plain)
		if i == 2 && h.size > 0 {
			size = h.size
		}
		if plain != nil {
			buffer = sized(int64(size), w.EncodeAll(plain, nil))
		}
		if i == 2 && h.cut {
			buffer = buffer[:len(buffer)-9]
		}
		b.Buffers = append(b.Buffers, layout.Span{Offset: int64(len(body)), Length: int64(len(buffer))})
		body = append(body, buffer...)
		body = append(body, make([]byte, -len(body)&7)...)
	}
	var dt arrow.DataType = arrow.BinaryTypes.String
	if h.width == 8 {
		dt = arrow.BinaryTypes.LargeBinary
	}
	return handMade(t, arrow.NewSchema([]arrow.Field{{Name: "url", Type: dt, Nullable: true}}, nil), b, body)
}

// Pieces of texts that are decompressed part by part have the values that were written, in any
// order of decoding.
func TestTextsInParts(t *testing.T) {
	const rows = 1000
	for _, width := range []int{4, 8} {
		for _, nulls := range []bool{false, true} {
			for _, begin := range []int{0, 5} {
				for _, size := range []int{64, 60, 999} {
					h, values := newTextsOf(rows, begin, width, nulls)
					for _, together := range []bool{false, true} {
						s := must.Get(open(h.stream(t), true, Options{BatchRows: size}))(t)
						pieces := piecesOf(t, s)
						if len(pieces) != (rows+size-1)/size {
							t.Fatalf("%d pieces", len(pieces))
						}
						batches := make([]*batch.Batch, len(pieces))
						var workers sync.WaitGroup
						for i, p := range slices.Backward(pieces) {
							decode := func() {
								ready := make(chan struct{})
								if together && !p.(batch.Waiting).Ready(nil, func() { close(ready) }) {
									<-ready
									p.(batch.Waiting).Ready(nil, nil)
								}
								b, err := p.Decode()
								if err != nil {
									t.Error(err)
								}
								batches[i] = b
							}
							if !together {
								decode()
								continue
							}
							workers.Go(decode)
						}
						workers.Wait()
						must.Need(t, pieces[0].(*piece).taken != 0, "the texts were decoded at once")
						for i, b := range batches {
							for row := range b.URLs.Len() {
								at := i*size + row
								if null := nulls && at%7 == 3; b.URLs.Null(row) != null || !null && string(b.URLs.Value(row)) != values[at] {
									t.Fatalf("width %d, nulls %v, from %d, pieces of %d, together %v: row %d is %q", width, nulls, begin, size, together, at, b.URLs.Value(row))
								}
							}
						}
					}
				}
			}
		}
	}
}

// What is damaged anywhere in the texts or their offsets is an error.
func TestDamagedTextsInParts(t *testing.T) {
	for name, damage := range map[string]func(*handMadeTexts){
		"nothing":                          func(*handMadeTexts) {},
		"the frame is cut":                 func(h *handMadeTexts) { h.cut = true },
		"there is more than the size says": func(h *handMadeTexts) { h.size = len(h.text) - 1 },
		"there is less than the size says": func(h *handMadeTexts) { h.size = len(h.text) + 1 },
		"a text ends after all texts":      func(h *handMadeTexts) { h.offsets[len(h.offsets)-1] = int64(len(h.text)) + 1 },
		"an offset within a piece falls":   func(h *handMadeTexts) { h.offsets[30] = h.offsets[28] },
		"a piece ends before it begins":    func(h *handMadeTexts) { h.offsets[128] = h.offsets[60] },
		"the first offset is negative":     func(h *handMadeTexts) { h.offsets[0] = -1 },
		"the first offset is too large":    func(h *handMadeTexts) { h.offsets[0] = 1 << 30 },
		"an offset is missing":             func(h *handMadeTexts) { h.offsets = h.offsets[:h.rows] },
		"there are more nulls":             func(h *handMadeTexts) { h.nulls++ },
		"the bitmap is too short":          func(h *handMadeTexts) { h.bitmap = h.bitmap[:2] },
	} {
		h, _ := newTextsOf(300, 0, 4, true)
		damage(h)
		batches, err := readAll(h.stream(t), true, Options{BatchRows: 64})
		must.Be(t, (err == nil) == (name == "nothing"), "%s: error %v after %d rows", name, err, rowsOf(batches))
	}
	h, _ := newTextsOf(40, 0, 4, true)
	data := h.stream(t)
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= []byte{0x01, 0xFF, 0x80}[i%3]
		if batches, err := readAll(damaged, true, Options{BatchRows: 8, Memory: 1 << 20}); err == nil {
			useAll(t, batches)
		}
	}
}
