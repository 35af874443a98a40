package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/store/blob"
)

// Concatenation is a batch.Source of several inputs, one after another. Only
// the current one is open.
type Concatenation struct {
	options Options
	first   *Source

	// ctx ends with Close, and with it a Next that waits for a pipe.
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex // Close may be called during Next
	current *Source    // nil after the last
	rest    []Input    // those after it

	inputsRead atomic.Uint64 // the bits of the float64 that Read returns
	closed     int           // the number of inputs that were read to their end

	complete []func() error // by input: returns an error that only the whole input shows

	rows      *atomic.Int64 // the rows of the current input that were decoded, with AcceptTruncated
	truncated []Truncated

	versionsMu sync.Mutex // guards the fields below, and complete
	versions   []Version  // of the inputs opened so far
}

// Version is an input and the version of it that was read.
type Version struct {
	Path string
	Info blob.Info
}

// Concatenate opens the first of inputs. The others, which are opened in turn, must have the
// same schema.
func Concatenate(ctx context.Context, inputs []Input, o Options) (*Concatenation, error) {
	c := &Concatenation{options: o, rest: inputs}
	c.ctx, c.cancel = context.WithCancel(ctx)
	if err := c.openNext(); err != nil {
		c.cancel()
		return nil, err
	}
	c.first = c.current
	if passage := c.options.Passage; passage != nil { // the first input decides for the others
		c.options.Passage = nil // they are decoded
		if c.first.Passing {
			// They pass. Several only matters to the decision. The caller's Passage is left as it is,
			// because other outputs use it.
			c.options.Passage = &Passage{decided: true, Selects: passage.Selects}
		}
	}
	return c, nil
}

// openNext opens the next input and notes its version.
func (c *Concatenation) openNext() error {
	next, err := Open(c.ctx, c.rest[0], c.options)
	if err != nil {
		return err
	}
	c.current, c.rest, c.rows = next, c.rest[1:], new(atomic.Int64)
	c.versionsMu.Lock()
	defer c.versionsMu.Unlock()
	if s, ok := next.Source.(interface{ Complete() func() error }); ok {
		c.complete = append(c.complete, s.Complete())
	}
	c.versions = append(c.versions, Version{next.Input.Path, next.info})
	return nil
}

// First returns the first input, which may already be closed.
func (c *Concatenation) First() *Source { return c.first }

// Versions returns the versions of the inputs opened so far.
func (c *Concatenation) Versions() []Version {
	c.versionsMu.Lock()
	defer c.versionsMu.Unlock()
	return slices.Clone(c.versions)
}

// Unchanged returns an error if an input changed since it was opened.
func (c *Concatenation) Unchanged() error {
	for _, v := range c.Versions() {
		if err := v.Info.Unchanged(v.Path); err != nil {
			return err
		}
	}
	return nil
}

// Notes returns notes about columns that the output lacks because they are in the names of folders
// alone, such as dt=2026-03-01/. There is a note for each change of such a value between inputs.
func (c *Concatenation) Notes() (notes []string) {
	if c.options.Keep != batch.KeepAll {
		return nil
	}
	values := make(map[string]string) // of the inputs before
	for _, v := range c.Versions() {
		for name, value := range blob.Partitions(v.Path) {
			before, ok := values[name]
			values[name] = value
			isColumn := c.first.Schema != nil && c.first.Schema.HasField(name)
			if ok && before != value && !isColumn {
				notes = append(notes, fmt.Sprintf("the output has no column %q, by which folders tell the inputs apart: write an output for each input, or the column into the inputs", name))
			}
		}
	}
	return notes
}

// Complete returns an error that only a whole input shows, such as a key that no row has. Call
// it after the last row was decoded.
func (c *Concatenation) Complete() error {
	c.versionsMu.Lock()
	defer c.versionsMu.Unlock()
	for _, complete := range c.complete {
		if err := complete(); err != nil {
			return err
		}
	}
	return nil
}

// Next implements batch.Source. At the end of an input it goes on with the next one, and with
// AcceptTruncated it also does so where an input is cut off.
func (c *Concatenation) Next(ctx context.Context) (batch.Piece, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.current != nil {
		p, err := c.current.Next(ctx)
		if err == nil {
			c.setRead(c.current.Share())
		}
		switch {
		case err == nil && c.options.AcceptTruncated:
			return countedPiece{p, c.rows}, nil
		case isCut(err) && c.options.AcceptTruncated:
			c.truncated = append(c.truncated, Truncated{c.current.Input.Name(), err, c.rows})
		case isCut(err):
			return nil, option.Errorf("%w; %s takes what is there", err, option.AcceptTruncated)
		case !errors.Is(err, io.EOF):
			return p, err // a piece, or another error
		}
		if err := c.nextInput(); err != nil {
			return nil, err
		}
	}
	return nil, io.EOF
}

// Read returns how many of the inputs were read, including the share of the current one
// if it is known: 2.5 means two and half of the third. It is safe to call at any time.
func (c *Concatenation) Read() float64 { return math.Float64frombits(c.inputsRead.Load()) }

// setRead sets what Read returns, given the share of the current input that was read.
func (c *Concatenation) setRead(share float64) {
	c.inputsRead.Store(math.Float64bits(float64(c.closed) + share))
}

// nextInput closes the current input and opens the next, if there is one. It returns an error
// if their schemas differ.
func (c *Concatenation) nextInput() error {
	if err := c.closeNow(); err != nil {
		return err
	}
	c.closed++
	c.setRead(0)
	if len(c.rest) == 0 {
		return nil
	}
	if err := c.openNext(); err != nil {
		return err
	}
	if difference := schemaDifference(c.first, c.current); difference != "" {
		return option.Errorf("%s and %s cannot go into one output: %s; give an output each with %s", c.first.Input.Name(), c.current.Input.Name(), difference, option.Out.With("FOLDER/"))
	}
	return nil
}

// OpenOthers opens each input after the first, to check it, and returns the first error. It
// reads no rows. The concatenation cannot be read afterwards.
func (c *Concatenation) OpenOthers() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.rest) > 0 {
		if err := c.nextInput(); err != nil {
			return err
		}
	}
	return nil
}

// Close implements batch.Source. It ends a running Next.
func (c *Concatenation) Close() error {
	c.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rest = nil
	return c.closeNow()
}

// closeNow closes the current input, if there is one.
func (c *Concatenation) closeNow() error {
	if c.current == nil {
		return nil
	}
	err := c.current.Close()
	c.current = nil
	return err
}

// schemaDifference says how the columns of two inputs differ; "" if they are equal.
func schemaDifference(a, b *Source) string {
	switch {
	case a.Schema == nil && b.Schema == nil:
		return ""
	case a.Schema == nil:
		return "the first is a list of " + listElements(a) + ", the second a table"
	case b.Schema == nil:
		return "the first is a table, the second a list of " + listElements(b)
	case a.Schema.Equal(b.Schema):
		return ""
	case a.Schema.NumFields() != b.Schema.NumFields():
		return fmt.Sprintf("the first has %d columns, the second %d", a.Schema.NumFields(), b.Schema.NumFields())
	}
	for i := range a.Schema.NumFields() {
		if one, other := a.Schema.Field(i), b.Schema.Field(i); !one.Equal(other) {
			return fmt.Sprintf("column %d is %s in the first, %s in the second", i+1, describeField(one), describeField(other))
		}
	}
	return "their byte order is different" // all else that Schema.Equal compares is equal
}

// listElements names what an input without columns is a list of.
func listElements(s *Source) string {
	if s.Format == format.JSONL {
		return "objects"
	}
	return "URLs"
}

// describeField describes a column for messages: its name, type and metadata.
func describeField(f arrow.Field) string {
	text := fmt.Sprintf("%q %s", f.Name, f.Type)
	if !f.Nullable {
		text += " not null"
	}
	if f.Metadata.Len() > 0 {
		text += " with metadata " + f.Metadata.String()
	}
	return text
}
