package ipc

import (
	"slices"

	"robotsbatch/io/tables/arrow/layout"
)

// message is a message to be written. It is sealed when its head is made: then nothing of it changes any more.
type message struct {
	head   []byte // marker, length and metadata, padded; nil until seal makes it
	body   []byte
	lifted []lifted      // parts of the body that the output takes from the input's
	from   *layout.Frame // the input's message; nil if nothing is copied

	batch    *layout.BatchMeta           // of a record batch or a dictionary
	indices  []inputIndices              // that the body lacks until they are renumbered
	metadata func(bodySize int64) []byte // makes the metadata, once the body's size is known
}

// lifted is a part of an input's body that is copied to the output when the message is written. If the input's body is in
// a file, the part is never in memory as a whole. The message's body is its own bytes with the lifted parts between them.
type lifted struct {
	at         int   // number of the message's own bytes before it
	from, size int64 // where it lies in the input's body
}

// inputIndices is a buffer of indices into a dictionary of the input, which are not renumbered yet.
type inputIndices struct {
	buffer int           // index of the buffer in the message, whose body lacks it
	shape  *layout.Shape // of the indices
	values []byte        // the indices
	valid  []byte        // their validity bitmap; nil if none is null
}

// copyBody returns a message, not sealed, with the body of an input's message, padded.
func copyBody(f *layout.Frame) message {
	return message{lifted: []lifted{{size: f.BodyLength}}, from: f, body: padding(f.BodyLength)}
}

// bodySize returns the size of the body, lifted parts included.
func (m *message) bodySize() int64 {
	size := int64(len(m.body))
	for _, l := range m.lifted {
		size += l.size
	}
	return size
}

// coveredFrom returns the index in body from which on the checksum covers it: after the last lifted
// part, because lifted bytes are not in memory.
func (m *message) coveredFrom() int {
	if n := len(m.lifted); n > 0 {
		return m.lifted[n-1].at
	}
	return 0
}

// appendColumns appends the columns of added to those of m, a message of a record batch of the input, and seals m.
func (m *message) appendColumns(added message) {
	size, all := m.bodySize(), added.batch
	for i := range all.Buffers {
		all.Buffers[i].Offset += size
	}
	all.Nodes = slices.Concat(m.batch.Nodes, all.Nodes)
	all.Buffers = slices.Concat(m.batch.Buffers, all.Buffers)
	all.Variadic = slices.Concat(m.batch.Variadic, all.Variadic)
	sum := layout.PartSum(size - int64(len(m.body)-m.coveredFrom()))
	pairs := layout.ReadPairs(m.from.Meta(), layout.MessageSlot)
	m.batch = all
	m.metadata = func(bodySize int64) []byte { return layout.RecordMessage(all, bodySize, sum, pairs) }
	m.body = append(m.body, added.body...)
	m.seal()
}

// seal makes the head, with a checksum if the metadata has room for one. It does nothing as long as the body lacks
// indices.
func (m *message) seal() {
	if len(m.indices) == 0 {
		m.head = layout.SealedHead(m.metadata(m.bodySize()), m.body[m.coveredFrom():])
	}
}

// size returns the number of bytes of memory that the message takes.
func (m *message) size() (size int64) {
	for _, indices := range m.indices {
		size += int64(len(indices.values) + len(indices.valid))
	}
	return size + int64(len(m.head)+len(m.body))
}

var zeros [8]byte

// padding returns the zeros that pad size bytes to a multiple of eight.
func padding[N int | int64](size N) []byte { return zeros[: -size&7 : -size&7] }
