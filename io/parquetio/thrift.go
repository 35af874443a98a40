package parquetio

import (
	"encoding/binary"
	"errors"
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
)

// maxThriftDepth is how deep structures may lie in one another; Parquet's have
// six levels.
const maxThriftDepth = 32

var errThrift = errors.New("damaged: its structure cannot be read")

// thriftWalk walks over a structure in Thrift's compact protocol without
// building anything of it: lists cannot be longer than what is there.
type thriftWalk struct {
	data []byte
	// path has the field numbers that lead to the current value; an element of
	// a list adds nothing.
	path []int16
	// number is called with every integer and boolean, and element with every structure in
	// a list, before it is walked over. Both may be nil. While number runs, width
	// is how many octets before data the integer has, 0 for a boolean.
	number  func(path []int16, v int64)
	width   int
	element func(path []int16)
}

func (w *thriftWalk) byte() (byte, error) {
	if len(w.data) == 0 {
		return 0, errThrift
	}
	b := w.data[0]
	w.data = w.data[1:]
	return b, nil
}

func (w *thriftWalk) skip(n uint64) error {
	if n > uint64(len(w.data)) {
		return errThrift
	}
	w.data = w.data[n:]
	return nil
}

func (w *thriftWalk) varint() (uint64, error) {
	v, n := binary.Uvarint(w.data)
	if n <= 0 {
		return 0, errThrift
	}
	w.data = w.data[n:]
	return v, nil
}

// structure walks over a structure to its end.
func (w *thriftWalk) structure() error {
	if len(w.path) >= maxThriftDepth {
		return errThrift
	}
	id := int16(0)
	for {
		header, err := w.byte()
		if err != nil || header == 0 {
			return err
		}
		if delta := header >> 4; delta > 0 {
			id += int16(delta)
		} else {
			v, err := w.varint()
			if err != nil {
				return err
			}
			id = int16(zigzag(v))
		}
		kind := header & 15
		w.path = append(w.path, id)
		if kind == thriftTrue || kind == thriftFalse { // the value is in the header
			w.report(int64(thriftFalse - kind))
		} else {
			err = w.value(kind)
		}
		w.path = w.path[:len(w.path)-1]
		if err != nil {
			return err
		}
	}
}

// value walks over a value.
func (w *thriftWalk) value(kind byte) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		return w.skip(1)
	case thriftI16, thriftI32, thriftI64:
		before := len(w.data)
		v, err := w.varint()
		if err == nil {
			w.width = before - len(w.data)
			w.report(zigzag(v))
			w.width = 0
		}
		return err
	case thriftDouble:
		return w.skip(8)
	case thriftBinary:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thriftList, thriftSet:
		return w.list()
	case thriftStruct:
		return w.structure()
	default: // Parquet has no maps
		return errThrift
	}
}

// list walks over a list, whose elements have an octet at least.
func (w *thriftWalk) list() error {
	header, err := w.byte()
	if err != nil {
		return err
	}
	n, kind := uint64(header>>4), header&15
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	if n > uint64(len(w.data)) {
		return errThrift
	}
	for range n {
		if kind == thriftStruct && w.element != nil {
			w.element(w.path)
		}
		if err := w.value(kind); err != nil {
			return err
		}
	}
	return nil
}

func (w *thriftWalk) report(v int64) {
	if w.number != nil {
		w.number(w.path, v)
	}
}

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
