package runs

import (
	"bytes"
	"encoding/binary"
	"sync"
)

// Counter adds up a sum for each key, in limited memory: sums that do not fit go to a
// temporary file. It is safe for concurrent use, but for Merge and Close.
type Counter struct {
	mu     sync.Mutex
	sums   map[string]int64
	size   int64 // about how many bytes of memory sums take
	limit  int64
	sorter *Sorter
	record []byte
}

// MaxKey is the longest key of a Counter, in bytes.
const MaxKey = maxRecord - countHead

// countHead is the number of bytes before the key in a record of the sorter: its length as TextForm has it, and an
// int64 to add to the key's sum.
const countHead = 10

// keySize is about how many bytes of memory a key takes in a map, besides its own.
const keySize = 64

// NewCounter returns a Counter that takes about memory bytes, and has its temporary file
// in a folder.
func NewCounter(memory int64, folder string) *Counter {
	return &Counter{sums: make(map[string]int64), limit: memory / 2, sorter: NewSorter(TextForm(countHead), memory/2, folder)}
}

// Add adds n to the sum of a key, which has at most MaxKey bytes.
func (c *Counter) Add(key []byte, n int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if sum, ok := c.sums[string(key)]; ok {
		c.sums[string(key)] = sum + n
		return nil
	}
	c.sums[string(key)] = n
	if c.size += int64(len(key)) + keySize; c.size > c.limit {
		return c.flush()
	}
	return nil
}

// flush moves the sums to the sorter.
func (c *Counter) flush() error {
	for key, sum := range c.sums {
		c.record = binary.LittleEndian.AppendUint16(c.record[:0], uint16(countHead+len(key)))
		c.record = binary.LittleEndian.AppendUint64(c.record, uint64(sum))
		c.record = append(c.record, key...)
		if err := c.sorter.Add(c.record); err != nil {
			return err
		}
	}
	clear(c.sums)
	c.size = 0
	return nil
}

// Merge calls visit for each key with its sum, in the order of keys, until visit returns an
// error. The key is valid until visit returns. Nothing can be added afterwards.
func (c *Counter) Merge(visit func(key []byte, sum int64) error) error {
	if err := c.flush(); err != nil {
		return err
	}
	var last []byte // the key of sum, whose records follow each other
	sum, hasLast := int64(0), false
	err := c.sorter.Merge(func(record []byte) error {
		key, n := record[countHead:], int64(binary.LittleEndian.Uint64(record[2:]))
		if hasLast && bytes.Equal(key, last) {
			sum += n
			return nil
		}
		if hasLast {
			if err := visit(last, sum); err != nil {
				return err
			}
		}
		last, sum, hasLast = append(last[:0], key...), n, true
		return nil
	})
	if err == nil && hasLast {
		err = visit(last, sum)
	}
	return err
}

// Close frees the memory and removes the temporary file.
func (c *Counter) Close() {
	c.sorter.Close()
	c.sums = nil
}
