package arrowipc

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// checkContents checks what a file states twice: its schema and where its messages are.
// Blocks may not overlap, and the footer must list every message: a footer that lost a
// block would lose rows. It returns the metadata of the schema at the file's beginning,
// or nil if there is none; Polars omits it.
func (f *fileFramer) checkContents() (schema []byte, err error) {
	at := int64(len(magicPadded))
	if schema, err = f.readSchema(at); err != nil {
		return nil, err
	}
	if schema != nil {
		at += framePrefix + int64(len(schema))
	}
	blocks := slices.Concat(f.footer.dictionaries, f.footer.batches)
	slices.SortFunc(blocks, func(x, y block) int { return cmp.Compare(x.offset, y.offset) })
	for _, b := range append(blocks, block{offset: f.end}) {
		if b.offset < at {
			return nil, fmt.Errorf("damaged: blocks of the footer overlap at byte %d", b.offset)
		}
		length, err := f.messageAt(at, b.offset)
		if err != nil {
			return nil, err
		}
		if length > 0 {
			return nil, fmt.Errorf("damaged: the message at byte %d is not in the footer", at)
		}
		if b.offset < f.end {
			at = b.offset + int64(b.meta) + b.body
		}
	}
	return schema, f.checkRest(schema, at)
}

// checkRest checks the parts of a file that checksums do not cover: the magic at its
// beginning, the presence of a schema after it, and the end marker, the only thing that
// may follow the last message.
func (f *fileFramer) checkRest(schema []byte, at int64) error {
	if !f.sums.there {
		return nil
	}
	head, end := make([]byte, len(magicPadded)), make([]byte, len(endOfStream))
	if err := readAt(f.r, head, 0); err != nil {
		return err
	}
	if f.end-at != int64(len(end)) {
		return errors.New("damaged: the last message is not followed by the end marker and the footer")
	}
	if err := readAt(f.r, end, at); err != nil {
		return err
	}
	if schema == nil || string(head) != magicPadded || string(end) != string(endOfStream) {
		return errors.New("damaged: the magic, the first message's marker or the end marker is wrong")
	}
	return nil
}

// messageAt returns the length of the metadata of the message at offset at, or 0 if no
// message begins there and before end. The length is not checked.
func (f *fileFramer) messageAt(at, end int64) (int64, error) {
	var prefix [framePrefix]byte
	if end-at < framePrefix {
		return 0, nil
	}
	if err := readAt(f.r, prefix[:], at); err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint32(prefix[:]) != continuation {
		return 0, nil
	}
	return int64(binary.LittleEndian.Uint32(prefix[4:])), nil
}

// readSchema reads the metadata of the schema message at offset at; nil if there is
// none.
func (f *fileFramer) readSchema(at int64) ([]byte, error) {
	length, err := f.messageAt(at, f.end)
	if err != nil || length == 0 || length > maxMetadata || length > f.end-at-framePrefix {
		return nil, err
	}
	meta := make([]byte, length)
	if err := readAt(f.r, meta, at+framePrefix); err != nil {
		return nil, err
	}
	h, err := parseHeader(meta)
	if err != nil {
		return nil, fmt.Errorf("the first message: %w", err)
	}
	if h.kind != kindSchema {
		return nil, nil
	}
	prefix := appendUint32(appendUint32(nil, continuation), uint32(length))
	if err := f.sums.check(kindSchema, prefix, meta, messageSlot, nil); err != nil {
		return nil, fmt.Errorf("the first message: %w", err)
	}
	return meta, nil
}

var errTwoSchemas = errors.New("damaged: the schema at its beginning is not the one in its footer")

// sameSchema reports whether two schemas are equal, metadata included.
func sameSchema(x, y *schema) bool {
	return x.arrow.Equal(y.arrow) && x.arrow.Metadata().Equal(y.arrow.Metadata()) &&
		slices.EqualFunc(x.columns, y.columns, sameDecimals)
}
