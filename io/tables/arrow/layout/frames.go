package layout

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/tables"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Magic begins and ends a file; two bytes of padding follow it at the beginning.
const (
	Magic        = "ARROW1"
	MagicPadded  = Magic + "\x00\x00"
	continuation = 0xFFFFFFFF
)

// FramePrefix is the number of bytes before a message's metadata: the continuation marker and the
// metadata's length.
const FramePrefix = 8

// EndOfStream is the marker after the last message.
var EndOfStream = []byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}

var (
	errCut       = compress.CutError("the input is cut: it ends before its end marker")
	errNotStream = errors.New("it does not begin as an Arrow stream does: it is something else, or was written before Arrow 0.15")
	errLegacy    = errors.New("a message does not begin with the continuation marker: the input is damaged, or was written before Arrow 0.15")
	// errNotInOrder is returned for files of Polars that come through a pipe: only
	// their footer says where the messages are.
	errNotInOrder     = errors.New("the file does not begin with its schema, so that it cannot be read from a pipe: give it by its name")
	ErrLateDictionary = errors.New("the file has its dictionaries at its end, so that it cannot be read from a pipe: give it by its name")
	errTail           = compress.CutError("the file does not end with a footer and ARROW1: it is damaged, or was not written to its end")
)

// NewHead returns the bytes before a body: the marker, the length, and the metadata, padded to 8 bytes.
func NewHead(meta []byte) []byte {
	padded := (len(meta) + 7) &^ 7
	head := make([]byte, FramePrefix+padded)
	binary.LittleEndian.PutUint32(head, continuation)
	binary.LittleEndian.PutUint32(head[4:], uint32(padded))
	copy(head[FramePrefix:], meta)
	return head
}

// SealedHead returns what NewHead does, with the checksum of the message if the metadata has room for one. It
// covers these bytes and those of the body in covered.
func SealedHead(meta, covered []byte) []byte {
	head := NewHead(meta)
	sealMetadata(head[:FramePrefix], head[FramePrefix:], MessageSlot, covered)
	return head
}

// Frame is a message as it was read. The body may still be in the file.
type Frame struct {
	Header
	head  []byte // as it was read: continuation marker, length, metadata
	Body  *io.SectionReader
	Bytes []byte // the body; nil if it is still in the file, and maybe if it is empty
}

// Meta returns the message's metadata.
func (f *Frame) Meta() []byte { return f.head[FramePrefix:] }

// InMemory makes body, which is in memory, the frame's body.
func (f *Frame) InMemory(body []byte) {
	f.Bytes, f.Body = body, io.NewSectionReader(bytes.NewReader(body), 0, int64(len(body)))
}

// Load reads the body into memory, unless it is there.
func (f *Frame) Load() error {
	if f.Bytes != nil || f.Body.Size() == 0 {
		return nil
	}
	body := make([]byte, f.Body.Size())
	if err := ReadAt(f.Body, body, 0); err != nil {
		return err
	}
	f.InMemory(body)
	return nil
}

// LoadSpans reads the buffers that part lists, some or all of the frame's, into a new body of at most limit bytes. It
// changes their offsets in part to those in the new body. Buffers close together are read in one call.
func (f *Frame) LoadSpans(part *BatchMeta, limit int64) ([]byte, error) {
	const gap = 4096                           // bytes: reading this many more costs less than another read
	type run struct{ low, high, newLow int64 } // bytes low to high-1 of the old body, and where they begin in the new one
	var runs []run
	size := int64(0) // of the new body so far
	for i, b := range part.Buffers {
		if b.Length == 0 {
			part.Buffers[i].Offset = 0
			continue
		}
		if !b.In(f.Body.Size()) {
			return nil, fmt.Errorf("damaged metadata: buffer %d lies outside of the body", i)
		}
		last := len(runs) - 1
		if last < 0 || b.Offset < runs[last].high || b.Offset > runs[last].high+gap { // before the last run's end, or far after it
			size += (b.Offset - size) & 7 // new offsets equal old ones modulo 8, so that alignment remains
			runs = append(runs, run{low: b.Offset, high: b.Offset, newLow: size})
			last++
		}
		r := &runs[last]
		size += b.Offset + b.Length - r.high
		r.high = b.Offset + b.Length
		part.Buffers[i].Offset = r.newLow + b.Offset - r.low
		if err := checkLength(size, limit); err != nil {
			return nil, err
		}
	}
	body := make([]byte, size)
	for _, r := range runs {
		if err := ReadAt(f.Body, body[r.newLow:r.newLow+r.high-r.low], r.low); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// check compares the message's checksum, if it has one.
func (f *Frame) check(s *sums) error {
	return Cut(s.check(f.Kind, f.head[:FramePrefix], f.Meta(), MessageSlot, f.Body))
}

// Framer reads an input's messages: the schema, and then dictionaries and record batches.
type Framer interface {
	// Schema returns the schema. It must be called once, before Next.
	Schema() (*Schema, error)
	// Next returns the next message, or io.EOF after the last.
	Next() (*Frame, error)
	// IsFile reports whether the input is of the file format, even if it is read as a stream.
	IsFile() bool
}

// Framing is what the framers of files and streams have in common.
type Framing struct {
	Limit     int64 // bytes that a message's body may have: see checkMetadataSize for its metadata
	Strict    bool  // metadata is verified as readers in C++ do: see checkFlat
	StopAtEnd bool  // nothing is read after a stream's end marker
	isFile    bool  // the input has a footer
	sums      sums
}

// IsFile implements [Framer].
func (f *Framing) IsFile() bool { return f.isFile }

// checkSize returns an error if a message has too many bytes of metadata. It is called before they are read.
func (f *Framing) checkSize(length int64) error {
	if length > maxMetadata {
		return fmt.Errorf("damaged: a message with %d bytes of metadata", length)
	}
	return checkMetadataSize(length, f.Limit)
}

// parse reads the metadata of a message.
func (f *Framing) parse(meta []byte) (Header, error) {
	if f.Strict {
		if err := checkFlat(meta, messageLayout); err != nil {
			return Header{}, err
		}
	}
	return ParseHeader(meta)
}

// parseFooter reads the footer of a file, and compares its checksum.
func (f *Framing) parseFooter(buf []byte) (foot footer, err error) {
	if f.Strict {
		err = checkFlat(buf, footerLayout)
	}
	if err == nil {
		foot, err = parseFooter(buf)
	}
	if err == nil {
		err = f.sums.check(kindFooter, nil, buf, footerSlot, nil)
	}
	if err != nil {
		err = fmt.Errorf("the footer: %w", err)
	}
	return foot, err
}

// checkLength returns an error if a body is larger than the limit.
func checkLength(length, limit int64) error {
	if length > limit {
		return tables.TooLarge("a message of %d bytes is larger than the limit of %d", length, limit)
	}
	return nil
}

// Cut returns errCut for io.EOF and io.ErrUnexpectedEOF, where more input had to come, and any other error as it is.
func Cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errCut
	}
	return err
}

// readN returns head followed by the next n bytes of r. It allocates as bytes arrive, because n
// comes from the input and may be wrong.
func readN(r io.Reader, head []byte, n int64) ([]byte, error) {
	const most = 1 << 20 // bytes that are allocated before any has arrived
	n += int64(len(head))
	buf := append(make([]byte, 0, min(n, most)), head...)
	for int64(len(buf)) < n {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(n, 2*int64(cap(buf))))
			copy(grown, buf)
			buf = grown
		}
		got, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+got]
		if err != nil {
			return nil, Cut(err)
		}
	}
	return buf, nil
}

// ReadAt fills buf with the bytes at an offset. An input that ends before that is cut: see [Cut].
func ReadAt(r io.ReaderAt, buf []byte, offset int64) error {
	n, err := r.ReadAt(buf, offset)
	if n == len(buf) {
		return nil
	}
	return Cut(cmp.Or(err, io.ErrUnexpectedEOF))
}

// footerEnd is the number of bytes after a footer: its length and the magic.
const footerEnd = 4 + len(Magic)

// footerSize returns the length of the footer of a file whose last bytes are tail. room is
// the most bytes that the footer may take, with its length and the magic after it.
func footerSize(tail []byte, room int64) (int, error) {
	if len(tail) < footerEnd || string(tail[len(tail)-len(Magic):]) != Magic {
		return 0, errTail
	}
	size := int64(binary.LittleEndian.Uint32(tail[len(tail)-footerEnd:]))
	if size == 0 || size > maxMetadata || size > room-int64(footerEnd) {
		return 0, fmt.Errorf("damaged: a footer of %d bytes", size)
	}
	return int(size), nil
}

// FooterBytes returns the end of a file: the footer with its checksum, its length and the magic. The schema is that
// of the schema message with header h. pairs are more keys and values, nil for none.
func FooterBytes(h Header, dictionaries, batches []Block, pairs *KeyValues) []byte {
	buf := h.Table.Flat.Buf
	fb := flatbuffers.NewBuilder(len(buf) + 256)
	schema := graft(fb, buf, h.Table.Pos)
	dictionaryBlocks := buildBlocks(fb, dictionaries)
	batchBlocks := buildBlocks(fb, batches)
	list := buildPairs(fb, NoSum[:], pairs)
	fb.StartObject(5)
	fb.PrependInt16Slot(footerVersionSlot, h.Version, 0)
	fb.PrependUOffsetTSlot(footerSchemaSlot, schema, 0)
	fb.PrependUOffsetTSlot(dictionariesSlot, dictionaryBlocks, 0)
	fb.PrependUOffsetTSlot(batchesSlot, batchBlocks, 0)
	fb.PrependUOffsetTSlot(footerSlot, list, 0)
	fb.Finish(fb.EndObject())
	foot := fb.FinishedBytes()
	sealMetadata(nil, foot, footerSlot, nil)
	return append(binary.LittleEndian.AppendUint32(foot, uint32(len(foot))), Magic...)
}
