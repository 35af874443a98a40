package arrowipc

import (
	flatbuffers "github.com/google/flatbuffers/go"
)

// The Arrow library keeps its flatbuffer builders to itself, so the few tables
// that this package needs are built here: messages around a record batch, and
// new roots around a schema that the library wrote.

// recordMessage returns the metadata of a record batch message.
func recordMessage(b *batchMeta, bodyLength int64) []byte {
	fb := flatbuffers.NewBuilder(256)
	return finishMessage(fb, kindRecord, b.version, bodyLength, buildBatch(fb, b))
}

// dictionaryMessage returns the metadata of a dictionary batch message.
func dictionaryMessage(d *dictionaryMeta, bodyLength int64) []byte {
	fb := flatbuffers.NewBuilder(256)
	data := buildBatch(fb, d.batch)
	fb.StartObject(3)
	fb.PrependInt64Slot(0, d.id, 0)
	fb.PrependUOffsetTSlot(1, data, 0)
	fb.PrependBoolSlot(2, d.delta, false)
	return finishMessage(fb, kindDictionary, d.batch.version, bodyLength, fb.EndObject())
}

// schemaMessage returns the metadata of a schema message, whose Schema table
// is the one at pos in buf.
func schemaMessage(buf []byte, pos int) []byte {
	fb := flatbuffers.NewBuilder(len(buf) + 256)
	return finishMessage(fb, kindSchema, metadataV5, 0, graft(fb, buf, pos))
}

// footerBytes returns a file's footer, whose Schema table is the one at pos in
// buf, with its checksum.
func footerBytes(buf []byte, pos int, dictionaries, batches []block) []byte {
	fb := flatbuffers.NewBuilder(len(buf) + 256)
	schema := graft(fb, buf, pos)
	dictionaryBlocks := buildBlocks(fb, dictionaries)
	batchBlocks := buildBlocks(fb, batches)
	sum := buildSum(fb)
	fb.StartObject(5)
	fb.PrependInt16Slot(0, metadataV5, 0)
	fb.PrependUOffsetTSlot(1, schema, 0)
	fb.PrependUOffsetTSlot(2, dictionaryBlocks, 0)
	fb.PrependUOffsetTSlot(3, batchBlocks, 0)
	fb.PrependUOffsetTSlot(footerSlot, sum, 0)
	fb.Finish(fb.EndObject())
	foot := fb.FinishedBytes()
	at := sumAt(foot, footerSlot)
	digits := sumOf(nil, foot, at, nil)
	copy(foot[at:], digits[:])
	return foot
}

// buildSum builds a list of keys and values with room for a checksum.
func buildSum(fb *flatbuffers.Builder) flatbuffers.UOffsetT {
	key, value := fb.CreateString(sumKey), fb.CreateByteString(noSum[:])
	fb.StartObject(2)
	fb.PrependUOffsetTSlot(0, key, 0)
	fb.PrependUOffsetTSlot(1, value, 0)
	pair := fb.EndObject()
	fb.StartVector(4, 1, 4)
	fb.PrependUOffsetT(pair)
	return fb.EndVector(1)
}

// graft puts buf behind what is built from here on and returns the offset of
// the table at pos in it. A flatbuffer's references are relative, so a table
// can be moved with all that surrounds it.
func graft(fb *flatbuffers.Builder, buf []byte, pos int) flatbuffers.UOffsetT {
	padding := -len(buf) & 7
	fb.Prep(8, len(buf)+padding)
	fb.Pad(padding)
	for i := len(buf) - 1; i >= 0; i-- {
		fb.PlaceByte(buf[i])
	}
	return fb.Offset() - flatbuffers.UOffsetT(pos)
}

// finishMessage ends a message around its header, with room for a checksum.
func finishMessage(fb *flatbuffers.Builder, kind uint8, version int16, bodyLength int64, header flatbuffers.UOffsetT) []byte {
	sum := buildSum(fb)
	fb.StartObject(5)
	fb.PrependInt16Slot(0, version, 0)
	fb.PrependByteSlot(1, kind, 0)
	fb.PrependUOffsetTSlot(2, header, 0)
	fb.PrependInt64Slot(3, bodyLength, 0)
	fb.PrependUOffsetTSlot(messageSlot, sum, 0)
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

// buildBlocks builds a footer's vector of blocks.
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
