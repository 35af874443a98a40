package ruleset

import (
	"context"
	"io"
	"os"
	"sync/atomic"

	"robotsbatch/io/rules/captures"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/meter"
)

// measured is the step of reading files of captures, by their bytes if all have a size,
// else by their number. It is nil if nobody watches.
type measured struct {
	step  *meter.Step
	sizes map[string]int64
}

// measure starts the progress step of reading files; it is nil if nobody watches. Each file counts
// with its bytes, or as 1 if any of them is an object, is no regular file, or cannot be looked up.
func measure(ctx context.Context, files []string) *measured {
	m := &measured{sizes: make(map[string]int64, len(files))}
	unit, total := meter.Bytes, int64(0)
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil || blob.IsURL(name) || !info.Mode().IsRegular() {
			unit = meter.Files
			break
		}
		m.sizes[name] = info.Size()
	}
	for _, name := range files {
		if unit == meter.Files {
			m.sizes[name] = 1
		}
		total += m.sizes[name]
	}
	if m.step = meter.Start(ctx, "reading captures", unit, total); m.step == nil {
		return nil
	}
	return m
}

// of returns a reader of a file that advances the step.
func (m *measured) of(name string, r captures.Reader) captures.Reader {
	if m == nil || r == nil {
		return r
	}
	part := m.step.Part(m.sizes[name])
	if file, is := r.(*warcFile); is && file.read != nil { // captures may be rare in it
		file.read.part.Store(part)
	}
	table, _ := r.(sharer)
	return &measuredReader{Reader: r, table: table, part: part}
}

// measuredReader says after some captures, and at the end, how much of a file was read.
type measuredReader struct {
	captures.Reader
	table sharer // nil for none
	part  *meter.Part
	read  int
}

// sharer is a table that says how much of it was read, from 0 to 1; 0 where it is not known.
type sharer interface{ share() float64 }

// shareEvery is how many captures are read before a table is asked for its share.
const shareEvery = 256

func (r *measuredReader) Next(x *captures.Capture) error {
	err := r.Reader.Next(x)
	r.read++
	switch {
	case err == io.EOF:
		r.part.To(1)
	case r.table != nil && r.read%shareEvery == 0:
		r.part.To(r.table.share())
	}
	return err
}

// positions is a file that knows how far it was read. A decoder may read it in a goroutine
// of its own.
type positions struct {
	*io.SectionReader
	part atomic.Pointer[meter.Part]
}

func (p *positions) Read(b []byte) (int, error) {
	n, err := p.SectionReader.Read(b)
	if part := p.part.Load(); part != nil {
		if at, err := p.Seek(0, io.SeekCurrent); err == nil {
			part.To(float64(at) / float64(max(1, p.Size())))
		}
	}
	return n, err
}
