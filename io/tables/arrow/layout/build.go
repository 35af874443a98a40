package layout

import (
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Metadata is built here. Functions whose names end in Message return the metadata of a whole message, with room for a
// checksum. Functions whose names begin with build add a part to a flatbuffer and return where that begins.

// RecordMessage returns the metadata of a record batch message whose body has bodyLength bytes. sum, which is NoSum or
// made by PartSum, is the room for a checksum. pairs are further keys and values, nil for none.
func RecordMessage(b *BatchMeta, bodyLength int64, sum []byte, pairs *KeyValues) []byte {
	fb := flatbuffers.NewBuilder(1024)
	return finishMessage(fb, KindRecord, b.Version, bodyLength, buildBatch(fb, b), sum, pairs)
}

// DictionaryMessage returns the metadata of a dictionary batch message whose body has bodyLength bytes.
func DictionaryMessage(d *DictionaryMeta, bodyLength int64) []byte {
	fb := flatbuffers.NewBuilder(256)
	data := buildBatch(fb, d.Batch)
	fb.StartObject(3)
	fb.PrependInt64Slot(idSlot, d.ID, 0)
	fb.PrependUOffsetTSlot(batchSlot, data, 0)
	fb.PrependBoolSlot(deltaSlot, d.Delta, false)
	return finishMessage(fb, KindDictionary, d.Batch.Version, bodyLength, fb.EndObject(), NoSum[:], nil)
}

// SchemaMessage returns the metadata of a schema message. Its schema is table t of another message or of a footer.
func SchemaMessage(t Table) []byte {
	fb := flatbuffers.NewBuilder(len(t.Flat.Buf) + 256)
	return finishMessage(fb, KindSchema, MetadataV5, 0, graft(fb, t.Flat.Buf, t.Pos), NoSum[:], nil)
}

// KeyValues are the keys and values of a message or footer that was read, without its checksum.
type KeyValues struct {
	buf       []byte // the message's or footer's flatbuffer
	positions []int  // of the KeyValue tables in buf
}

// ReadPairs returns the keys and values in a slot of the root table of the flatbuffer buf, whose memory they share. It
// returns nil if there are none, or if they are damaged.
func ReadPairs(buf []byte, slot int) *KeyValues {
	k := &KeyValues{buf: buf}
	f := NewFlat(buf)
	f.Root().Tables(slot, func(pair Table) {
		if key, n := pair.vector(keySlot, 1); f.err == nil && string(f.at(key, n)) != SumKey {
			k.positions = append(k.positions, pair.Pos)
		}
	})
	if f.err != nil || len(k.positions) == 0 {
		return nil
	}
	return k
}

// buildPairs builds a vector of KeyValue tables: others, which may be nil, and then one whose value is sum, the room for
// the checksum.
func buildPairs(fb *flatbuffers.Builder, sum []byte, others *KeyValues) flatbuffers.UOffsetT {
	var list []flatbuffers.UOffsetT
	if others != nil {
		base := graft(fb, others.buf, 0)
		for _, pos := range others.positions {
			list = append(list, base-flatbuffers.UOffsetT(pos))
		}
	}
	return buildVector(fb, append(list, buildPair(fb, SumKey, string(sum))))
}

// buildPair builds a KeyValue table.
func buildPair(fb *flatbuffers.Builder, key, value string) flatbuffers.UOffsetT {
	k, v := fb.CreateString(key), fb.CreateString(value)
	fb.StartObject(2)
	fb.PrependUOffsetTSlot(keySlot, k, 0)
	fb.PrependUOffsetTSlot(valueSlot, v, 0)
	return fb.EndObject()
}

// buildVector builds a vector of references to tables, which are built already.
func buildVector(fb *flatbuffers.Builder, tables []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	fb.StartVector(referenceSize, len(tables), referenceSize)
	for _, t := range slices.Backward(tables) {
		fb.PrependUOffsetT(t)
	}
	return fb.EndVector(len(tables))
}

// graft copies the whole flatbuffer buf into the builder, and returns the offset there of the table that is at
// pos in buf. References are relative, so that they remain right. With pos 0, subtract the position of any table in
// buf from the result for that table's offset.
func graft(fb *flatbuffers.Builder, buf []byte, pos int) flatbuffers.UOffsetT {
	padding := -len(buf) & 7
	fb.Prep(8, len(buf)+padding)
	fb.Pad(padding)
	for i := len(buf) - 1; i >= 0; i-- {
		fb.PlaceByte(buf[i])
	}
	return fb.Offset() - flatbuffers.UOffsetT(pos)
}

// finishMessage returns the metadata of a message of a kind, whose header is built in fb already. The other parameters
// are as in RecordMessage.
func finishMessage(fb *flatbuffers.Builder, kind uint8, version int16, bodyLength int64, header flatbuffers.UOffsetT, sum []byte, pairs *KeyValues) []byte {
	list := buildPairs(fb, sum, pairs)
	fb.StartObject(5)
	fb.PrependInt16Slot(versionSlot, version, 0)
	fb.PrependByteSlot(kindSlot, kind, 0)
	fb.PrependUOffsetTSlot(headerSlot, header, 0)
	fb.PrependInt64Slot(bodySlot, bodyLength, 0)
	fb.PrependUOffsetTSlot(MessageSlot, list, 0)
	fb.Finish(fb.EndObject())
	return fb.FinishedBytes()
}

// buildBatch builds a RecordBatch table.
func buildBatch(fb *flatbuffers.Builder, b *BatchMeta) flatbuffers.UOffsetT {
	nodes := buildStructs(fb, 2, b.Nodes, func(n FieldNode) [3]int64 { return [3]int64{n.Length, n.Nulls} })
	buffers := buildStructs(fb, 2, b.Buffers, func(s Span) [3]int64 { return [3]int64{s.Offset, s.Length} })
	var variadic, compression flatbuffers.UOffsetT
	if len(b.Variadic) > 0 {
		variadic = buildStructs(fb, 1, b.Variadic, func(count int64) [3]int64 { return [3]int64{count} })
	}
	if b.Codec != CodecNone {
		fb.StartObject(2)
		fb.PrependByteSlot(codecSlot, byte(b.Codec), CodecLZ4)
		compression = fb.EndObject()
	}
	fb.StartObject(5)
	fb.PrependInt64Slot(rowsSlot, b.Rows, 0)
	fb.PrependUOffsetTSlot(nodesSlot, nodes, 0)
	fb.PrependUOffsetTSlot(buffersSlot, buffers, 0)
	fb.PrependUOffsetTSlot(compressionSlot, compression, 0)
	fb.PrependUOffsetTSlot(variadicSlot, variadic, 0)
	return fb.EndObject()
}

// buildBlocks builds the footer's vector of blocks. Four bytes of padding follow the 32 bits of Meta.
func buildBlocks(fb *flatbuffers.Builder, blocks []Block) flatbuffers.UOffsetT {
	return buildStructs(fb, 3, blocks, func(b Block) [3]int64 { return [3]int64{b.Offset, int64(b.Meta), b.Body} })
}

// buildStructs builds a vector of a struct for each element of list: n 64-bit numbers, the first n that numbers returns.
func buildStructs[T any](fb *flatbuffers.Builder, n int, list []T, numbers func(T) [3]int64) flatbuffers.UOffsetT {
	fb.StartVector(8*n, len(list), 8)
	for i := len(list) - 1; i >= 0; i-- { // a flatbuffer is built from its end
		s := numbers(list[i])
		for k := n - 1; k >= 0; k-- {
			fb.PrependInt64(s[k])
		}
	}
	return fb.EndVector(len(list))
}
