package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Types of Thrift's compact protocol. Those that a [Raw] field is written as begin with Raw.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	RawI16       = 4
	RawI32       = 5
	RawI64       = 6
	thriftDouble = 7
	RawBinary    = 8
	RawList      = 9
	thriftSet    = 10
	thriftMap    = 11
	RawStruct    = 12
	thriftUUID   = 13
)

// maxThriftDepth is how deep structures and lists may lie in one another; Parquet's have
// six levels.
const maxThriftDepth = 32

var errThrift = errors.New("damaged: its structure cannot be read")

// structure is a structure of parquet.thrift. It lists its fields once, for reading and writing, by the
// methods and functions of thrift, in the order of their numbers. Reading calls fields more than once: see
// thrift.read.
//
//	func (s *Statistics) fields(t *thrift) {
//		i64(t, 3, present, &s.Nulls)
//		text(t, 5, optional(s.High != nil), &s.High)
//	}
//
// A required field that is not there is an error, as it is for every reader whose code is generated
// from parquet.thrift.
type structure interface{ fields(t *thrift) }

// presence says whether a field is written.
type presence int8

const (
	absent presence = iota
	present
	required
)

// optional is the presence of a field that is written if the condition holds.
func optional(written bool) presence {
	if written {
		return present
	}
	return absent
}

// thrift reads or writes values in Thrift's compact protocol. Reading it keeps the first error
// and then reads zeros: a caller asks for the error once, at the end.
type thrift struct {
	data    []byte // read from at on, or written
	at      int
	depth   int
	err     error
	writing bool
	columns int // of the schema so far
	field
}

// field is a structure's field: the one that was written last, or whose header was read last.
type field struct {
	id   int16
	kind byte

	// For reading:
	pending bool   // there is such a field: its header was read, and not the structure's end
	taken   bool   // its value was read, because isDue returned true for it; the next header is still to be read
	ended   bool   // all fields were read
	n       int    // the number of fields so far
	seen    uint32 // the ids of fields so far, up to maxField, with bit 1<<id for each
	highest int16  // the highest id that the structure's fields method has asked for
}

// isDue reports whether the caller is to read or write the value of field id now. When writing, it writes the
// field's header before, and returns false if p is absent. When reading, it returns true if id is that of the next field.
// It is called once more for each field after all were read (t.ended): then it returns false, and only checks that a
// required one was there.
func (t *thrift) isDue(id int16, kind byte, p presence) bool {
	switch {
	case t.writing:
		if p != absent {
			t.header(id, kind)
		}
		return p != absent
	case t.ended:
		if p == required && !t.saw(id) && t.err == nil {
			t.damaged("lacks field %d, which the format requires", id)
		}
		return false
	}
	if t.taken {
		t.nextField()
	}
	t.highest = max(t.highest, id)
	t.taken = t.pending && t.id == id
	return t.taken
}

// header writes a field's header: its kind, and how much its id is higher than that of the field before. If four
// bits cannot say that, it writes the id itself.
func (t *thrift) header(id int16, kind byte) {
	if delta := id - t.id; delta > 0 && delta < 16 {
		t.data = append(t.data, byte(delta)<<4|kind)
	} else {
		t.data = binary.AppendVarint(append(t.data, kind), int64(id))
	}
	t.id = id
}

// saw reports whether the structure has had a field.
func (t *thrift) saw(id int16) bool { return t.seen>>id&1 == 1 }

// number reads or writes an integer field. It is written as kind, and read from an integer of any width. A number
// that does not fit into T, or into 32 bits if kind is RawI32, is an error.
func number[T ~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint32](t *thrift, id int16, kind byte, p presence, v *T) {
	switch {
	case !t.isDue(id, kind, p):
	case t.writing && kind == thriftByte:
		t.data = append(t.data, byte(*v))
	case t.writing:
		t.data = binary.AppendVarint(t.data, int64(*v))
	default:
		read := t.integer(t.kind)
		if *v = T(read); int64(*v) != read || kind == RawI32 && int64(int32(read)) != read {
			t.fail()
		}
	}
}

// i32 is number for a field of 32 bits.
func i32[T ~int32 | ~int64 | ~int](t *thrift, id int16, p presence, v *T) {
	number(t, id, RawI32, p, v)
}

// i64 is number for a field of 64 bits.
func i64(t *thrift, id int16, p presence, v *int64) { number(t, id, RawI64, p, v) }

// boolean reads or writes a boolean field. It has no value in the data: its kind is thriftTrue or thriftFalse.
func (t *thrift) boolean(id int16, p presence, v *bool) {
	kind := byte(thriftFalse)
	if *v {
		kind = thriftTrue
	}
	if t.isDue(id, kind, p) && !t.writing {
		if *v = t.kind == thriftTrue; t.kind != thriftTrue && t.kind != thriftFalse {
			t.fail()
		}
	}
}

// text reads or writes a field of bytes. A []byte that is read aliases the data.
func text[T ~string | ~[]byte](t *thrift, id int16, p presence, v *T) {
	if t.isDue(id, RawBinary, p) {
		textValue(t, t.kind, v)
	}
}

// textValue reads or writes bytes. kind, which is for reading alone, is the Thrift type that the data gives for the
// field, or for the elements of the list, that they are.
func textValue[T ~string | ~[]byte](t *thrift, kind byte, v *T) {
	if t.writing {
		t.data = append(binary.AppendUvarint(t.data, uint64(len(*v))), *v...)
	} else {
		*v = T(t.bytes(kind))
	}
}

// nested reads or writes a field that is a structure.
func (t *thrift) nested(id int16, p presence, s structure) {
	if t.isDue(id, RawStruct, p) {
		t.structureValue(t.kind, s)
	}
}

// structureValue reads or writes a structure. kind is as in textValue.
func (t *thrift) structureValue(kind byte, s structure) {
	switch {
	case t.writing:
		t.write(s)
	case kind != RawStruct:
		t.fail()
	default:
		t.read(s)
	}
}

// list reads or writes a field with a list, whose elements are written as kind. element reads or writes one; the
// kind that it is given is the one in the data that is read.
func list[T any](t *thrift, id int16, kind byte, p presence, values *[]T, element func(kind byte, v *T)) {
	if !t.isDue(id, RawList, p) {
		return
	}
	if !t.writing {
		t.elements(t.kind, func(kind byte) {
			var v T
			*values = append(*values, v)
			element(kind, &(*values)[len(*values)-1])
		})
		return
	}
	t.data = appendListHeader(t.data, kind, len(*values))
	for i := range *values {
		element(kind, &(*values)[i])
	}
}

// appendListHeader appends what comes before n elements of a kind: n and the kind, in one byte if n is less
// than 15.
func appendListHeader(dst []byte, kind byte, n int) []byte {
	if n < 15 {
		return append(dst, byte(n)<<4|kind)
	}
	return binary.AppendUvarint(append(dst, 15<<4|kind), uint64(n))
}

// structures reads or writes a field with a list of structures.
func structures[T any, P interface {
	*T
	structure
}](t *thrift, id int16, p presence, values *[]T) {
	list(t, id, RawStruct, p, values, func(kind byte, v *T) { t.structureValue(kind, P(v)) })
}

// numbers reads or writes a field with a list of integers.
func numbers[T ~int32 | ~int64](t *thrift, id int16, kind byte, p presence, values *[]T) {
	list(t, id, kind, p, values, func(kind byte, v *T) {
		if t.writing {
			t.data = binary.AppendVarint(t.data, int64(*v))
		} else {
			*v = T(t.integer(kind))
		}
	})
}

// texts reads or writes a field with a list of strings. Those that are read alias the data, unless T is a string.
func texts[T ~string | ~[]byte](t *thrift, id int16, p presence, values *[]T) {
	list(t, id, RawBinary, p, values, func(kind byte, v *T) { textValue(t, kind, v) })
}

// Append appends a structure.
func Append(dst []byte, s structure) []byte {
	t := &thrift{data: dst, writing: true}
	t.write(s)
	return t.data
}

// write appends a structure, which may lie in another one: afterwards t.id is again that of the outer one's field.
func (t *thrift) write(s structure) {
	outer := t.id
	t.id = 0
	s.fields(t)
	t.data, t.id = append(t.data, 0), outer
}

// Read reads the structure that data begins with, and returns what follows it.
func Read(data []byte, s structure) (rest []byte, err error) {
	t := &thrift{data: data}
	t.read(s)
	return data[t.at:], t.err
}

// read reads a structure by calling s.fields. Each call reads fields as long as their numbers rise, which are nearly
// always all. If it ends at a field that it did not read, s may list that field before those that it did read: then
// s.fields is called again, and begins with it. A field that is the first for a call, or has a higher number than s
// lists, is not known, and is skipped. The last call, after all fields, checks which were there.
func (t *thrift) read(s structure) {
	outer := t.beginStructure()
	for t.nextField(); t.pending; {
		first := t.n // the number of fields when this call begins
		if s.fields(t); t.taken {
			t.nextField()
		}
		for t.pending && (t.n == first || t.id > t.highest) { // fields that are not known
			t.skip(t.kind)
			t.nextField()
		}
	}
	if t.err == nil {
		t.field = field{ended: true, seen: t.seen}
		s.fields(t)
	}
	t.endStructure(outer)
}

// fail ends reading with an error, unless it has ended with another one: see stop.
func (t *thrift) fail() { t.stop(errThrift) }

// damaged is fail with an error that says what is wrong with a field of a structure. what has a verb for the field's
// number.
func (t *thrift) damaged(what string, field int16) {
	t.stop(fmt.Errorf("damaged: a structure "+what, field))
}

// stop keeps the first error, and moves to the end of the data, so that all loops end.
func (t *thrift) stop(err error) {
	if t.err == nil {
		t.err = err
	}
	t.at = len(t.data)
}

// byte reads a byte, 0 after the data's end.
func (t *thrift) byte() byte {
	if t.at >= len(t.data) {
		t.fail()
		return 0
	}
	t.at++
	return t.data[t.at-1]
}

// varint reads a number with seven bits in each byte, the lowest first; 0 where there is none.
func (t *thrift) varint() uint64 {
	v, n := binary.Uvarint(t.data[t.at:])
	if n <= 0 {
		t.fail()
		return 0
	}
	t.at += n
	return v
}

// eachField reads a structure: it calls value for each field. value must read or skip the field's value.
func (t *thrift) eachField(value func()) {
	outer := t.beginStructure()
	for t.nextField(); t.pending; t.nextField() {
		value()
	}
	t.endStructure(outer)
}

// beginStructure begins to read a nested structure, and returns the state of the one around it, for endStructure.
func (t *thrift) beginStructure() (outer field) {
	if t.depth++; t.depth > maxThriftDepth {
		t.fail()
	}
	outer, t.field = t.field, field{}
	return outer
}

// endStructure goes back to the structure around the one that was read.
func (t *thrift) endStructure(outer field) {
	t.depth--
	t.field = outer
}

// nextField reads the header of a structure's next field. Then t.pending says whether there is one. A field that
// comes twice is an error: readers do not agree which one counts.
func (t *thrift) nextField() {
	t.pending, t.taken = false, false
	header := t.byte()
	if header == 0 { // there are no more fields
		return
	}
	if delta := header >> 4; delta > 0 { // short form
		t.id += int16(delta)
	} else {
		t.id = int16(zigzag(t.varint()))
	}
	if t.id > 0 && t.id <= maxField {
		if t.saw(t.id) {
			t.damaged("has field %d twice", t.id)
		}
		t.seen |= 1 << t.id
	}
	t.kind, t.n, t.pending = header&15, t.n+1, t.err == nil
}

// maxField is the highest number of a field that is noted. Parquet's structures have none above.
const maxField = 31

// elements reads a list or set: it calls element for each element, which must read it. More elements than there
// are bytes left is an error.
func (t *thrift) elements(kind byte, element func(kind byte)) {
	if kind != RawList && kind != thriftSet {
		t.fail()
		return
	}
	header := t.byte()
	n := uint64(header >> 4)
	if n == 15 {
		n = t.varint()
	}
	if n > uint64(len(t.data)-t.at) {
		t.fail()
	}
	for ; n > 0 && t.err == nil; n-- {
		element(header & 15)
	}
}

// integer reads an integer of any width, 0 for another kind, which is an error.
func (t *thrift) integer(kind byte) int64 {
	switch kind {
	case thriftByte:
		return int64(int8(t.byte()))
	case RawI16, RawI32, RawI64:
		return zigzag(t.varint())
	}
	t.fail()
	return 0
}

// bytes reads a string, which aliases the data; nil for another kind, which is an error.
func (t *thrift) bytes(kind byte) []byte {
	if kind != RawBinary {
		t.fail()
		return nil
	}
	return t.takeBytes(t.varint())
}

// takeBytes reads the next n bytes, which alias the data; nil if there are fewer, which is an error.
func (t *thrift) takeBytes(n uint64) []byte {
	if n > uint64(len(t.data)-t.at) {
		t.fail()
		return nil
	}
	t.at += int(n)
	return t.data[t.at-int(n) : t.at]
}

// skip reads over a field's value.
func (t *thrift) skip(kind byte) {
	if kind != thriftTrue && kind != thriftFalse { // the value is in the field's header
		t.skipElement(kind)
	}
}

// skipElement reads over an element of a list, or the value of a field that is not boolean.
func (t *thrift) skipElement(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		t.takeBytes(1)
	case RawI16, RawI32, RawI64:
		t.varint()
	case thriftDouble:
		t.takeBytes(8)
	case thriftUUID:
		t.takeBytes(16)
	case RawBinary:
		t.bytes(kind)
	case RawList, thriftSet:
		if t.depth++; t.depth > maxThriftDepth {
			t.fail()
		}
		t.elements(kind, t.skipElement)
		t.depth--
	case RawStruct:
		t.eachField(func() { t.skip(t.kind) })
	default: // Parquet has no maps
		t.fail()
	}
}

// zigzag returns the signed number that v stands for: 0, -1, 1, -2 and so on for 0, 1, 2, 3.
func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
