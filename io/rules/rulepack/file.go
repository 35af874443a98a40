package rulepack

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"reflect"
	"slices"

	"github.com/zeebo/xxh3"

	"robotsbatch/io/frontier/format"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/meter"
	"robotsbatch/io/store/runs"
	"robotsbatch/matcher"
)

// file is a mapped pack, divided into its sections.
type file struct {
	mapping
	table [sectionKinds]tableEntry // by kind
	info  Info                     // what findSections knows of it; Info.readMeta adds the rest
}

// has reports whether an address is within the mapping.
func (m *mapping) has(address uintptr) bool {
	start := reflect.ValueOf(m.data).Pointer()
	return start <= address && address-start < uintptr(len(m.data))
}

// mapping is a file in memory.
type mapping struct {
	data []byte
	// file stays open while it is mapped; nil if the bytes are a copy.
	file   *os.File
	mapped fs.FileInfo // from when it was mapped
}

// reading tells the system how a mapped file will be read, see advise.
type reading int

const (
	// manyPlaces: the system also reads neighbouring pages, and so soon everything.
	manyPlaces reading = iota
	// fewPlaces: the system reads only the pages that are used.
	fewPlaces
	// inOrder: the system reads ahead.
	inOrder
	// notAgain: the system may take back the pages that it has read. Not for a copy in memory,
	// whose pages would be lost.
	notAgain
)

// dropSize is how many bytes are read between two calls of dropPages.
const dropSize = 16 << 20

// dropPages lets the system take back all pages of a file that is read once, so that they do
// not count as the program's memory.
func (m *mapping) dropPages() {
	if m.file != nil { // else it is a copy
		advise(m.data, notAgain)
	}
}

// dropPagesAt calls dropPages if reading has come to the offset at, more than dropSize bytes after
// *last, the offset at the last call of dropPages. *last must be 0 before the first call.
func (m *mapping) dropPagesAt(at uint64, last *uint64) {
	if at > *last+dropSize {
		m.dropPages()
		*last = at
	}
}

// tableEntry is a section's entry in the table.
type tableEntry struct {
	data     []byte
	checksum uint32
	found    bool
}

// findSections sets f.table and f.info from the header, the trailer and the table of sections, which the
// package comment lays out. Every section is then inside the file. It compares the checksums of the table
// and of the section meta alone.
func (f *file) findSections() error {
	if len(f.data) < headerSize+trailerSize {
		return fmt.Errorf("%w: it has %d bytes", errNotPack, len(f.data))
	}
	head, size := f.data[:headerSize], uint64(len(f.data))
	if err := f.readHeader(head); err != nil {
		return err
	}
	trailer := f.data[size-trailerSize:]
	if string(trailer[24:]) != endMagic || le64(trailer[16:]) != size {
		return fmt.Errorf("%w: its end is missing", ErrDamaged)
	}
	tableStart, count := le64(trailer), uint64(le32(trailer[8:]))
	if tableStart < headerSize || tableStart > size || tableStart+count*sectionSize != size-trailerSize {
		return fmt.Errorf("%w: table of sections", ErrDamaged)
	}
	table := bytes.Clone(f.data[tableStart : size-trailerSize]) // stays as checked if the file is written to
	if tableChecksum(head, table, trailer) != le32(trailer[12:]) {
		return fmt.Errorf("%w: checksum of the table of sections", ErrDamaged)
	}
	f.info.Size, f.info.Checksum = int64(size), identityOf(head, table, size)
	for ; len(table) > 0; table = table[sectionSize:] {
		kind, offset, length := le32(table), le64(table[8:]), le64(table[16:])
		inside := headerSize <= offset && offset <= tableStart && length <= tableStart-offset
		if !f.mayHave(kind) || f.table[kind].found || !inside {
			return fmt.Errorf("%w: table of sections", ErrDamaged)
		}
		f.table[kind] = tableEntry{data: f.data[offset : offset+length : offset+length], checksum: le32(table[4:]), found: true}
		f.info.Sections = append(f.info.Sections, Section{Name: sectionNames[kind], Offset: int64(offset), Length: int64(length)})
	}
	return f.checkSections()
}

// readHeader reads the version and the partition, which checkSections checks. It returns an error
// for another kind of file, and for a version that this program does not read.
func (f *file) readHeader(head []byte) error {
	numbers, ok := bytes.CutPrefix(head, []byte(format.RulePackMagic))
	if !ok {
		return errNotPack
	}
	f.info.Version, f.info.Partition, f.info.Partitions = int(le32(numbers)), int(le32(numbers[4:])), int(le32(numbers[8:]))
	switch v := f.info.Version; {
	case v == 0:
		return fmt.Errorf("%w: format %d", ErrDamaged, v)
	case v < historyVersion && v != version:
		return fmt.Errorf("%w: it has format %d, from an earlier version, and this program reads %d and %d: compile it again", ErrVersion, v, version, historyVersion)
	case v > historyVersion:
		return fmt.Errorf("%w: it has format %d, from a later version, and this program reads %d and %d: use a newer program, or compile it again", ErrVersion, v, version, historyVersion)
	}
	return nil
}

// checkSections checks the partition, and that all sections exist and have sizes that agree, so that who
// reads the row of a body or the start of a bucket need not check bounds. It compares the checksum of the
// section meta.
func (f *file) checkSections() error {
	if f.info.Partition < 0 || f.info.Partition >= max(1, f.info.Partitions) {
		return fmt.Errorf("%w: partition %d of %d", ErrDamaged, f.info.Partition, f.info.Partitions)
	}
	for kind := uint32(metaSection); kind < capturesSection; kind++ {
		if f.mayHave(kind) && !f.table[kind].found {
			return fmt.Errorf("%w: no section %s", ErrDamaged, sectionNames[kind])
		}
	}
	size := func(kind int) uint64 { return uint64(len(f.section(kind))) }
	// The directory and the rows each have one more than there are buckets, at least one, and bodies. The
	// starts have the number of intervals as well.
	directory, rows := size(directorySection), size(bodiesSection)
	bucketsFit := directory%8 == 0 && directory >= 2*8 && directory/8 <= math.MaxUint32
	bodiesFit := rows%rowSize == 0 && rows >= rowSize && rows/rowSize <= math.MaxUint32 && size(digestsSection) == (rows/rowSize-1)*sha256.Size
	if !bucketsFit || !bodiesFit || f.info.Version == historyVersion && size(startsSection) != directory+8 {
		return fmt.Errorf("%w: sizes of sections", ErrDamaged)
	}
	if meta := f.table[metaSection]; checksum(meta.data) != meta.checksum {
		return fmt.Errorf("%w: checksum of the section meta", ErrDamaged)
	}
	return nil
}

// identityOf returns Info.Checksum. It covers the header, the size of the file, and the table,
// which has the checksums of all sections.
func identityOf(head, table []byte, size uint64) string {
	sum := xxh3.Hash128(append64(slices.Concat(head, table), size)).Bytes()
	return hex.EncodeToString(sum[:])
}

// mayHave reports whether a file of this version may have a section of a kind.
func (f *file) mayHave(kind uint32) bool {
	if kind == intervalsSection || kind == startsSection {
		return f.info.Version == historyVersion
	}
	return kind != 0 && kind < sectionKinds
}

func (f *file) section(kind int) []byte { return f.table[kind].data }

// The errors that callers can tell apart. They are wrapped with the pack's name and the
// details.
var (
	// errNotPack: the file is not a rule pack.
	errNotPack = errors.New("this is no rule pack")
	// ErrVersion: another version of the program made the pack.
	ErrVersion = errors.New("the rule pack is of another version")
	// ErrDamaged: the pack was cut off or changed.
	ErrDamaged = errors.New("the rule pack is damaged: compile it again")
	// ErrMismatch: the pack was compiled for another profile or size limit than it is
	// opened for.
	ErrMismatch = errors.New("the rule pack was compiled for something else")
	// ErrUnreadable: reading the pack's file failed.
	ErrUnreadable = errors.New("the file cannot be read any more: an error of the disk, or of the network that it is on")
	// ErrChanged: the pack was written to while it was open.
	ErrChanged = errors.New("the rule pack was written to while it was used: replace it with a new file instead, as compile does")
)

const (
	version = 18
	// historyVersion is the version of packs with a history.
	historyVersion = 19
	// endMagic is the end of a pack.
	endMagic = "RBP end\n"

	headerSize  = 32
	trailerSize = 32
	sectionSize = 32
	// headerUsed and sectionUsed are how many of their bytes have a meaning; the rest is 0.
	headerUsed  = len(format.RulePackMagic) + 3*4
	sectionUsed = 24
)

// The kinds of sections.
const (
	metaSection = iota + 1
	directorySection
	authoritiesSection
	bodiesSection
	rulesSection
	notesSection
	recordsSection
	digestsSection
	namesSection
	intervalsSection
	startsSection
	capturesSection // may be missing
	sectionKinds
)

var sectionNames = [sectionKinds]string{
	"", "meta", "directory", "authorities", "bodies", "rules", "notes", "records", "digests", "names", "intervals", "starts", "captures",
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

func updateChecksum(sum uint32, data []byte) uint32 { return crc32.Update(sum, castagnoli, data) }

func le16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

func append32(b []byte, values ...uint32) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func append64(b []byte, values ...uint64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// packWriter writes the file: the header, the sections one after the other, and at the
// end the table of where they are.
type packWriter struct {
	w     blob.Writer // collects small writes, and keeps an error
	info  *Info       // gets each section that is begun and, at the end, size and checksum
	head  []byte      // the header
	at    int64       // bytes written so far
	table []byte      // the entries of the sections that are complete
	kind  int         // of the current section
	sum   uint32      // its checksum so far
	step  *meter.Step
}

// newPackWriter writes the header to w: the magic and, as u32, the version, the partition and
// the number of partitions, from info; the rest is 0.
func newPackWriter(ctx context.Context, w blob.Writer, info *Info) *packWriter {
	head := append32([]byte(format.RulePackMagic), uint32(info.Version), uint32(info.Partition), uint32(info.Partitions))
	head = append(head, make([]byte, headerSize-len(head))...)
	p := &packWriter{w: w, info: info, head: head, at: headerSize, step: meter.Start(ctx, "writing the pack", meter.Bytes, 0)}
	_, _ = w.Write(head) // an error stays, and shows at the next write
	return p
}

// pending is a section that is kept in a temporary file until those before it are written.
type pending struct {
	*bufio.Writer // writes to spill
	spill         runs.Spill
}

func newPending(folder string) *pending {
	p := &pending{spill: runs.Spill{Folder: folder}}
	p.Writer = bufio.NewWriterSize(&p.spill, copyingSize)
	return p
}

// copyTo writes to w all that was written to p.
func (p *pending) copyTo(w io.Writer) error {
	err := p.Flush()
	if err == nil {
		_, err = io.Copy(w, p.spill.All())
	}
	return err
}

// beginSection ends the current section, writes zeros up to the alignment of the next one, and begins
// that.
func (w *packWriter) beginSection(kind int) {
	w.endSection()
	padding := int(-w.at & (alignmentOf(kind) - 1))
	_, _ = w.w.Write(make([]byte, padding)) // an error stays
	w.at += int64(padding)
	w.info.Sections = append(w.info.Sections, Section{Name: sectionNames[kind], Offset: w.at})
	w.kind, w.sum = kind, 0
}

// alignmentOf returns the number that a section's offset is a multiple of.
func alignmentOf(kind int) int64 {
	switch kind {
	case authoritiesSection:
		return pageSize
	case rulesSection:
		return matcher.BodyAlignment
	}
	return 8
}

// Write writes to the current section.
func (w *packWriter) Write(data []byte) (int, error) {
	w.at += int64(len(data))
	w.sum = updateChecksum(w.sum, data)
	w.step.Add(int64(len(data)))
	return w.w.Write(data)
}

// endSection adds the current section, if there is one, to the table.
func (w *packWriter) endSection() {
	if len(w.info.Sections) == 0 {
		return
	}
	s := &w.info.Sections[len(w.info.Sections)-1]
	s.Length = w.at - s.Offset
	w.table = append64(append32(w.table, uint32(w.kind), w.sum), uint64(s.Offset), uint64(s.Length), 0) // 0: reserved
}

// finish ends the last section and writes the table and the trailer. It returns the first error of all
// writes, and sets the size and the checksum of the info.
func (w *packWriter) finish() error {
	w.endSection()
	trailer := append32(append64(nil, uint64(w.at)), uint32(len(w.info.Sections)))
	trailer = append32(trailer, tableChecksum(w.head, w.table, trailer))
	w.at += int64(len(w.table)) + trailerSize
	trailer = append(append64(trailer, uint64(w.at)), endMagic...)
	w.info.Size, w.info.Checksum = w.at, identityOf(w.head, w.table, uint64(w.at))
	_, err := w.w.Write(append(w.table, trailer...))
	return err
}

// tableChecksum returns the checksum in the trailer; trailer holds the bytes before it.
func tableChecksum(head, table, trailer []byte) uint32 {
	return updateChecksum(updateChecksum(checksum(head), table), trailer[:12])
}
