package rulepack

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math"
	"os"
	"reflect"

	"github.com/zeebo/xxh3"

	"robotsbatch/io/frontier/format"
)

// file is a mapped pack, divided into its sections.
type file struct {
	mapping
	table    [sectionKinds]tableEntry
	sections []Section // in the order of the table
	version  int
	// As in Info.
	partition, partitions int
	identity              string // see Info.Checksum
}

// has reports whether an address is one of the mapping.
func (m *mapping) has(address uintptr) bool {
	if len(m.data) == 0 {
		return false
	}
	start := reflect.ValueOf(m.data).Pointer()
	return address-start < uintptr(len(m.data))
}

// mapping is a file in memory.
type mapping struct {
	data []byte
	// file stays open while it is mapped; nil if the bytes are a copy.
	file *os.File
	info fs.FileInfo // from when it was mapped
}

// reading is how a mapped file will be read.
type reading int

const (
	// manyPlaces: the system also reads neighbouring pages, and so soon everything.
	manyPlaces reading = iota
	// fewPlaces: the system reads only the pages that are used.
	fewPlaces
	// inOrder: the system reads ahead.
	inOrder
	// notAgain: the system may take back the pages that it has read; of a file alone.
	notAgain
)

// letGoSize is how many bytes are read before the system takes back their pages.
const letGoSize = 16 << 20

// letGo lets the system take back the pages of a file that is read once, so that they do not
// count as the program's memory.
func (m *mapping) letGo() {
	if m.file != nil {
		advise(m.data, notAgain)
	}
}

// tableEntry is a section's entry in the table.
type tableEntry struct {
	data     []byte
	checksum uint32
	found    bool
}

// findSections reads the header, the trailer and the table of sections, and sets the fields of f
// but the mapping. Every section is then inside the file. Only the checksums of the table and of
// meta are verified.
func (f *file) findSections() error {
	if len(f.data) < headerSize+trailerSize {
		return fmt.Errorf("%w: it has %d bytes", errNotPack, len(f.data))
	}
	head := f.data[:headerSize]
	if !bytes.HasPrefix(head, []byte(format.RulePackMagic)) {
		return errNotPack
	}
	f.version = int(le32(head[len(format.RulePackMagic):]))
	switch v := f.version; {
	case v == 0:
		return fmt.Errorf("%w: format %d", ErrDamaged, v)
	case v < historyVersion && v != version:
		return fmt.Errorf("%w: it has format %d, from an earlier version, and this program reads %d and %d: compile it again", ErrVersion, v, version, historyVersion)
	case v > historyVersion:
		return fmt.Errorf("%w: it has format %d, from a later version, and this program reads %d and %d: use a newer program, or compile it again", ErrVersion, v, version, historyVersion)
	}
	f.partition, f.partitions = int(le32(head[len(format.RulePackMagic)+4:])), int(le32(head[len(format.RulePackMagic)+8:]))
	size := uint64(len(f.data))
	trailer := f.data[size-trailerSize:]
	if string(trailer[24:]) != endMagic || le64(trailer[16:]) != size {
		return fmt.Errorf("%w: its end is missing", ErrDamaged)
	}
	at, count := le64(trailer), uint64(le32(trailer[8:]))
	if at < headerSize || at > size || at+count*sectionSize != size-trailerSize {
		return fmt.Errorf("%w: table of sections", ErrDamaged)
	}
	table := bytes.Clone(f.data[at : size-trailerSize]) // stays as checked if the file is written to
	if tableChecksum(head, table, trailer) != le32(trailer[12:]) {
		return fmt.Errorf("%w: checksum of the table of sections", ErrDamaged)
	}
	if f.partition < 0 || f.partition >= max(1, f.partitions) {
		return fmt.Errorf("%w: partition %d of %d", ErrDamaged, f.partition, f.partitions)
	}
	f.identity = identityOf(head, table, size)
	for ; len(table) > 0; table = table[sectionSize:] {
		kind, offset, length := le32(table), le64(table[8:]), le64(table[16:])
		if !f.mayHave(kind) || f.table[kind].found || offset < headerSize || offset > at || length > at-offset {
			return fmt.Errorf("%w: table of sections", ErrDamaged)
		}
		f.table[kind] = tableEntry{data: f.data[offset : offset+length : offset+length], checksum: le32(table[4:]), found: true}
		f.sections = append(f.sections, Section{Name: sectionNames[kind], Offset: int64(offset), Length: int64(length)})
	}
	return f.checkSections()
}

// checkSections checks that all sections exist and have plausible sizes.
func (f *file) checkSections() error {
	for kind := uint32(metaSection); kind < capturesSection; kind++ {
		if f.mayHave(kind) && !f.table[kind].found {
			return fmt.Errorf("%w: no section %s", ErrDamaged, sectionNames[kind])
		}
	}
	directory, rows := uint64(len(f.section(directorySection))), uint64(len(f.section(bodiesSection)))
	if directory%8 != 0 || directory < 16 || directory/8 > math.MaxUint32 ||
		rows%rowSize != 0 || rows < rowSize || rows/rowSize > math.MaxUint32 {
		return fmt.Errorf("%w: sizes of sections", ErrDamaged)
	}
	if digests := uint64(len(f.section(digestsSection))); digests != (rows/rowSize-1)*sha256.Size {
		return fmt.Errorf("%w: sizes of sections", ErrDamaged)
	}
	if history := uint64(len(f.section(startsSection))); f.version == historyVersion && history != directory+8 {
		return fmt.Errorf("%w: sizes of sections", ErrDamaged)
	}
	if meta := f.table[metaSection]; checksum(meta.data) != meta.checksum {
		return fmt.Errorf("%w: checksum of the section meta", ErrDamaged)
	}
	return nil
}

// identityOf returns a checksum over the checksums of all sections.
func identityOf(head, table []byte, size uint64) string {
	h := xxh3.New()
	h.Write(head)
	h.Write(table)
	h.Write(binary.LittleEndian.AppendUint64(nil, size))
	sum := h.Sum128().Bytes()
	return hex.EncodeToString(sum[:])
}

// mayHave reports whether the file may have a section of a kind.
func (f *file) mayHave(kind uint32) bool {
	if kind == intervalsSection || kind == startsSection {
		return f.version == historyVersion
	}
	return kind != 0 && kind < sectionKinds
}

func (f *file) section(kind int) []byte { return f.table[kind].data }
