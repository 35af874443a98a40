package layout

import "encoding/binary"

// Raw is a field of a structure in Thrift's compact protocol, with its value as its
// bytes lie. With it, some fields of a footer can be changed and the others copied,
// also those that are not known here.
type Raw struct {
	ID   int16
	Kind byte
	// Value has no bytes for a boolean, whose kind is its value.
	Value []byte
}

// ReadRaw returns the fields of the structure with which data begins, and the bytes after it. Both alias data.
func ReadRaw(data []byte) (fields []Raw, rest []byte, err error) {
	t := &thrift{data: data}
	t.eachField(func() {
		begin := t.at
		t.skip(t.kind)
		fields = append(fields, Raw{ID: t.id, Kind: t.kind, Value: data[begin:t.at]})
	})
	return fields, data[t.at:], t.err
}

// Elements returns the elements of a list as their bytes lie, and their kind. They alias r.Value. Another kind
// of field is an error.
func (r Raw) Elements() (kind byte, elements [][]byte, err error) {
	t := &thrift{data: r.Value}
	t.elements(r.Kind, func(k byte) {
		begin := t.at
		t.skipElement(k)
		kind, elements = k, append(elements, r.Value[begin:t.at])
	})
	return kind, elements, t.err
}

// Int returns the value of an integer field, 0 for another kind.
func (r Raw) Int() int64 {
	t := &thrift{data: r.Value}
	return t.integer(r.Kind)
}

// Text returns the value of a field of bytes, nil for another kind.
func (r Raw) Text() []byte {
	t := &thrift{data: r.Value}
	return t.bytes(r.Kind)
}

// IntField returns a field with an integer of 16, 32 or 64 bits.
func IntField(id int16, kind byte, v int64) Raw {
	return Raw{ID: id, Kind: kind, Value: binary.AppendVarint(nil, v)}
}

// TextField returns a field with a string.
func TextField(id int16, text []byte) Raw {
	return Raw{ID: id, Kind: RawBinary, Value: append(binary.AppendUvarint(nil, uint64(len(text))), text...)}
}

// ListField returns a field with a list of elements of a kind, as their bytes lie.
func ListField(id int16, kind byte, elements [][]byte) Raw {
	list := appendListHeader(nil, kind, len(elements))
	for _, e := range elements {
		list = append(list, e...)
	}
	return Raw{ID: id, Kind: RawList, Value: list}
}

// AppendRaw appends a structure of these fields, which must be in the order of their IDs.
func AppendRaw(dst []byte, fields []Raw) []byte {
	t := &thrift{data: dst}
	for _, f := range fields {
		t.header(f.ID, f.Kind)
		t.data = append(t.data, f.Value...)
	}
	return append(t.data, 0)
}
