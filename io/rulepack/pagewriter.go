package rulepack

import "io"

// perGroup is how many authorities a group is to have. Few make the directory
// large, and many leave room in pages, in which groups are not divided.
const perGroup = 4

// pageWriter writes pages and makes the directory for them. It holds one page
// and one group.
type pageWriter struct {
	w         io.Writer
	groups    uint32
	directory []uint32
	pages     uint32 // written so far

	first   uint32      // the first group of the page
	page    pageEntries // its groups before the current one
	current uint32      // the group that is being added
	group   pageEntries
	// sequence is how many pages of the current group alone were written.
	sequence uint32
	buffer   []byte
}

// newPageWriter is for at most so many authorities.
func newPageWriter(w io.Writer, authorities int64) *pageWriter {
	groups := uint32(min(authorities/perGroup+1, 1<<32-1))
	return &pageWriter{w: w, groups: groups, directory: make([]uint32, 0, groups+1)}
}

// add adds an authority. They come in the order of hash, then of text.
func (w *pageWriter) add(hash uint64, o origin, authority []byte) error {
	for group := groupOf(hash, w.groups); w.current < group; {
		if err := w.finishGroup(); err != nil {
			return err
		}
	}
	_, text := cutScheme(authority)
	if !w.group.fits(1, len(text)) {
		if err := w.overflow(); err != nil {
			return err
		}
	}
	w.group.add(hash, o, authority)
	return nil
}

// finishGroup puts the current group into a page and goes on to the next.
func (w *pageWriter) finishGroup() error {
	switch {
	case w.sequence > 0:
		if err := w.write(&w.group, pageHeader{first: w.current, last: w.current, sequence: w.sequence}); err != nil {
			return err
		}
		w.first = w.current + 1
		w.sequence = 0
	default:
		if !w.page.fits(w.group.count, len(w.group.texts)) {
			if err := w.finishPage(); err != nil {
				return err
			}
		}
		w.directory = append(w.directory, w.pages)
		w.page.join(&w.group)
	}
	w.group.clear()
	w.current++
	return nil
}

// finishPage writes the page with the groups before the current one.
func (w *pageWriter) finishPage() error {
	err := w.write(&w.page, pageHeader{first: w.first, last: w.current - 1})
	w.page.clear()
	w.first = w.current
	return err
}

// overflow writes a page of the current group alone, which goes on.
func (w *pageWriter) overflow() error {
	if w.sequence == 0 {
		if w.first < w.current {
			if err := w.finishPage(); err != nil {
				return err
			}
		}
		w.directory = append(w.directory, w.pages)
	}
	err := w.write(&w.group, pageHeader{first: w.current, last: w.current, sequence: w.sequence, goesOn: true})
	w.sequence++
	w.group.clear()
	return err
}

func (w *pageWriter) write(e *pageEntries, h pageHeader) error {
	w.buffer = e.appendPage(w.buffer[:0], h)
	w.pages++
	_, err := w.w.Write(w.buffer)
	return err
}

// finish writes the last page and completes the directory.
func (w *pageWriter) finish() error {
	for w.current < w.groups {
		if err := w.finishGroup(); err != nil {
			return err
		}
	}
	if w.first < w.groups {
		if err := w.finishPage(); err != nil {
			return err
		}
	}
	w.directory = append(w.directory, w.pages)
	return nil
}
