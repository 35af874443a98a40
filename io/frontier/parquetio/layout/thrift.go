package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Types of Thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// maxThriftDepth is how deep structures may lie in one another; Parquet's have
// six levels.
const maxThriftDepth = 32

var errThrift = errors.New("damaged: its structure cannot be read")

// thrift reads values in Thrift's compact protocol. It keeps the first error and
// then reads zeros: a caller asks for the error once, at the end.
type thrift struct {
	data  []byte
	at    int
	depth int
	err   error
}

// fail keeps the first error, and ends the data.
func (t *thrift) fail() {
	if t.err == nil {
		t.err = errThrift
	}
	t.at = len(t.data)
}

func (t *thrift) byte() byte {
	if t.at >= len(t.data) {
		t.fail()
		return 0
	}
	t.at++
	return t.data[t.at-1]
}

func (t *thrift) varint() uint64 {
	v, n := binary.Uvarint(t.data[t.at:])
	if n <= 0 {
		t.fail()
		return 0
	}
	t.at += n
	return v
}

// structure reads a structure: it calls field for each of its fields, which
// reads the value, or skips it. Of a boolean the kind is the value. A structure
// without a required field is an error, as it is for every reader whose code is
// generated from parquet.thrift. So is a field that comes twice: readers do not agree
// which one counts.
func (t *thrift) structure(required fieldSet, field func(id int16, kind byte)) {
	if t.depth++; t.depth > maxThriftDepth {
		t.fail()
	}
	seen := fieldSet(0)
	for id := int16(0); t.err == nil; {
		header := t.byte()
		if header == 0 {
			if lacks := required &^ seen; lacks != 0 {
				t.damaged("lacks field %d, which the format requires", bits.TrailingZeros32(uint32(lacks)))
			}
			break
		}
		if delta := header >> 4; delta > 0 {
			id += int16(delta)
		} else {
			id = int16(zigzag(t.varint()))
		}
		if id > 0 && id <= maxField {
			if seen>>id&1 == 1 {
				t.damaged("has field %d twice", int(id))
				break
			}
			seen |= 1 << id
		}
		field(id, header&15)
	}
	t.depth--
}

// fieldSet is a set of field numbers up to maxField, a bit each. Parquet's structures have
// none above.
type fieldSet uint32

const maxField = 31

// These are the required fields of parquet.thrift's structures.
const (
	fileRequired           fieldSet = 1<<1 | 1<<2 | 1<<3 | 1<<4
	elementRequired        fieldSet = 1 << 4
	keyRequired            fieldSet = 1 << 1
	groupRequired          fieldSet = 1<<1 | 1<<2 | 1<<3
	chunkRequired          fieldSet = 1 << 2
	chunkMetaRequired      fieldSet = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<9
	pageRequired           fieldSet = 1<<1 | 1<<2 | 1<<3
	dataPageRequired       fieldSet = 1<<1 | 1<<2 | 1<<3 | 1<<4
	dataPageV2Required     fieldSet = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6
	dictionaryPageRequired fieldSet = 1<<1 | 1<<2
	offsetIndexRequired    fieldSet = 1 << 1
	locationRequired       fieldSet = 1<<1 | 1<<2 | 1<<3
	columnIndexRequired    fieldSet = 1<<1 | 1<<2 | 1<<3 | 1<<4
)

// damaged keeps the error of a structure's field.
func (t *thrift) damaged(what string, field int) {
	if t.err == nil {
		t.err = fmt.Errorf("damaged: a structure "+what, field)
	}
	t.at = len(t.data)
}

// list reads a list: it calls element for each of its elements. A list has at
// most as many as there are bytes left.
func (t *thrift) list(kind byte, element func(kind byte)) {
	if kind != thriftList && kind != thriftSet {
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

// structures reads a list of structures.
func (t *thrift) structures(kind byte, element func()) {
	t.list(kind, func(kind byte) {
		if kind != thriftStruct {
			t.fail()
			return
		}
		element()
	})
}

// nested reads a field that is a structure.
func (t *thrift) nested(kind byte, required fieldSet, field func(id int16, kind byte)) {
	if kind != thriftStruct {
		t.fail()
		return
	}
	t.structure(required, field)
}

// integer reads an integer of any width.
func (t *thrift) integer(kind byte) int64 {
	switch kind {
	case thriftByte:
		return int64(int8(t.byte()))
	case thriftI16, thriftI32, thriftI64:
		return zigzag(t.varint())
	}
	t.fail()
	return 0
}

// int32 reads an integer that 32 bits hold.
func (t *thrift) int32(kind byte) int32 {
	v := t.integer(kind)
	if int64(int32(v)) != v {
		t.fail()
		return 0
	}
	return int32(v)
}

// boolean reads a boolean field, whose value is its kind.
func (t *thrift) boolean(kind byte) bool {
	if kind != thriftTrue && kind != thriftFalse {
		t.fail()
	}
	return kind == thriftTrue
}

// bytes reads a string, which aliases the data.
func (t *thrift) bytes(kind byte) []byte {
	if kind != thriftBinary {
		t.fail()
		return nil
	}
	n := t.varint()
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

// skipElement reads over a value that is not a field's.
func (t *thrift) skipElement(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		t.advance(1)
	case thriftI16, thriftI32, thriftI64:
		t.varint()
	case thriftDouble:
		t.advance(8)
	case thriftUUID:
		t.advance(16)
	case thriftBinary:
		t.bytes(kind)
	case thriftList, thriftSet:
		if t.depth++; t.depth > maxThriftDepth {
			t.fail()
		}
		t.list(kind, t.skipElement)
		t.depth--
	case thriftStruct:
		t.structure(0, func(_ int16, kind byte) { t.skip(kind) })
	default: // Parquet has no maps
		t.fail()
	}
}

func (t *thrift) advance(n int) {
	if n > len(t.data)-t.at {
		t.fail()
		return
	}
	t.at += n
}

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
