//go:build linux

package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
)

// parquetParts finds the parts of an intact Parquet file.
func parquetParts(data []byte, codec compress.Compression) (*layout, error) {
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	type chunk struct{ start, end int }
	var chunks []chunk
	l := &layout{}
	for _, group := range r.MetaData().RowGroups {
		for i, column := range group.Columns {
			m := column.MetaData
			start := m.DataPageOffset
			if m.DictionaryPageOffset != nil && *m.DictionaryPageOffset < start {
				start = *m.DictionaryPageOffset
			}
			if i > 0 { // the first column has the URLs
				l.copied = append(l.copied, [2]int{int(start), int(start + m.TotalCompressedSize)})
			}
			chunks = append(chunks, chunk{int(start), int(start + m.TotalCompressedSize)})
		}
	}
	slices.SortFunc(chunks, func(x, y chunk) int { return cmp.Compare(x.start, y.start) })
	l.to(4, part{name: "magic"})
	for _, c := range chunks {
		l.to(c.start, part{name: "between columns"})
		if err := l.pages(data, c.start, c.end, codec); err != nil {
			return nil, err
		}
	}
	footer := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	l.to(footer, part{name: "between columns"})
	l.to(len(data)-8, part{"footer", true})
	l.to(len(data)-4, part{name: "footer's length"})
	l.to(len(data), part{name: "magic"})
	return l, nil
}

// pages finds the parts of the pages of a column.
func (l *layout) pages(data []byte, start, end int, codec compress.Compression) error {
	for start < end {
		h := thrift{data: data[start:end]}
		if err := h.structure(0); err != nil {
			return err
		}
		start = end - len(h.data)
		l.to(start, part{"page header", true})
		levels := int(h.repetition + h.definition)
		l.to(start+levels, part{"levels, uncompressed", true})
		start += int(h.compressed)
		if codec == compress.Codecs.Uncompressed {
			l.to(start, part{"values and levels, uncompressed", true})
		} else {
			l.to(start, part{name: "compressed page with a checksum"})
		}
	}
	return nil
}

// thrift reads the size of a page from its header.
type thrift struct {
	data                               []byte
	compressed, repetition, definition int64
}

var errThrift = errors.New("a page's header cannot be read")

func (t *thrift) varint() int64 {
	v, n := binary.Uvarint(t.data)
	t.data = t.data[max(n, 0):]
	return int64(v>>1) ^ -int64(v&1)
}

// structure reads a structure, which is the field outer.
func (t *thrift) structure(outer int) error {
	for id := 0; len(t.data) > 0; {
		head := t.data[0]
		t.data = t.data[1:]
		if head == 0 {
			return nil
		}
		id += int(head >> 4)
		switch head & 15 {
		case 1, 2: // booleans
		case 3:
			t.data = t.data[1:]
		case 4, 5, 6: // integers
			switch v := t.varint(); {
			case outer == 0 && id == 3:
				t.compressed = v
			case outer == 8 && id == 5:
				t.definition = v
			case outer == 8 && id == 6:
				t.repetition = v
			}
		case 8: // bytes
			n, size := binary.Uvarint(t.data)
			t.data = t.data[size+int(n):]
		case 12:
			if err := t.structure(id); err != nil {
				return err
			}
		default:
			return errThrift
		}
	}
	return errThrift
}
