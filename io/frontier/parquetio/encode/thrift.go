package encode

import "encoding/binary"

// Types of Thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// thrift appends structures in Thrift's compact protocol.
type thrift struct {
	b    []byte
	last int16 // the field before
}

func (t *thrift) field(id int16, kind byte) {
	if delta := id - t.last; delta > 0 && delta < 16 {
		t.b = append(t.b, byte(delta)<<4|kind)
	} else {
		t.b = binary.AppendVarint(append(t.b, kind), int64(id))
	}
	t.last = id
}

func (t *thrift) i32(id int16, v int32) {
	t.field(id, thriftI32)
	t.b = binary.AppendVarint(t.b, int64(v))
}

func (t *thrift) i64(id int16, v int64) {
	t.field(id, thriftI64)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) i16(id, v int16) {
	t.field(id, thriftI16)
	t.b = binary.AppendVarint(t.b, int64(v))
}

func (t *thrift) bool(id int16, v bool) {
	kind := byte(thriftFalse)
	if v {
		kind = thriftTrue
	}
	t.field(id, kind)
}

func (t *thrift) text(id int16, s string) {
	t.field(id, thriftBinary)
	t.element(s)
}

// element appends a string of a list.
func (t *thrift) element(s string) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...)
}

func (t *thrift) list(id int16, kind byte, n int) {
	t.field(id, thriftList)
	t.b = appendListHeader(t.b, kind, n)
}

func appendListHeader(b []byte, kind byte, n int) []byte {
	if n < 15 {
		return append(b, byte(n)<<4|kind)
	}
	return binary.AppendUvarint(append(b, 15<<4|kind), uint64(n))
}

// structure appends a structure that is a field.
func (t *thrift) structure(id int16, write func()) {
	t.field(id, thriftStruct)
	t.in(write)
}

// in appends a structure that is an element of a list, or what a field has.
func (t *thrift) in(write func()) {
	last := t.last
	t.last = 0
	write()
	t.b = append(t.b, 0)
	t.last = last
}
