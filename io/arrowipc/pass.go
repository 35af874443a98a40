package arrowipc

import (
	"errors"
	"fmt"
	"io"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/zeebo/xxh3"

	"robotsbatch/batch"
	"robotsbatch/io/tables"
)

// What passes through is copied as it lies in the input:
//
//	schema          the input's fields as they were, then the verdict columns'
//	dictionaries    byte for byte
//	record batch    new metadata: the input's arrays and buffers, then ours
//	                the input's body, byte for byte, padded to 8
//	                the verdict columns' buffers
//
// Of the body only the URLs are read into memory, when the input is a file. The rest
// goes from the file to the output in pieces of copySize.
const copySize = 1 << 20

// passedMessage is a message that is copied whole.
type passedMessage struct {
	*frame
	id    int64 // of a dictionary
	delta bool
}

// passedRecord is a record batch that passes through. Its rows may be evaluated in
// several pieces, whose verdicts are put together by the one that is encoded last.
type passedRecord struct {
	before []passedMessage
	source *Source // to be told when it was written
	frame  *frame
	meta   *batchMeta

	verdicts *tables.Assembly
	message  message // once all pieces were encoded: metadata and verdict columns
}

// CanPassThrough tells whether the record batches can be copied as they are into an
// output that is a stream or a file, and whose inputs are several or this one alone.
// Only dictionaries can stand against it: those of several inputs may differ, and a
// stream may replace one, which a file must not.
func (s *Source) CanPassThrough(stream, several bool) bool {
	_, fromFile := s.framer.(*fileFramer)
	return len(s.schema.ids) == 0 || !several && (stream || fromFile)
}

// PassThrough makes all record batches pass through to a sink that is made with
// [SinkOptions.From]: only the URLs are decoded, and everything else is copied as it
// is, without being looked at. It comes before the first Next, of a source that was
// opened to keep all columns. The source takes over in, which may be nil: it closes it
// when it is closed itself and all record batches that it handed out were written.
func (s *Source) PassThrough(in io.Closer) error {
	s.passing, s.in = true, in
	s.users.Store(1)
	if err := s.decodeOnlyURLs(); err != nil {
		return s.fail(err)
	}
	if file, ok := s.framer.(*fileFramer); ok && isRemote(file.r) {
		file.partly = false
	}
	return nil
}

// isRemote tells whether each reading at another place costs a request, as of an object
// in a store: then bodies are read whole, in order, and kept until they are written.
func isRemote(r io.ReaderAt) bool {
	remote, ok := r.(interface{ Remote() bool })
	return ok && remote.Remote()
}

// done closes the input after its last use.
func (s *Source) done() error {
	if s.users.Add(-1) > 0 || s.in == nil {
		return nil
	}
	return s.in.Close()
}

// all are the numbers of all columns.
func (s *schema) all() []int {
	list := make([]int, len(s.columns))
	for i := range list {
		list[i] = i
	}
	return list
}

// footerPairs are the keys and values of a file's footer.
func (s *Source) footerPairs() *keyValues {
	if file, ok := s.framer.(*fileFramer); ok {
		return readPairs(file.footer.schema.f.buf, footerSlot)
	}
	return nil
}

// layOutPassed makes the schema of the verdict columns.
func (s *sink) layOutPassed() (err error) {
	from := s.options.From.schema
	names := make([]string, len(from.columns))
	for i, field := range from.arrow.Fields() {
		names[i] = field.Name
	}
	if s.output, err = tables.NewVerdicts(s.options.Layout, names, s.options.mem); err != nil {
		return err
	}
	s.schema = s.output.Schema()
	s.plain = s.schema
	s.passedLast = make(map[int64]xxh3.Uint128)
	return nil
}

// passedChunk is a piece of a record batch that passes through. The last one writes it.
type passedChunk struct {
	record *passedRecord
	last   bool
	size   int64
}

// Size implements batch.Chunk.
func (c *passedChunk) Size() int64 { return c.size }

// encodePassed makes the verdict columns of a piece.
func (s *sink) encodePassed(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	p, ok := b.Table.(*piece)
	if !ok || p.record.passed == nil {
		return nil, fmt.Errorf("arrowipc: %s does not pass through", b.Input)
	}
	r := p.record.passed
	size, last, err := r.verdicts.Add(s.output, p.number, b, v)
	p.verdicts = size
	if err == nil && last {
		r.message, err = s.assemble(r, b.Grant)
	}
	if err != nil {
		return nil, fmt.Errorf("arrowipc: %w", err)
	}
	return &passedChunk{record: r, last: p.last, size: size}, nil
}

// assemble encodes the verdict columns of a record batch whose pieces were all
// evaluated, and the metadata for them and what passes through.
func (s *sink) assemble(r *passedRecord, grant *batch.Grant) (message, error) {
	columns, err := r.verdicts.Columns(s.output)
	if err != nil {
		return message{}, err
	}
	defer tables.Release(columns)
	ours, err := s.encodeRecord(s.schema, columns, r.meta.codec, grant)
	if err != nil {
		return message{}, err
	}
	return r.join(ours)
}

// join returns the message of the record batch with our columns: the metadata, and the
// part of the body that comes behind what passes through.
func (r *passedRecord) join(ours message) (message, error) {
	h, err := parseHeader(ours.meta())
	if err != nil {
		return message{}, err
	}
	added, err := h.batch()
	if err != nil {
		return message{}, err
	}
	from := r.passedSize()
	both := *r.meta
	both.nodes = slices.Concat(r.meta.nodes, added.nodes)
	both.buffers = slices.Clone(r.meta.buffers)
	for _, b := range added.buffers {
		both.buffers = append(both.buffers, span{offset: from + b.offset, length: b.length})
	}
	pairs := readPairs(r.frame.meta(), messageSlot)
	fb := flatbuffers.NewBuilder(1024)
	meta := finishMessage(fb, kindRecord, both.version, from+int64(len(ours.body)), buildBatch(fb, &both), partSum(from), pairs)
	return newMessage(meta, ours.body), nil
}

// passedSize is how many bytes the body that passes through takes with its padding.
func (r *passedRecord) passedSize() int64 { return (r.frame.bodyLength + 7) &^ 7 }

// writePassed writes a record batch and the dictionaries before it.
func (s *sink) writePassed(c *passedChunk) error {
	if !c.last {
		return nil
	}
	r := c.record
	for _, d := range r.before {
		if err := s.passDictionary(d); err != nil {
			return fmt.Errorf("dictionary %d: %w", d.id, err)
		}
	}
	at := r.message.at(s.pos)
	at.body += r.passedSize()
	s.batches = append(s.batches, at)
	if err := s.write(r.message.head); err != nil {
		return err
	}
	if err := s.copyBody(r.frame); err != nil {
		return err
	}
	if err := s.write(r.message.body); err != nil {
		return err
	}
	return r.source.done()
}

// passDictionary writes a dictionary as it was read. A file must not have a dictionary
// twice; one that is the same again is left out.
func (s *sink) passDictionary(d passedMessage) error {
	if !s.options.Stream && !d.delta {
		var h xxh3.Hasher
		_, _ = h.Write(d.meta()) // never an error
		if _, err := io.Copy(&h, io.NewSectionReader(d.body, 0, d.bodyLength)); err != nil {
			return cut(err)
		}
		last, known := s.passedLast[d.id]
		switch {
		case known && last == h.Sum128():
			return nil
		case known:
			return errors.New("it differs from that of the batches before, which a file cannot have: write a stream (.arrows)")
		}
		s.passedLast[d.id] = h.Sum128()
	}
	head := newHead(d.meta())
	s.dictionaries = append(s.dictionaries, block{offset: s.pos, meta: int32(len(head)), body: (d.bodyLength + 7) &^ 7})
	if err := s.write(head); err != nil {
		return err
	}
	return s.copyBody(d.frame)
}

// copyBody writes a body and its padding.
func (s *sink) copyBody(f *frame) error {
	if f.bytes != nil {
		if err := s.write(f.bytes); err != nil {
			return err
		}
		return s.write(zeros[:-f.bodyLength&7])
	}
	if s.buffer == nil {
		s.buffer = make([]byte, copySize)
	}
	for at := int64(0); at < f.bodyLength; {
		part := s.buffer[:min(copySize, f.bodyLength-at)]
		if err := readAt(f.body, part, at); err != nil {
			return err
		}
		if err := s.write(part); err != nil {
			return err
		}
		at += int64(len(part))
	}
	return s.write(zeros[:-f.bodyLength&7])
}

var zeros [8]byte

// newHead returns what stands before a body: the marker, the length, and metadata.
func newHead(meta []byte) []byte {
	padded := (len(meta) + 7) &^ 7
	head := make([]byte, 0, framePrefix+padded)
	head = appendUint32(appendUint32(head, continuation), uint32(padded))
	head = append(head, meta...)
	return head[:framePrefix+padded]
}
