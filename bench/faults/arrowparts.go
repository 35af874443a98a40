//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	flatbuffers "github.com/google/flatbuffers/go"
)

// layout says what the bytes of a file are part of.
type layout struct{ spans []span }

type span struct {
	end  int
	part part
}

// to says that the bytes up to end that nothing was said of yet are part of p.
func (l *layout) to(end int, p part) {
	if len(l.spans) == 0 || end > l.spans[len(l.spans)-1].end {
		l.spans = append(l.spans, span{end, p})
	}
}

func (l *layout) at(offset int) part {
	i, _ := slices.BinarySearchFunc(l.spans, offset, func(s span, offset int) int {
		if s.end <= offset {
			return -1
		}
		return 1
	})
	return l.spans[i].part
}

// Kinds of messages, and slots of the tables that are looked at (Message.fbs).
const (
	schemaMessage     = 1
	dictionaryMessage = 2
)

// arrowParts finds the parts of an Arrow file or stream that is sound.
func arrowParts(data []byte, file bool, schema *arrow.Schema) (*layout, error) {
	l := &layout{}
	pos := 0
	if file {
		pos = 8
		l.to(6, part{name: "magic"})
		l.to(pos, part{name: "padding"})
	}
	for {
		if binary.LittleEndian.Uint32(data[pos:]) != 0xFFFFFFFF {
			if file {
				break // the library writes no end marker there
			}
			return nil, fmt.Errorf("no message at %d", pos)
		}
		size := int(binary.LittleEndian.Uint32(data[pos+4:]))
		if size == 0 {
			l.to(pos+8, part{name: "end marker"})
			break
		}
		l.to(pos+8, part{name: "frame"})
		meta := data[pos+8 : pos+8+size]
		pos += 8 + size
		kind, body, batch := messageParts(meta)
		switch kind {
		case schemaMessage:
			l.to(pos, part{"schema", true})
			continue
		case dictionaryMessage:
			l.to(pos, part{"dictionary batch metadata", true})
		default:
			l.to(pos, part{"record batch metadata", true})
		}
		names := bufferParts(schema, kind == dictionaryMessage)
		if len(names) != len(batch.buffers) {
			return nil, errors.New("unexpected buffers")
		}
		for i, b := range batch.buffers {
			if b[1] == 0 {
				continue
			}
			l.to(pos+b[0], part{name: "padding"})
			if batch.compressed {
				l.to(pos+b[0]+8, part{name: "size of a compressed buffer"})
				l.to(pos+b[0]+b[1], frameParts(data[pos+b[0]+8:]))
			} else {
				l.to(pos+b[0]+b[1], names[i])
			}
		}
		pos += body
		l.to(pos, part{name: "padding"})
	}
	if file {
		l.to(len(data)-10, part{"footer", true})
		l.to(len(data)-6, part{name: "footer's length"})
		l.to(len(data), part{name: "magic"})
	}
	return l, nil
}

// frameParts says what a compressed buffer is, which starts after its size.
func frameParts(frame []byte) part {
	const lz4Magic, lz4Checksums, zstdChecksum = 0x184D2204, 1<<2 | 1<<4, 1 << 2
	checksum := frame[4]&zstdChecksum != 0
	if binary.LittleEndian.Uint32(frame) == lz4Magic {
		checksum = frame[4]&lz4Checksums != 0
	}
	if checksum {
		return part{name: "compressed buffer with a checksum"}
	}
	return part{"compressed buffer without a checksum", true}
}

type batchParts struct {
	compressed bool
	buffers    [][2]int // offset, length
}

// messageParts reads the metadata of a message.
func messageParts(meta []byte) (kind byte, body int, b batchParts) {
	root := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
	kind = root.GetByteSlot(6, 0)
	body = int(root.GetInt64Slot(10, 0))
	if kind == schemaMessage {
		return kind, body, b
	}
	batch := child(root, 8)
	if kind == dictionaryMessage {
		batch = child(batch, 6)
	}
	b.compressed = batch.Offset(10) != 0
	if o := batch.Offset(8); o != 0 {
		at := batch.Vector(flatbuffers.UOffsetT(o))
		for i := range batch.VectorLen(flatbuffers.UOffsetT(o)) {
			pair := at + flatbuffers.UOffsetT(16*i)
			b.buffers = append(b.buffers, [2]int{int(flatbuffers.GetInt64(meta[pair:])), int(flatbuffers.GetInt64(meta[pair+8:]))})
		}
	}
	return kind, body, b
}

func child(t flatbuffers.Table, slot flatbuffers.VOffsetT) flatbuffers.Table {
	o := flatbuffers.UOffsetT(t.Offset(slot))
	return flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(o + t.Pos)}
}

// bufferParts says what the buffers of a record batch are, or those of a
// dictionary of strings.
func bufferParts(schema *arrow.Schema, dictionary bool) []part {
	if dictionary {
		return typeParts(nil, arrow.BinaryTypes.String)
	}
	var parts []part
	for _, field := range schema.Fields() {
		parts = typeParts(parts, field.Type)
	}
	return parts
}

func typeParts(parts []part, dt arrow.DataType) []part {
	parts = append(parts, part{"validity bitmap", true})
	switch dt := dt.(type) {
	case *arrow.StringType:
		return append(parts, part{"offsets", true}, part{"text of strings", true})
	case *arrow.ListType:
		return typeParts(append(parts, part{"offsets", true}), dt.Elem())
	case *arrow.DictionaryType:
		return append(parts, part{"dictionary indices", true})
	}
	return append(parts, part{"numbers", true})
}
