package rulepack

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// errClosed is returned by lookups in a closed pack.
var errClosed = errors.New("the rule pack is closed")

// guard is deferred by whoever reads the mapped file, with what debug.SetPanicOnFault was
// before. It makes a panic the error that Fault returns; a panic in a closed pack, which has
// nothing mapped, is errClosed.
func (p *Pack) guard(before bool, err *error) {
	debug.SetPanicOnFault(before)
	value := recover()
	if value == nil {
		return
	}
	explained := p.Fault(value)
	if p.file == nil {
		explained = fmt.Errorf("%s: %w", p.name, errClosed)
	}
	if explained == nil {
		panic(value)
	}
	*err = explained
}

// Fault implements [matcher.Mapped]. It returns an error for a memory fault in the mapped
// file, which follows an error of its disk or a read past the end of a cut file, and for any
// panic after the file was written to; nil for others. Whoever reads the pack has set
// debug.SetPanicOnFault.
func (p *Pack) Fault(recovered any) error {
	if err := p.Unchanged(); err != nil {
		return err
	}
	if fault, ok := recovered.(interface{ Addr() uintptr }); ok && p.file != nil && p.file.has(fault.Addr()) {
		return fmt.Errorf("%s: %w", p.name, ErrUnreadable)
	}
	return nil
}

// Unchanged returns ErrChanged if the pack was written to since it was opened. It compares
// size and time without reading the pack. A pack that was replaced by another file counts
// as unchanged.
func (p *Pack) Unchanged() error {
	if p.file == nil || p.file.file == nil {
		return nil
	}
	now, err := p.file.file.Stat()
	if err != nil {
		return named(p.name, err)
	}
	before := p.file.info
	switch {
	case now.Size() != before.Size():
		return fmt.Errorf("%s: %w: it had %d bytes and has %d", p.name, ErrChanged, before.Size(), now.Size())
	case !now.ModTime().Equal(before.ModTime()):
		return fmt.Errorf("%s: %w", p.name, ErrChanged)
	}
	return nil
}
