package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/blob"
	"robotsbatch/io/format"
)

// concatenation is a batch.Source of several inputs, one after another. Only
// the current one is open.
type concatenation struct {
	opener  *opener
	first   *opened
	passing bool // columns pass through: see job.passThrough

	// ctx ends with Close, and with it a Next that waits for a pipe.
	ctx    context.Context
	cancel context.CancelFunc

	mu   sync.Mutex // Close may come while Next is under way
	now  *opened    // nil after the last
	rest []input

	complete []func() error // of sources that were read, for what only their ends show

	rows      *atomic.Int64 // of the current input, with -accept-truncated
	truncated []truncated

	versionsMu sync.Mutex  // for what follows, and complete
	versions   []versioned // of those that were opened
}

// versioned is a file in the version that was read.
type versioned struct {
	path string
	info blob.Info
}

// concatenate opens the first of inputs, whose schema the others must have.
func concatenate(ctx context.Context, o *opener, inputs []input) (*concatenation, error) {
	c := &concatenation{opener: o, rest: inputs}
	c.ctx, c.cancel = context.WithCancel(ctx)
	if err := c.open(); err != nil {
		c.cancel()
		return nil, err
	}
	c.first = c.now
	return c, nil
}

// open opens the next input. Its version is looked up before, so that one that
// is replaced meanwhile is not taken for the new one.
func (c *concatenation) open() error {
	in := c.rest[0]
	info, err := blob.Stat(c.ctx, in.path)
	if err != nil {
		info = blob.Info{} // who opens it says what is wrong
	}
	next, err := c.opener.open(c.ctx, in)
	if err != nil {
		return err
	}
	c.now, c.rest, c.rows = next, c.rest[1:], new(atomic.Int64)
	if c.passing {
		if err := next.passThrough(); err != nil {
			return err
		}
	}
	c.versionsMu.Lock()
	defer c.versionsMu.Unlock()
	if s, ok := next.Source.(interface{ Complete() func() error }); ok {
		c.complete = append(c.complete, s.Complete())
	}
	c.versions = append(c.versions, versioned{in.path, info})
	return nil
}

// inputs are the versions of the inputs that were opened.
func (c *concatenation) inputs() []versioned {
	c.versionsMu.Lock()
	defer c.versionsMu.Unlock()
	return slices.Clone(c.versions)
}

// Complete says what is wrong with an input as a whole, once all rows of it were
// decoded.
func (c *concatenation) Complete() error {
	c.versionsMu.Lock()
	defer c.versionsMu.Unlock()
	for _, complete := range c.complete {
		if err := complete(); err != nil {
			return err
		}
	}
	return nil
}

// Next implements batch.Source.
func (c *concatenation) Next(ctx context.Context) (batch.Piece, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.now != nil {
		p, err := c.now.Next(ctx)
		switch {
		case err == nil && c.opener.acceptTruncated:
			return countedPiece{p, c.rows}, nil
		case isCut(err) && c.opener.acceptTruncated:
			c.truncated = append(c.truncated, truncated{c.now.input.name(), err, c.rows})
		case !errors.Is(err, io.EOF):
			return p, err
		}
		if err := c.advance(); err != nil {
			return nil, err
		}
	}
	return nil, io.EOF
}

// advance closes the current input and opens the next, if there is one.
func (c *concatenation) advance() error {
	if err := c.closeNow(); err != nil {
		return err
	}
	if len(c.rest) == 0 {
		return nil
	}
	if err := c.open(); err != nil {
		return err
	}
	if difference := schemaDifference(c.first, c.now); difference != "" {
		return fmt.Errorf("%s and %s cannot go into one output: %s; give an output each with -out FOLDER/",
			c.first.input.name(), c.now.input.name(), difference)
	}
	return nil
}

// Close implements batch.Source. It ends a Next that is under way.
func (c *concatenation) Close() error {
	c.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rest = nil
	return c.closeNow()
}

func (c *concatenation) closeNow() error {
	if c.now == nil {
		return nil
	}
	err := c.now.Close()
	c.now = nil
	return err
}

// schemaDifference says what is different between the columns of two inputs;
// it is empty when nothing is.
func schemaDifference(a, b *opened) string {
	switch {
	case a.schema == nil && b.schema == nil:
		return ""
	case a.schema == nil:
		return "the first is a list of " + listed(a) + ", the second a table"
	case b.schema == nil:
		return "the first is a table, the second a list of " + listed(b)
	case a.schema.Equal(b.schema):
		return ""
	case a.schema.NumFields() != b.schema.NumFields():
		return fmt.Sprintf("the first has %d columns, the second %d", a.schema.NumFields(), b.schema.NumFields())
	}
	for i := range a.schema.NumFields() {
		if one, other := a.schema.Field(i), b.schema.Field(i); !one.Equal(other) {
			return fmt.Sprintf("column %d is %s in the first, %s in the second", i+1, describeField(one), describeField(other))
		}
	}
	return "their octet order is different"
}

// listed says what an input without columns is a list of.
func listed(o *opened) string {
	if o.format == format.JSONL {
		return "objects"
	}
	return "URLs"
}

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
