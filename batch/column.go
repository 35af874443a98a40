package batch

import (
	"errors"
	"fmt"
)

// Len returns the number of rows.
func (c *Column) Len() int {
	switch {
	case c.Indices != nil:
		return len(c.Indices)
	case c.Offsets64 != nil:
		return max(0, len(c.Offsets64)-1)
	}
	return max(0, len(c.Offsets32)-1)
}

// Null reports whether row i has no value.
func (c *Column) Null(i int) bool {
	i += c.ValidityOffset
	return c.Validity != nil && c.Validity[i>>3]>>(i&7)&1 == 0
}

// Value returns the value of row i, which must not be null. It aliases Data.
func (c *Column) Value(i int) []byte {
	if c.Indices != nil {
		i = int(c.Indices[i])
	}
	if c.Offsets64 != nil {
		return c.Data[c.Offsets64[i]:c.Offsets64[i+1]]
	}
	return c.Data[c.Offsets32[i]:c.Offsets32[i+1]]
}

// Slice returns the column of rows [low, high). It shares the memory.
func (c *Column) Slice(low, high int) Column {
	s := *c
	s.ValidityOffset += low
	switch {
	case c.Indices != nil:
		s.Indices = c.Indices[low:high]
	case c.Offsets64 != nil:
		s.Offsets64 = c.Offsets64[low : high+1]
	case c.Offsets32 != nil:
		s.Offsets32 = c.Offsets32[low : high+1]
	}
	return s
}

// Validate returns an error for what may be wrong with a column from outside: offsets that
// decrease or lie outside Data, indices without a value, a validity bitmap that is too short.
// Only a valid column may be evaluated.
func (c *Column) Validate() error {
	if c.Offsets32 != nil && c.Offsets64 != nil {
		return errors.New("url column: both kinds of offsets")
	}
	values := len(c.Offsets32) - 1
	err := checkOffsets(c.Offsets32, len(c.Data))
	if c.Offsets64 != nil {
		values = len(c.Offsets64) - 1
		err = checkOffsets(c.Offsets64, len(c.Data))
	}
	if err != nil {
		return err
	}
	rows := c.Len()
	if c.Validity != nil && (c.ValidityOffset < 0 || c.ValidityOffset+rows > 8*len(c.Validity)) {
		return fmt.Errorf("url column: %d bytes of validity for %d rows from bit %d", len(c.Validity), rows, c.ValidityOffset)
	}
	for i, index := range c.Indices {
		if (index < 0 || int(index) >= values) && !c.Null(i) {
			return fmt.Errorf("url column: row %d has index %d into a dictionary of %d values", i, index, max(0, values))
		}
	}
	return nil
}

// checkOffsets returns an error for offsets that are negative, decrease, or exceed size, the
// length of the data.
func checkOffsets[O int32 | int64](offsets []O, size int) error {
	last := O(0)
	for i, offset := range offsets {
		if offset < last {
			return fmt.Errorf("url column: offset %d is %d, after %d", i, offset, last)
		}
		last = offset
	}
	if int64(last) > int64(size) {
		return fmt.Errorf("url column: offset %d in %d bytes of data", last, size)
	}
	return nil
}
