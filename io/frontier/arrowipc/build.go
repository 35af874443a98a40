package arrowipc

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Messages around a record batch, and new roots around a schema, are built here.

// recordMessage returns the metadata of a record batch message.
func recordMessage(b *batchMeta, bodyLength int64) []byte {
	fb := flatbuffers.NewBuilder(256)
	return finishMessage(fb, kindRecord, b.version, bodyLength, buildBatch(fb, b), noSum[:], nil)
}

// dictionaryMessage returns the metadata of a dictionary batch message.
func dictionaryMessage(d *dictionaryMeta, bodyLength int64) []byte {
	fb := flatbuffers.NewBuilder(256)
	data := buildBatch(fb, d.batch)
	fb.StartObject(3)
	fb.PrependInt64Slot(0, d.id, 0)
	fb.PrependUOffsetTSlot(1, data, 0)
	fb.PrependBoolSlot(2, d.delta, false)
	return finishMessage(fb, kindDictionary, d.batch.version, bodyLength, fb.EndObject(), noSum[:], nil)
}

// schemaMessage returns the metadata of a schema message, whose Schema table
// is the one at pos in buf.
func schemaMessage(buf []byte, pos int) []byte {
	fb := flatbuffers.NewBuilder(len(buf) + 256)
	return finishMessage(fb, kindSchema, metadataV5, 0, graft(fb, buf, pos), noSum[:], nil)
}

// joinSchemas returns the metadata of a schema message with the given columns of first,
// followed by all columns of second. Everything else, including what
// this package does not know, is copied from first.
func joinSchemas(first *schema, columns []int, second *schema) []byte {
	t := first.header.table
	fb := flatbuffers.NewBuilder(len(first.meta) + 256)
	var fields []flatbuffers.UOffsetT
	base := graft(fb, first.meta, 0)
	for _, i := range columns {
		fields = append(fields, base-flatbuffers.UOffsetT(first.fields[i]))
	}
	added := graft(fb, second.meta, 0)
	for _, pos := range second.fields {
		fields = append(fields, added-flatbuffers.UOffsetT(pos))
	}
	list := buildVector(fb, fields)
	fb.StartObject(4)
	fb.PrependInt16Slot(0, t.int16(0), 0)
	fb.PrependUOffsetTSlot(1, list, 0)
	if pos, n := t.vector(2, 4); n > 0 {
		fb.PrependUOffsetTSlot(2, base-flatbuffers.UOffsetT(pos-4), 0)
	}
	if pos, n := t.vector(3, 8); n > 0 {
		fb.PrependUOffsetTSlot(3, base-flatbuffers.UOffsetT(pos-4), 0)
	}
	return finishMessage(fb, kindSchema, metadataV5, 0, fb.EndObject(), partSum(0), nil)
}

// footerBytes returns a file's footer with its checksum, its length and the magic. It takes the schema from the
// schema message h, and includes the keys and values of pairs if there are any.
func footerBytes(h header, dictionaries, batches []block, pairs *keyValues) []byte {
	buf := h.table.f.buf
	fb := flatbuffers.NewBuilder(len(buf) + 256)
	schema := graft(fb, buf, h.table.pos)
	dictionaryBlocks := buildBlocks(fb, dictionaries)
	batchBlocks := buildBlocks(fb, batches)
	list := buildPairs(fb, noSum[:], pairs)
	fb.StartObject(5)
	fb.PrependInt16Slot(0, h.version, 0)
	fb.PrependUOffsetTSlot(1, schema, 0)
	fb.PrependUOffsetTSlot(2, dictionaryBlocks, 0)
	fb.PrependUOffsetTSlot(3, batchBlocks, 0)
	fb.PrependUOffsetTSlot(footerSlot, list, 0)
	fb.Finish(fb.EndObject())
	foot := fb.FinishedBytes()
	sealMetadata(nil, foot, footerSlot, nil)
	return append(appendUint32(foot, uint32(len(foot))), magic...)
}

// keyValues holds the key-value tables of a message or footer that was read, without
// its checksum.
type keyValues struct {
	buf       []byte
	positions []int
}

// readPairs finds the keys and values in a slot of the flatbuffer's root.
func readPairs(buf []byte, slot int) *keyValues {
	k := &keyValues{buf: buf}
	f := newFlat(buf)
	f.root().tables(slot, func(pair table) {
		if key, n := pair.vector(0, 1); f.err == nil && string(f.at(key, n)) != sumKey {
			k.positions = append(k.positions, pair.pos)
		}
	})
	if f.err != nil || len(k.positions) == 0 {
		return nil
	}
	return k
}

// buildPairs builds a list of keys and values: room for the checksum, then others.
func buildPairs(fb *flatbuffers.Builder, sum []byte, others *keyValues) flatbuffers.UOffsetT {
	var list []flatbuffers.UOffsetT
	if others != nil {
		base := graft(fb, others.buf, 0)
		for _, pos := range others.positions {
			list = append(list, base-flatbuffers.UOffsetT(pos))
		}
	}
	return buildVector(fb, append(list, buildPair(fb, sumKey, string(sum))))
}

// buildPair builds a KeyValue table.
func buildPair(fb *flatbuffers.Builder, key, value string) flatbuffers.UOffsetT {
	k, v := fb.CreateString(key), fb.CreateString(value)
	fb.StartObject(2)
	fb.PrependUOffsetTSlot(0, k, 0)
	fb.PrependUOffsetTSlot(1, v, 0)
	return fb.EndObject()
}

// partSum returns room for the checksum of a message whose body it covers from offset
// from on.
func partSum(from int64) []byte {
	return hex.AppendEncode(bytes.Clone(noSum[:]), binary.BigEndian.AppendUint64(nil, uint64(from)))
}

// buildVector builds a vector of tables.
func buildVector(fb *flatbuffers.Builder, tables []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	fb.StartVector(4, len(tables), 4)
	for _, t := range slices.Backward(tables) {
		fb.PrependUOffsetT(t)
	}
	return fb.EndVector(len(tables))
}

// graft copies buf into the builder and returns the offset of the table at pos in it. A
// flatbuffer's references are relative, so a table can be moved with all that surrounds
// it.
func graft(fb *flatbuffers.Builder, buf []byte, pos int) flatbuffers.UOffsetT {
	padding := -len(buf) & 7
	fb.Prep(8, len(buf)+padding)
	fb.Pad(padding)
	for i := len(buf) - 1; i >= 0; i-- {
		fb.PlaceByte(buf[i])
	}
	return fb.Offset() - flatbuffers.UOffsetT(pos)
}

// finishMessage ends a message around its header. It leaves room for a checksum, filled
// with zeros, and adds other keys and values if there are any.
func finishMessage(fb *flatbuffers.Builder, kind uint8, version int16, bodyLength int64, header flatbuffers.UOffsetT, sum []byte, pairs *keyValues) []byte {
	list := buildPairs(fb, sum, pairs)
	fb.StartObject(5)
	fb.PrependInt16Slot(0, version, 0)
	fb.PrependByteSlot(1, kind, 0)
	fb.PrependUOffsetTSlot(2, header, 0)
	fb.PrependInt64Slot(3, bodyLength, 0)
	fb.PrependUOffsetTSlot(messageSlot, list, 0)
	fb.Finish(fb.EndObject())
	return fb.FinishedBytes()
}

// buildBatch builds a RecordBatch table.
func buildBatch(fb *flatbuffers.Builder, b *batchMeta) flatbuffers.UOffsetT {
	fb.StartVector(16, len(b.nodes), 8)
	for i := len(b.nodes) - 1; i >= 0; i-- {
		fb.PrependInt64(b.nodes[i].nulls)
		fb.PrependInt64(b.nodes[i].length)
	}
	nodes := fb.EndVector(len(b.nodes))
	fb.StartVector(16, len(b.buffers), 8)
	for i := len(b.buffers) - 1; i >= 0; i-- {
		fb.PrependInt64(b.buffers[i].length)
		fb.PrependInt64(b.buffers[i].offset)
	}
	buffers := fb.EndVector(len(b.buffers))
	var variadic, compression flatbuffers.UOffsetT
	if len(b.variadic) > 0 {
		fb.StartVector(8, len(b.variadic), 8)
		for i := len(b.variadic) - 1; i >= 0; i-- {
			fb.PrependInt64(b.variadic[i])
		}
		variadic = fb.EndVector(len(b.variadic))
	}
	if b.codec != codecNone {
		fb.StartObject(2)
		fb.PrependByteSlot(0, byte(b.codec), codecLZ4)
		compression = fb.EndObject()
	}
	fb.StartObject(5)
	fb.PrependInt64Slot(0, b.rows, 0)
	fb.PrependUOffsetTSlot(1, nodes, 0)
	fb.PrependUOffsetTSlot(2, buffers, 0)
	fb.PrependUOffsetTSlot(3, compression, 0)
	fb.PrependUOffsetTSlot(4, variadic, 0)
	return fb.EndObject()
}

// buildBlocks builds the footer's vector of blocks.
func buildBlocks(fb *flatbuffers.Builder, blocks []block) flatbuffers.UOffsetT {
	fb.StartVector(24, len(blocks), 8)
	for i := len(blocks) - 1; i >= 0; i-- {
		fb.PrependInt64(blocks[i].body)
		fb.Pad(4)
		fb.PrependInt32(blocks[i].meta)
		fb.PrependInt64(blocks[i].offset)
	}
	return fb.EndVector(len(blocks))
}
