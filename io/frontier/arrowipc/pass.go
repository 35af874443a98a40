package arrowipc

import (
	"errors"
	"fmt"
	"io"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/zeebo/xxh3"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/tableio"
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
// If rows are left out, record batches are gathered (see [gathering]), and one that keeps no row
// is left out.
//
// When the input is a file, only the URLs of a body are read into memory. The rest goes
// from the file to the output in pieces of copySize.
const copySize = 1 << 20

// passedMessage is a dictionary message that is copied whole.
type passedMessage struct {
	*frame
	id    int64 // of a dictionary
	delta bool
}

// passedRecord is a record batch that passes through. Its rows may be evaluated in
// several pieces; the piece that is encoded last joins the verdicts.
type passedRecord struct {
	before []passedMessage
	used   []usedDictionary // instead, if rows are left out
	source *Source          // told when the record batch was written
	frame  *frame
	meta   *batchMeta

	verdicts *tableio.Assembly
	result   result  // set once all pieces are encoded
	message  message // metadata, and the part of the body that the program encoded
}

// result says what the sink does with a record batch.
type result uint8

const (
	passes  result = iota // the input's body is written before the message's
	mixed                 // the message holds the rows that are kept
	leftOut               // no row comes out
)

// CanPassThrough reports whether the record batches can be copied unchanged into the
// output, which is a stream or a file and has several inputs or this one alone.
// Dictionaries may prevent it: those of several inputs may differ, and a stream may
// replace one, which a file must not. URLs joined from several columns and columns that
// are read but not written also prevent it. So does an unknown type among several
// inputs, because it cannot be compared, and a union of before Arrow 1.0, which has
// another layout today.
func (s *Source) CanPassThrough(stream, several bool) bool {
	if s.options.Keep != batch.KeepAll && (!s.urls.IsColumn() || s.options.Extra != (batch.ExtraColumns{})) {
		return false
	}
	if several && s.schema.unknown != nil || s.schema.header.version < metadataV5 && s.schema.hasUnion() {
		return false
	}
	return len(s.schema.ids) == 0 || !several && (stream || s.file != nil)
}

// PassThrough makes all record batches pass through to a sink with [SinkOptions.From]:
// only the URLs are decoded, and the columns that come out, all or the URLs', are
// copied unchanged. Call it before the first Next. The source takes over in, which may
// be nil, and closes it once the source is closed and all its record batches are
// written.
// selects says that rows are left out.
func (s *Source) PassThrough(in io.Closer, selects bool) error {
	s.passing, s.selects, s.in = true, selects, in
	s.users.Store(1)
	if selects {
		for _, i := range s.copied() {
			if s.schema.columns[i].hasDictionary() && !s.schema.columns[i].unknown {
				s.coded = append(s.coded, i)
			}
		}
	}
	if s.options.Keep != batch.KeepAll {
		return nil // only the URLs are decoded anyway
	}
	if err := s.decodeOnlyURLs(); err != nil {
		return s.fail(err)
	}
	if s.file != nil && isRemote(s.file.r) {
		s.file.partly = false
	}
	return nil
}

// isRemote reports whether every jump in r costs a request, as for an object in a store.
// Then bodies are read whole, in order, and kept until they are written.
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

// copied returns the indices of the columns that pass through.
func (s *Source) copied() []int {
	if s.options.Keep == batch.KeepAll {
		return s.schema.all()
	}
	return s.columns
}

// urlColumn returns the index of the URL column, -1 if URLs are joined from several
// columns.
func (s *Source) urlColumn() int {
	if !s.urls.IsColumn() {
		return -1
	}
	return s.columns[s.urls.Columns()[0]]
}

// project makes only the URLs' column pass through; its buffers are in body.
func (r *passedRecord) project(meta *batchMeta, body []byte) {
	f := *r.frame
	f.bodyLength = int64(len(body))
	f.inMemory(body)
	r.frame, r.meta = &f, meta
}

// all returns the indices of all columns.
func (s *schema) all() []int {
	list := make([]int, len(s.columns))
	for i := range list {
		list[i] = i
	}
	return list
}

// footerPairs returns the keys and values of a file's footer.
func (s *Source) footerPairs() *keyValues {
	if s.file != nil {
		return readPairs(s.file.footer.schema.f.buf, footerSlot)
	}
	return nil
}

// layOutPassed makes the schema of the verdict columns.
func (s *sink) layOutPassed() (err error) {
	from := s.options.From
	var names []string
	for _, column := range from.copied() {
		names = append(names, from.schema.arrow.Field(column).Name)
	}
	if s.output, err = tableio.NewVerdicts(s.options.Layout, names, s.options.mem); err != nil {
		return err
	}
	s.schema = s.output.Schema()
	s.passedLast = make(map[int64]xxh3.Uint128)
	return nil
}

// passedChunk is a piece of a record batch that passes through. The last piece writes
// the record batch.
type passedChunk struct {
	record *passedRecord
	name   string // of its piece, for people
	last   bool
	size   int64
}

// Size implements batch.Chunk.
func (c *passedChunk) Size() int64 { return c.size }

// encodePassed makes the verdict columns of a piece.
func (s *sink) encodePassed(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	p, ok := b.Table.(*piece)
	if !ok || p.record.passed == nil {
		return nil, fmt.Errorf("%s does not pass through", b.Input)
	}
	r := p.record.passed
	if from := s.options.From; from.options.Keep == batch.KeepAll && !slices.EqualFunc(from.schema.columns, r.source.schema.columns, sameDecimals) {
		return nil, option.Errorf("%s has decimals of other bits than the first input: make all decimal128 with %s", b.Input, option.Compression.With("zstd"))
	}
	size, last, err := r.verdicts.Add(s.output, p.number, b, v, p.urls)
	p.kept, p.urls = size, nil
	if err == nil && last {
		err = s.assemble(r, b.Grant)
		p.kept += r.message.size()
	}
	if err != nil {
		return nil, err
	}
	return &passedChunk{record: r, name: p.Name(), last: p.last, size: size}, nil
}

// assemble makes the message of a record batch after all its pieces were evaluated.
func (s *sink) assemble(r *passedRecord, grant *batch.Grant) error {
	verdicts, err := r.verdicts.Columns(s.output)
	if err != nil {
		return err
	}
	defer tables.Release(verdicts)
	rows, selected := r.verdicts.Counts()
	var ours message
	switch {
	// Readers refuse a record batch of the old version that has keys and values of its
	// own, as the checksum is. The versions differ only for unions.
	case r.meta.version < metadataV5 && r.source.schema.hasUnion():
		err = option.Errorf("it has a union in an older version of the format than the schema says: make it new with %s", option.Compression.With("zstd"))
	case selected == 0 && s.options.Selects && !s.options.OneToOne:
		r.result = leftOut
	case selected < rows && !s.options.Selects:
		err = errors.New("rows are left out, which the output was not told")
	case !s.options.Selects:
		if ours, err = encodeRecord(nil, verdicts, r.meta.codec, grant); err == nil {
			r.message, err = r.join(ours, r.meta, r.passedSize(), message{})
		}
	default:
		r.result = mixed
		if err = s.gatherMixed(r, verdicts, grant); err != nil {
			err = fmt.Errorf("rows are left out, so that each record batch must be written anew: %w", err)
		}
	}
	return err
}

// join returns the message of the record batch with the columns that the program encoded.
// Its metadata lists the arrays and buffers of passed, unless that is nil, before those of
// ours. The body of ours follows the from bytes of passed. Those are written before the
// message's body, or begin it, if they are given in made.
func (r *passedRecord) join(ours message, passed *batchMeta, from int64, made message) (message, error) {
	both := ours.batch
	if passed != nil {
		for i := range both.buffers {
			both.buffers[i].offset += from
		}
		both.nodes = slices.Concat(passed.nodes, both.nodes)
		both.buffers = slices.Concat(passed.buffers, both.buffers)
		both.variadic = slices.Concat(passed.variadic, both.variadic)
	}
	pairs := readPairs(r.frame.meta(), messageSlot)
	sum := partSum(from - int64(len(made.body)-behind(made.lifted)))
	lies := from - int64(len(made.body)) - made.liftedSize() // of the body that passes through
	made.batch, made.codes = both, append(made.codes, ours.codes...)
	made.finish = func(bodyLength int64) []byte {
		fb := flatbuffers.NewBuilder(1024)
		return finishMessage(fb, kindRecord, both.version, lies+bodyLength, buildBatch(fb, both), sum, pairs)
	}
	made.body = append(made.body, ours.body...)
	made.end()
	return made, nil
}

// passedSize returns the padded size of the body that passes through.
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
	if r.result == mixed {
		if err := s.numberRecord(&r.message, r.used); err != nil {
			return err
		}
	}
	if err := s.writeResult(r); err != nil {
		return err
	}
	if r.result == mixed {
		r.source.pool.Put(r.message.body)
	}
	r.message = message{}
	return r.source.done()
}

// writeResult writes a record batch as its result says.
func (s *sink) writeResult(r *passedRecord) error {
	at := r.message.at(s.pos)
	switch r.result {
	case leftOut:
		return nil
	case mixed:
		s.batches = append(s.batches, at)
		if len(r.message.lifted) > 0 {
			return s.writeLifted(r.message, r.frame)
		}
		return s.writeMessage(r.message)
	}
	at.body += r.passedSize()
	s.batches = append(s.batches, at)
	if err := s.write(r.message.head); err != nil {
		return err
	}
	if err := s.copyBody(r.frame); err != nil {
		return err
	}
	return s.write(r.message.body)
}

// passDictionary writes a dictionary as it was read. A file must not hold a dictionary
// twice, so an identical one is left out.
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

var zeros [8]byte

// newHead returns the bytes before a body: the marker, the length, and the metadata.
func newHead(meta []byte) []byte {
	padded := (len(meta) + 7) &^ 7
	head := make([]byte, 0, framePrefix+padded)
	head = appendUint32(appendUint32(head, continuation), uint32(padded))
	head = append(head, meta...)
	return head[:framePrefix+padded]
}
