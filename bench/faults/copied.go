//go:build linux

package main

import (
	"encoding/binary"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"
)

// These are the kind of a record batch message, and the number of buffers of the first
// column, the URLs.
const (
	recordMessage = 3
	urlBuffers    = 3
)

// copiedArrow finds the bytes of an intact Arrow file or stream that are only copied: the
// bodies of batches without the buffers of the URLs. If a checksum covers a part of them, a
// change there must be noticed.
func copiedArrow(data []byte, file bool) (*layout, error) {
	l := &layout{}
	pos := 0
	if file {
		pos = 8
	}
	for pos+8 <= len(data) && binary.LittleEndian.Uint32(data[pos:]) == 0xFFFFFFFF {
		size := int(binary.LittleEndian.Uint32(data[pos+4:]))
		if size == 0 {
			break
		}
		start := pos + 8 + size
		l.to(start, part{"metadata", true})
		m := readMessage(data[pos+8 : start])
		copied := start
		if m.kind == recordMessage {
			if len(m.buffers) < urlBuffers {
				return nil, fmt.Errorf("the record batch at %d has %d buffers", pos, len(m.buffers))
			}
			for _, b := range m.buffers[:urlBuffers] {
				if b.length > 0 {
					l.to(start+b.offset, part{"padding", true})
					copied = start + b.offset + b.length
					l.to(copied, urlBuffer(data[start+b.offset:], m.compressed))
				}
			}
		}
		pos = start + m.body
		l.copied = append(l.copied, [2]int{copied, pos})
		l.to(pos, part{"bodies", true})
	}
	l.to(len(data), part{"metadata", true})
	return l, nil
}

// urlBuffer returns the part of the URLs' buffer that data starts with.
func urlBuffer(data []byte, compressed bool) part {
	const zstdMagic, zstdChecksum = 0xFD2FB528, 1 << 2
	if compressed && binary.LittleEndian.Uint32(data[8:]) == zstdMagic && data[12]&zstdChecksum != 0 {
		return part{name: "URLs with a checksum"}
	}
	return part{"URLs without a checksum", true}
}

// messageParts is what a message's metadata gives about its body.
type messageParts struct {
	kind       byte
	body       int
	compressed bool
	buffers    []bufferPart
}

type bufferPart struct{ offset, length int }

// readMessage reads metadata (Message.fbs).
func readMessage(meta []byte) (m messageParts) {
	root := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
	m.kind, m.body = root.GetByteSlot(6, 0), int(root.GetInt64Slot(10, 0))
	if m.kind != recordMessage {
		return m
	}
	field := flatbuffers.UOffsetT(root.Offset(8))
	batch := flatbuffers.Table{Bytes: meta, Pos: root.Indirect(field + root.Pos)}
	m.compressed = batch.Offset(10) != 0
	buffers := flatbuffers.UOffsetT(batch.Offset(8))
	at := batch.Vector(buffers)
	for i := range batch.VectorLen(buffers) {
		pair := at + flatbuffers.UOffsetT(16*i)
		m.buffers = append(m.buffers, bufferPart{int(flatbuffers.GetInt64(meta[pair:])), int(flatbuffers.GetInt64(meta[pair+8:]))})
	}
	return m
}
