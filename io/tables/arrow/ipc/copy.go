package ipc

import (
	"errors"
	"fmt"
	"io"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/zeebo/xxh3"

	"robotsbatch/io/tables/arrow/layout"
)

// What is copied lies in the output as in the input:
//
//	schema          the input's fields as they were, then those that are added
//	dictionaries    byte for byte
//	record batch    new metadata: the input's arrays and buffers, then those that are added
//	                the input's body, byte for byte, padded to 8
//	                the buffers of the columns that are added
//
// If rows are left out, record batches are gathered (see [gathering]).
//
// When the input is a file, only the buffers that are decoded are read into memory. The rest goes
// from the file to the output in pieces of copySize.
const copySize = 1 << 20

// copiedDictionary is a dictionary message that is copied whole.
type copiedDictionary struct {
	*layout.Frame
	id    int64
	delta bool // it extends the dictionary that was there before
}

// copiedRecord is a record batch of the input whose columns are copied, all or some.
type copiedRecord struct {
	reader *Reader
	before []copiedDictionary // that came since the record batch before; nil if rows are left out
	used   []usedDictionary   // that it uses, if rows are left out
	frame  *layout.Frame
	meta   *layout.BatchMeta // of the columns that are copied
}

// project limits what is copied to the columns of meta, whose buffers are in body.
func (r *copiedRecord) project(meta *layout.BatchMeta, body []byte) {
	f := *r.frame
	f.BodyLength = int64(len(body))
	f.InMemory(body)
	r.frame, r.meta = &f, meta
}

// appendColumns returns the message of a record batch with its copied columns and then the columns of added. copied
// has the arrays and buffers of the copied columns, which take the first size bytes of the body, padding
// included. m has these bytes, in memory or lifted, and its indices that are renumbered later. Or it has nothing, for
// a body that is copied as it lies: then they are written between the head of the message and m.body.
func (r *copiedRecord) appendColumns(copied *layout.BatchMeta, size int64, m, added message) message {
	both := added.batch
	for i := range both.Buffers {
		both.Buffers[i].Offset += size
	}
	both.Nodes = slices.Concat(copied.Nodes, both.Nodes)
	both.Buffers = slices.Concat(copied.Buffers, both.Buffers)
	both.Variadic = slices.Concat(copied.Variadic, both.Variadic)
	pairs := layout.ReadPairs(r.frame.Meta(), layout.MessageSlot)
	// The checksum covers what comes after the last lifted part.
	sum := layout.PartSum(size - int64(len(m.body)-m.coveredFrom()))
	asItLies := size - m.bodySize() // bytes that m does not have
	m.batch = both
	m.metadata = func(bodySize int64) []byte {
		fb := flatbuffers.NewBuilder(1024)
		return layout.FinishMessage(fb, layout.KindRecord, both.Version, asItLies+bodySize, layout.BuildBatch(fb, both), sum, pairs)
	}
	m.body = append(m.body, added.body...)
	m.seal()
	return m
}

// size returns the padded size of the body of a record batch that is copied as it lies.
func (r *copiedRecord) size() int64 { return (r.frame.BodyLength + 7) &^ 7 }

// writeCopied writes a record batch that is copied as it lies, and the dictionaries before it.
func (s *Writer) writeCopied(c *Chunk) error {
	r, m := c.copied, &c.messages[0]
	for _, d := range r.before {
		if err := s.copyDictionary(d); err != nil {
			return fmt.Errorf("dictionary %d: %w", d.id, err)
		}
	}
	block := m.block(s.out.Pos)
	block.Body += r.size()
	s.batches = append(s.batches, block)
	if err := s.out.Put(m.head); err != nil {
		return err
	}
	if err := s.copyBody(r.frame); err != nil {
		return err
	}
	return s.out.Put(m.body)
}

// copyDictionary writes a dictionary message as it was read. A file must not have a dictionary
// twice, so an identical one is left out there, and another one is an error.
func (s *Writer) copyDictionary(d copiedDictionary) error {
	if !s.options.Stream && !d.delta {
		var h xxh3.Hasher
		_, _ = h.Write(d.Meta()) // never an error
		if _, err := io.Copy(&h, io.NewSectionReader(d.Body, 0, d.BodyLength)); err != nil {
			return layout.Cut(err)
		}
		last, known := s.copiedHash[d.id]
		switch {
		case known && last == h.Sum128():
			return nil
		case known:
			return errors.New("it differs from that of the batches before, which a file cannot have: write a stream (.arrows)")
		}
		s.copiedHash[d.id] = h.Sum128()
	}
	head := layout.NewHead(d.Meta())
	s.dictionaries = append(s.dictionaries, layout.Block{Offset: s.out.Pos, Meta: int32(len(head)), Body: (d.BodyLength + 7) &^ 7})
	if err := s.out.Put(head); err != nil {
		return err
	}
	return s.copyBody(d.Frame)
}
