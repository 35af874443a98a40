package layout

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// FileFramer reads the messages of a file in the footer's order: all dictionaries, then the
// record batches.
type FileFramer struct {
	Framing
	r            io.ReaderAt
	magic        []byte // the file's first bytes, as many as MagicPadded has
	end          int64  // of the messages: where the footer begins
	firstSchema  []byte // metadata of the schema message at the file's beginning; nil for none
	Footer       footer
	dictionaries []Block // that Next has not read yet; they come before
	Batches      []Block // that Next has not read yet
	Partly       bool    // Next leaves bodies in the file
}

// OpenFile reads the footer of a file of size bytes, and checks that it lists the messages of the file.
func OpenFile(r io.ReaderAt, size int64, shared Framing) (*FileFramer, error) {
	if size < int64(len(MagicPadded)+footerEnd) {
		return nil, errTail
	}
	magic, tail := make([]byte, len(MagicPadded)), make([]byte, footerEnd)
	if err := ReadAt(r, magic, 0); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(magic, []byte(Magic)) {
		return nil, errors.New("the file does not begin with ARROW1: it is not an Arrow file")
	}
	if err := ReadAt(r, tail, size-int64(footerEnd)); err != nil {
		return nil, err
	}
	length, err := footerSize(tail, size-int64(len(MagicPadded)))
	if err != nil {
		return nil, err
	}
	if err := checkMetadataSize(int64(length), shared.Limit); err != nil {
		return nil, err
	}
	shared.isFile = true
	f := &FileFramer{Framing: shared, r: r, magic: magic, end: size - int64(footerEnd+length)}
	buf := make([]byte, length)
	if err := ReadAt(r, buf, f.end); err != nil {
		return nil, err
	}
	if f.Footer, err = f.parseFooter(buf); err != nil {
		return nil, err
	}
	if err := f.checkBlocks(); err != nil {
		return nil, err
	}
	f.dictionaries, f.Batches = f.Footer.Dictionaries, f.Footer.Batches
	f.firstSchema, err = f.checkContents()
	return f, err
}

// Schema implements [Framer]. The schema is that in the footer.
func (f *FileFramer) Schema() (*Schema, error) {
	s, err := parseSchema(SchemaMessage(f.Footer.schema))
	if err == nil && f.firstSchema != nil {
		err = s.checkOther(f.firstSchema)
	}
	return s, err
}

// checkBlocks checks that each block fits into the file.
func (f *FileFramer) checkBlocks() error {
	for _, list := range [][]Block{f.Footer.Dictionaries, f.Footer.Batches} {
		for i, b := range list { // numbers in range have a sum that does not overflow
			isInRange := int64(len(MagicPadded)) <= b.Offset && b.Offset <= f.end && b.Meta >= FramePrefix && 0 <= b.Body && b.Body <= f.end
			if !isInRange || b.Offset+int64(b.Meta)+b.Body > f.end {
				return fmt.Errorf("damaged: block %d of the footer lies outside the file", i)
			}
		}
	}
	return nil
}

// Next implements [Framer]. The message must be what its block in the footer says.
func (f *FileFramer) Next() (*Frame, error) {
	list, kind := &f.dictionaries, uint8(KindDictionary)
	if len(*list) == 0 { // all dictionaries were read
		list, kind = &f.Batches, KindRecord
	}
	if len(*list) == 0 {
		return nil, io.EOF
	}
	b := (*list)[0]
	*list = (*list)[1:]
	m, err := f.readHead(b)
	switch {
	case err != nil:
		return nil, err
	case m.Kind != kind:
		return nil, fmt.Errorf("damaged: a message of kind %d where the footer says %d", m.Kind, kind)
	case m.BodyLength > b.Body:
		return nil, fmt.Errorf("damaged: a body of %d bytes where its block has %d", m.BodyLength, b.Body)
	}
	m.Body = io.NewSectionReader(f.r, b.Offset+int64(b.Meta), m.BodyLength)
	if !f.Partly {
		if err := checkLength(m.BodyLength, f.Limit); err != nil {
			return nil, err
		}
		if err := m.Load(); err != nil {
			return nil, err
		}
	}
	return m, m.check(&f.sums)
}

// readHead reads the metadata of the message in a block, as a frame without a body. b.Meta is at least FramePrefix.
func (f *FileFramer) readHead(b Block) (m *Frame, err error) {
	if err := f.checkSize(int64(b.Meta)); err != nil {
		return nil, err
	}
	m = &Frame{head: make([]byte, b.Meta)}
	if err := ReadAt(f.r, m.head, b.Offset); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(m.head) != continuation {
		return nil, errLegacy
	}
	length := int64(binary.LittleEndian.Uint32(m.head[4:]))
	if length > int64(b.Meta)-FramePrefix {
		return nil, fmt.Errorf("damaged: a message with %d bytes of metadata where its block has %d", length, b.Meta)
	}
	m.Header, err = f.parse(m.Meta()[:length])
	return m, err
}

// checkContents checks that the footer lists every message, because rows would be lost otherwise, and that no two
// messages overlap. It returns the metadata of the schema message at the file's beginning; nil if there is
// none, as in files of Polars, which have the schema in the footer alone.
func (f *FileFramer) checkContents() (schema []byte, err error) {
	at := int64(len(MagicPadded)) // the end of the messages so far
	if schema, err = f.readSchema(at); err != nil {
		return nil, err
	}
	if schema != nil {
		at += FramePrefix + int64(len(schema))
	}
	blocks := slices.Concat(f.Footer.Dictionaries, f.Footer.Batches)
	slices.SortFunc(blocks, func(x, y Block) int { return cmp.Compare(x.Offset, y.Offset) })
	for _, b := range append(blocks, Block{Offset: f.end}) { // the footer, as the last block
		if b.Offset < at {
			return nil, fmt.Errorf("damaged: blocks of the footer overlap at byte %d", b.Offset)
		}
		length, err := f.metadataLengthAt(at, b.Offset)
		if err != nil {
			return nil, err
		}
		if length > 0 {
			return nil, fmt.Errorf("damaged: the message at byte %d is not in the footer", at)
		}
		if b.Offset < f.end { // not the footer, which is no message
			at = b.Offset + int64(b.Meta) + b.Body
		}
	}
	return schema, f.checkUncovered(schema, at)
}

// checkUncovered checks what checksums do not cover, in a file that has them: its first bytes must be MagicPadded, a schema
// message must follow them, whose metadata is schema, and the end marker alone must follow the last message, which
// ends at offset at. The program writes all files with checksums so.
func (f *FileFramer) checkUncovered(schema []byte, at int64) error {
	if !f.sums.there {
		return nil
	}
	end := make([]byte, len(EndOfStream))
	if f.end-at != int64(len(end)) {
		return errors.New("damaged: the last message is not followed by the end marker and the footer")
	}
	if err := ReadAt(f.r, end, at); err != nil {
		return err
	}
	if schema == nil || string(f.magic) != MagicPadded || string(end) != string(EndOfStream) {
		return errors.New("damaged: the magic, the first message's marker or the end marker is wrong")
	}
	return nil
}

// metadataLengthAt returns the length of the metadata of the message at offset at, as the message says; 0 if no message
// begins there, or if its prefix does not end before end.
func (f *FileFramer) metadataLengthAt(at, end int64) (int64, error) {
	var prefix [FramePrefix]byte
	if end-at < FramePrefix {
		return 0, nil
	}
	if err := ReadAt(f.r, prefix[:], at); err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint32(prefix[:]) != continuation {
		return 0, nil
	}
	return int64(binary.LittleEndian.Uint32(prefix[4:])), nil
}

// readSchema returns the metadata of the schema message at offset at; nil if there is none.
func (f *FileFramer) readSchema(at int64) ([]byte, error) {
	length, err := f.metadataLengthAt(at, f.end)
	if fits := length <= min(maxMetadata, f.end-at-FramePrefix); err != nil || length == 0 || !fits {
		return nil, err
	}
	m, err := f.readHead(Block{Offset: at, Meta: int32(FramePrefix + length)})
	if err == nil {
		if m.Kind != KindSchema {
			return nil, nil
		}
		err = m.check(&f.sums)
	}
	if err != nil {
		return nil, fmt.Errorf("the first message: %w", err)
	}
	return m.Meta(), nil
}

// Pairs returns the keys and values of the footer, nil for none.
func (f *FileFramer) Pairs() *KeyValues { return ReadPairs(f.Footer.schema.Flat.Buf, footerSlot) }

// IsRemote reports whether every jump in the file costs a request, as for an object in a store.
func (f *FileFramer) IsRemote() bool {
	remote, ok := f.r.(interface{ Remote() bool })
	return ok && remote.Remote()
}
