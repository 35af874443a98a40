package rulepack

import (
	"bufio"
	"context"
	"io"

	"robotsbatch/io/frontier/format"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/meter"
	"robotsbatch/io/store/runs"
	"robotsbatch/matcher"
)

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

func (p *pending) close() { p.spill.Close() }

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

// finish ends the last section and writes the table and the trailer.
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
