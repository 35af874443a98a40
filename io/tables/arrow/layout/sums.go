package layout

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"

	"github.com/zeebo/xxh3"
)

// Every message that this package encodes, and the footer of a file, carries a checksum
// of itself in its custom metadata: under SumKey, the 64-bit XXH3 as 16 hexadecimal
// digits. It covers the message from the continuation marker to the end of the body, or
// the footer, with zeros in place of the digits. Other readers ignore it. This package
// compares it, because Arrow itself may not notice a changed byte.
//
// A record batch that was copied (see robotsbatch/io/tables/arrow/ipc) has a checksum of its
// metadata and of the end of the body, where the added columns are: 16 more digits
// say at which offset that begins. The bytes before it, and dictionaries that were copied, are as
// their writer left them. If only some rows were copied, and parts of the input's body were
// copied from file to file, the checksum covers the bytes after the last of these parts.
//
// If one message has a checksum, all must: otherwise a changed byte in a key would
// remove the check. Only dictionaries may lack one, if the schema message's checksum
// has 32 digits, which says that dictionaries may have been copied.

// SumKey is the key of the checksum.
const SumKey = "robotsbatch.self.xxh3_64"

// sumSize is the number of digits of a checksum; partSumSize adds those of the offset in the body.
const (
	sumSize     = 16
	partSumSize = 2 * sumSize
)

// NoSum is room for a checksum: zeros, which are in its place while it is computed.
var NoSum = [sumSize]byte([]byte("0000000000000000"))

// storedSum is a checksum in the metadata of a message or in a footer.
type storedSum struct {
	at   int   // position of the digits in the metadata
	from int64 // offset in the body: the checksum covers the bytes from there on
	part bool  // it has 32 digits, of which the last 16 are from
}

// findSum finds the checksum in metadata. slot is that of the vector of keys and values. A value that does not have 16 or
// 32 digits is no checksum.
func findSum(meta []byte, slot int) (s storedSum, found bool) {
	f := NewFlat(meta)
	f.Root().Tables(slot, func(pair Table) {
		key, keySize := pair.vector(keySlot, 1)
		value, size := pair.vector(valueSlot, 1)
		if f.err != nil || string(f.at(key, keySize)) != SumKey {
			return
		}
		from := int64(0)
		switch size {
		case sumSize:
		case partSumSize:
			var number [sumSize / 2]byte
			if _, err := hex.Decode(number[:], f.at(value+sumSize, sumSize)); err != nil {
				return
			}
			from = int64(binary.BigEndian.Uint64(number[:]))
		default:
			return
		}
		s, found = storedSum{at: value, from: from, part: size == partSumSize}, true
	})
	return s, found && f.err == nil
}

// digits computes the checksum of three parts, as hexadecimal digits: prefix, meta with NoSum in place of
// the digits, and the covered part of the body.
func (s storedSum) digits(prefix, meta []byte, covered io.Reader) (digits [sumSize]byte, err error) {
	var h xxh3.Hasher
	for _, part := range [][]byte{prefix, meta[:s.at], NoSum[:], meta[s.at+sumSize:]} {
		_, _ = h.Write(part) // never an error
	}
	if _, err := io.Copy(&h, covered); err != nil {
		return digits, err
	}
	hex.Encode(digits[:], binary.BigEndian.AppendUint64(nil, h.Sum64()))
	return digits, nil
}

// sealMetadata puts a checksum of prefix, meta and covered into meta, if it has room for one.
func sealMetadata(prefix, meta []byte, slot int, covered []byte) {
	s, found := findSum(meta, slot)
	if !found {
		return
	}
	if digits, err := s.digits(prefix, meta, bytes.NewReader(covered)); err == nil { // reading from memory cannot fail
		copy(meta[s.at:], digits[:])
	}
}

// sums compares the checksums of an input, and checks that either all messages have one or none.
type sums struct {
	begun  bool // a message was checked
	there  bool // the messages have checksums
	copied bool // dictionaries may lack one, because they may have been copied
}

// check compares the checksum of a message, if it has one, and returns an error if it must have one. body is nil for a
// footer, which has neither prefix nor body, and for a message without a body. slot is that of the vector of keys and
// values in meta.
func (s *sums) check(kind uint8, prefix, meta []byte, slot int, body *io.SectionReader) error {
	stored, found := findSum(meta, slot)
	if kind == KindSchema {
		s.copied = stored.part
	}
	if mayLack := kind == KindDictionary && s.copied; !mayLack {
		if s.begun && s.there != found {
			return errors.New("damaged: some have a checksum and others have none")
		}
		s.begun, s.there = true, found
	}
	if !found {
		return nil
	}
	return stored.compare(prefix, meta, body)
}

// compare compares the checksum in meta with that of the bytes that it covers. body may be nil.
func (s storedSum) compare(prefix, meta []byte, body *io.SectionReader) error {
	if body == nil {
		body = io.NewSectionReader(bytes.NewReader(nil), 0, 0)
	}
	if s.from < 0 || s.from > body.Size() {
		return errors.New("damaged: its checksum covers what is not there")
	}
	digits, err := s.digits(prefix, meta, io.NewSectionReader(body, s.from, body.Size()-s.from))
	if err == nil && string(digits[:]) != string(meta[s.at:s.at+sumSize]) {
		err = errors.New("damaged: its checksum does not match")
	}
	return err
}

// PartSum returns room for a checksum that covers the message's body only from an offset on: the digits of
// the checksum, still zeros, and those of the offset.
func PartSum(from int64) []byte {
	return hex.AppendEncode(bytes.Clone(NoSum[:]), binary.BigEndian.AppendUint64(nil, uint64(from)))
}
