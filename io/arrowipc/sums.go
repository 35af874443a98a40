package arrowipc

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"
)

// Every message that this package writes, and the footer of a file, has a
// checksum of itself in its metadata, where Arrow has room for anything: under
// sumKey, 16 hexadecimal digits of XXH3 with 64 bits. It is over all octets of
// the message from the continuation marker to the end of its body, or over those
// of the footer, with zeros in the place of the digits. Other readers leave it
// alone; this one compares, so that a changed octet is an error where Arrow
// itself may have no way to tell. Where one message has one, all must: else a
// changed octet of a key would do away with what it is the key of.
//
// Files of earlier versions have the checksums of all messages in the footer,
// under blockSumsKey: of each block of a dictionary, then of each of a record
// batch.
const (
	sumKey       = "robotsbatch.self.xxh3_64"
	blockSumsKey = "robotsbatch.xxh3_64"
)

// sumSize is how many digits a checksum has.
const sumSize = 16

var noSum = [sumSize]byte([]byte("0000000000000000"))

// sumAt finds the digits of its checksum in the metadata of a message, or in a
// footer: the list of keys and values is in that slot. It is -1 when there are
// none.
func sumAt(meta []byte, slot int) int {
	at := -1
	f := newFlat(meta)
	f.root().tables(slot, func(pair table) {
		key, keySize := pair.vector(0, 1)
		value, size := pair.vector(1, 1)
		if f.err == nil && string(f.at(key, keySize)) == sumKey && size == sumSize {
			at = value
		}
	})
	if f.err != nil {
		return -1
	}
	return at
}

// Slots of the lists of keys and values.
const (
	messageSlot = 4
	footerSlot  = 4
)

// sumOf is the checksum of prefix, meta with zeros for the digits at at, and body.
func sumOf(prefix, meta []byte, at int, body []byte) (digits [sumSize]byte) {
	var h xxh3.Hasher
	for _, part := range [][]byte{prefix, meta[:at], noSum[:], meta[at+sumSize:], body} {
		_, _ = h.Write(part) // never an error
	}
	hex.Encode(digits[:], binary.BigEndian.AppendUint64(nil, h.Sum64()))
	return digits
}

// seal puts the checksum of a message into it.
func (m message) seal() {
	prefix, meta := m.head[:framePrefix], m.meta()
	if at := sumAt(meta, messageSlot); at >= 0 {
		digits := sumOf(prefix, meta, at, m.body)
		copy(meta[at:], digits[:])
	}
}

// sums compares checksums, and sees that all have one or none has.
type sums struct{ asked, there bool }

// check checks metadata and what it stands between.
func (s *sums) check(prefix, meta []byte, slot int, body []byte) error {
	at := sumAt(meta, slot)
	if s.asked && s.there != (at >= 0) {
		return errors.New("damaged: some have a checksum and others have none")
	}
	s.asked, s.there = true, at >= 0
	if at < 0 {
		return nil
	}
	if digits := sumOf(prefix, meta, at, body); string(digits[:]) != string(meta[at:at+sumSize]) {
		return errors.New("damaged: its checksum is another")
	}
	return nil
}

// CheckFile compares the checksums of all messages of a file, and of its footer,
// where it has some, with what they are of. It is for who reads with the Arrow
// library, which does not, a table that is no input. A body may take memory
// octets. An error names the message.
func CheckFile(r io.ReaderAt, size, memory int64) error {
	f, err := openFile(r, size, memory)
	if err != nil {
		return fmt.Errorf("arrowipc: %w", err)
	}
	for i, b := range f.footer.dictionaries {
		if _, err := f.read(b, kindDictionary); err != nil {
			return fmt.Errorf("arrowipc: dictionary batch %d: %w", i, err)
		}
	}
	return checkFrames(f)
}

// CheckStream is CheckFile for streams.
func CheckStream(r io.Reader, memory int64) error {
	return checkFrames(&streamFramer{r: bufio.NewReader(r), limit: memory})
}

func checkFrames(f framer) error {
	for i := 0; ; i++ {
		if _, err := f.next(); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("arrowipc: message %d: %w", i, err)
		}
	}
}

func blockSum(head, body []byte) uint64 {
	var h xxh3.Hasher
	_, _ = h.Write(head) // never an error
	_, _ = h.Write(body)
	return h.Sum64()
}

// takeSums gives blocks the checksums that the footer's metadata has for them,
// if it has any.
func takeSums(root table, lists ...[]block) {
	root.tables(footerSlot, func(pair table) {
		f := pair.f
		keyAt, keySize := pair.vector(0, 1)
		at, size := pair.vector(1, 1)
		if f.err != nil || string(f.at(keyAt, keySize)) != blockSumsKey {
			return
		}
		text := f.at(at, size)
		for _, list := range lists {
			for i := range list {
				var octets [sumSize / 2]byte
				if len(text) < sumSize {
					f.fail("the footer has too few checksums")
					return
				}
				if _, err := hex.Decode(octets[:], text[:sumSize]); err != nil {
					f.fail("the footer's checksums are none")
					return
				}
				text = text[sumSize:]
				for _, c := range octets {
					list[i].sum = list[i].sum<<8 | uint64(c)
				}
				list[i].summed = true
			}
		}
		if len(text) > 0 {
			f.fail("the footer has too many checksums")
		}
	})
}
