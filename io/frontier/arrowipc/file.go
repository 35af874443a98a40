package arrowipc

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// fileFramer reads the messages of a file in the footer's order: all dictionaries, then the
// record batches.
type fileFramer struct {
	framing
	r            io.ReaderAt
	end          int64 // of the messages: where the footer begins
	footer       footer
	dictionaries []block // that come, and then
	batches      []block
	partly       bool // only the needed parts of bodies are read
}

// openFile reads the footer of a file of size bytes.
func openFile(r io.ReaderAt, size int64, shared framing) (*fileFramer, error) {
	if size < int64(len(magicPadded)+footerEnd) {
		return nil, errTail
	}
	head, tail := make([]byte, len(magic)), make([]byte, footerEnd)
	if err := readAt(r, head, 0); err != nil {
		return nil, err
	}
	if string(head) != magic {
		return nil, errors.New("the file does not begin with ARROW1: it is not an Arrow file")
	}
	if err := readAt(r, tail, size-int64(footerEnd)); err != nil {
		return nil, err
	}
	length, err := footerSize(tail, size-int64(len(magicPadded)))
	if err != nil {
		return nil, err
	}
	if err := checkMetadataSize(int64(length), shared.limit); err != nil {
		return nil, err
	}
	shared.isFile = true
	f := &fileFramer{framing: shared, r: r, end: size - int64(footerEnd+length)}
	buf := make([]byte, length)
	if err := readAt(r, buf, f.end); err != nil {
		return nil, err
	}
	if f.footer, err = f.parseFooter(buf); err != nil {
		return nil, err
	}
	if err := f.checkBlocks(); err != nil {
		return nil, err
	}
	f.dictionaries, f.batches = f.footer.dictionaries, f.footer.batches
	f.second, err = f.checkContents()
	return f, err
}

func (f *fileFramer) schema() ([]byte, error) {
	return schemaMessage(f.footer.schema.f.buf, f.footer.schema.pos), nil
}

// checkBlocks checks that each block fits into the file.
func (f *fileFramer) checkBlocks() error {
	for _, list := range [][]block{f.footer.dictionaries, f.footer.batches} {
		for i, b := range list {
			if b.offset < int64(len(magicPadded)) || b.offset > f.end || b.meta < framePrefix || b.body < 0 || b.body > f.end || b.offset+int64(b.meta)+b.body > f.end {
				return fmt.Errorf("damaged: block %d of the footer lies outside the file", i)
			}
		}
	}
	return nil
}

func (f *fileFramer) next() (*frame, error) {
	list, kind := &f.dictionaries, uint8(kindDictionary)
	if len(*list) == 0 {
		list, kind = &f.batches, kindRecord
	}
	if len(*list) == 0 {
		return nil, io.EOF
	}
	b := (*list)[0]
	*list = (*list)[1:]
	if err := f.checkSize(int64(b.meta)); err != nil {
		return nil, err
	}
	m := &frame{head: make([]byte, b.meta)}
	if err := readAt(f.r, m.head, b.offset); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(m.head) != continuation {
		return nil, errLegacy
	}
	length := int64(binary.LittleEndian.Uint32(m.head[4:]))
	if length > int64(b.meta)-framePrefix {
		return nil, fmt.Errorf("damaged: a message with %d bytes of metadata where its block has %d", length, b.meta)
	}
	var err error
	if m.header, err = f.parse(m.meta()[:length]); err != nil {
		return nil, err
	}
	if m.kind != kind {
		return nil, fmt.Errorf("damaged: a message of kind %d where the footer says %d", m.kind, kind)
	}
	if m.bodyLength > b.body {
		return nil, fmt.Errorf("damaged: a body of %d bytes where its block has %d", m.bodyLength, b.body)
	}
	m.body = io.NewSectionReader(f.r, b.offset+int64(b.meta), m.bodyLength)
	if !f.partly {
		if err := checkLength(m.bodyLength, f.limit); err != nil {
			return nil, err
		}
		if err := m.load(); err != nil {
			return nil, err
		}
	}
	return m, m.check(&f.sums)
}

// footerEnd is how many bytes follow a footer: its length and the magic.
const footerEnd = 4 + len(magic)

// footerSize returns the length of the footer of a file that ends with tail. room is
// the most bytes that the footer with its length and magic may take.
func footerSize(tail []byte, room int64) (int, error) {
	if len(tail) < footerEnd || string(tail[len(tail)-len(magic):]) != magic {
		return 0, errTail
	}
	size := int64(binary.LittleEndian.Uint32(tail[len(tail)-footerEnd:]))
	if size == 0 || size > maxMetadata || size > room-int64(footerEnd) {
		return 0, fmt.Errorf("damaged: a footer of %d bytes", size)
	}
	return int(size), nil
}

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
	h, err := f.parse(meta)
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

func appendUint32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }

// pairs returns the keys and values of the footer.
func (f *fileFramer) pairs() *keyValues { return readPairs(f.footer.schema.f.buf, footerSlot) }

// isRemote reports whether every jump in the file costs a request, as for an object in a store.
func (f *fileFramer) isRemote() bool {
	remote, ok := f.r.(interface{ Remote() bool })
	return ok && remote.Remote()
}
