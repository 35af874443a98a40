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
//	record batch    new metadata: the input's arrays and buffers, then ours
//	                the input's body, byte for byte, padded to 8
//	                the buffers of the columns that are added
//
// If rows are left out, record batches are gathered (see [gathering]).
//
// When the input is a file, only the buffers that are decoded are read into memory. The rest goes
// from the file to the output in pieces of copySize.
const copySize = 1 << 20

// passedMessage is a dictionary message that is copied whole.
type passedMessage struct {
	*layout.Frame
	id    int64 // of a dictionary
	delta bool
}

// copiedRecord is a record batch whose columns are copied.
type copiedRecord struct {
	reader *Reader
	before []passedMessage  // dictionaries that come before it
	used   []usedDictionary // instead, if rows are left out
	frame  *layout.Frame
	meta   *layout.BatchMeta
}

// project limits what is copied to the columns that meta has, whose buffers are in body.
func (r *copiedRecord) project(meta *layout.BatchMeta, body []byte) {
	f := *r.frame
	f.BodyLength = int64(len(body))
	f.InMemory(body)
	r.frame, r.meta = &f, meta
}

// join returns the message of a record batch of copied columns, whose arrays and buffers copied has,
// and then of ours. The part of its body that the copied columns have takes size bytes, padding
// included. Of these made has what is in memory or lifted. If it has nothing, as for a body that is
// copied as it lies, they are written between the head of the message and its body.
func (r *copiedRecord) join(copied *layout.BatchMeta, size int64, made, ours message) message {
	both := ours.batch
	for i := range both.Buffers {
		both.Buffers[i].Offset += size
	}
	both.Nodes = slices.Concat(copied.Nodes, both.Nodes)
	both.Buffers = slices.Concat(copied.Buffers, both.Buffers)
	both.Variadic = slices.Concat(copied.Variadic, both.Variadic)
	pairs := layout.ReadPairs(r.frame.Meta(), layout.MessageSlot)
	sum := layout.PartSum(size - int64(len(made.body)-made.coveredFrom()))
	before := size - made.bodySize()
	made.batch, made.codes = both, append(made.codes, ours.codes...)
	made.finish = func(bodySize int64) []byte {
		fb := flatbuffers.NewBuilder(1024)
		return layout.FinishMessage(fb, layout.KindRecord, both.Version, before+bodySize, layout.BuildBatch(fb, both), sum, pairs)
	}
	made.body = append(made.body, ours.body...)
	made.end()
	return made
}

// size returns the padded size of the body that is copied.
func (r *copiedRecord) size() int64 { return (r.frame.BodyLength + 7) &^ 7 }

// writeCopied writes a record batch that is copied as it lies, and the dictionaries before it.
func (s *Writer) writeCopied(c *Chunk) error {
	r, m := c.copied, &c.messages[0]
	for _, d := range r.before {
		if err := s.passDictionary(d); err != nil {
			return fmt.Errorf("dictionary %d: %w", d.id, err)
		}
	}
	at := m.at(s.out.Pos)
	at.Body += r.size()
	s.batches = append(s.batches, at)
	if err := s.out.Put(m.head); err != nil {
		return err
	}
	if err := s.copyBody(r.frame); err != nil {
		return err
	}
	return s.out.Put(m.body)
}

// writeGathered writes a record batch that was gathered, whose body goes back to the pool.
func (s *Writer) writeGathered(c *Chunk) error {
	r, m := c.copied, &c.messages[0]
	if err := s.numberRecord(m, r.used); err != nil {
		return err
	}
	s.batches = append(s.batches, m.at(s.out.Pos))
	var err error
	if len(m.lifted) > 0 {
		err = s.writeLifted(*m, r.frame)
	} else {
		err = s.writeMessage(*m)
	}
	if err == nil {
		r.reader.pool.Put(m.body)
	}
	c.messages = nil
	return err
}

// passDictionary writes a dictionary as it was read. A file must not hold a dictionary
// twice, so an identical one is left out.
func (s *Writer) passDictionary(d passedMessage) error {
	if !s.options.Stream && !d.delta {
		var h xxh3.Hasher
		_, _ = h.Write(d.Meta()) // never an error
		if _, err := io.Copy(&h, io.NewSectionReader(d.Body, 0, d.BodyLength)); err != nil {
			return layout.Cut(err)
		}
		last, known := s.copiedLast[d.id]
		switch {
		case known && last == h.Sum128():
			return nil
		case known:
			return errors.New("it differs from that of the batches before, which a file cannot have: write a stream (.arrows)")
		}
		s.copiedLast[d.id] = h.Sum128()
	}
	head := layout.NewHead(d.Meta())
	s.dictionaries = append(s.dictionaries, layout.Block{Offset: s.out.Pos, Meta: int32(len(head)), Body: (d.BodyLength + 7) &^ 7})
	if err := s.out.Put(head); err != nil {
		return err
	}
	return s.copyBody(d.Frame)
}
