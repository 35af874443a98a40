package rulepack

import (
	"fmt"
)

// guard makes an error of a panic that comes of a mapped file: the system's
// answer to a read behind the end of one that was cut, or of one that the disk
// does not give, and whatever comes of one that was written to after it was
// checked. The caller has set debug.SetPanicOnFault. Other panics go on.
func (p *Pack) guard(err *error) {
	r := recover()
	if r == nil {
		return
	}
	changed := p.Unchanged()
	_, fault := r.(interface{ Addr() uintptr })
	switch {
	case changed != nil:
		*err = changed
	case fault:
		*err = fmt.Errorf("rulepack: %s: the file cannot be read any more: an error of the disk, or of the network that it is on", p.name)
	default:
		panic(r)
	}
}

// Unchanged says whether the pack was written to since it was opened. It does
// not read the pack: size and time tell. A pack in whose place another one was
// put is unchanged.
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
		return fmt.Errorf("rulepack: %s: %w: it had %d bytes and has %d", p.name, ErrChanged, before.Size(), now.Size())
	case !now.ModTime().Equal(before.ModTime()):
		return fmt.Errorf("rulepack: %s: %w", p.name, ErrChanged)
	}
	return nil
}
