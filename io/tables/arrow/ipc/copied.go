package ipc

import (
	"robotsbatch/io/store/budget"
	"robotsbatch/io/tables/arrow/layout"
)

// What is copied lies in the output as in the input:
//
//	schema          the input's fields as they were, then those that are added
//	dictionaries    byte for byte
//	record batch    new metadata: the input's arrays and buffers, then those that are added
//	                the input's body, byte for byte, padded to 8
//	                the buffers of the columns that are added
//
// If rows are left out, record batches are gathered (see [gathering]).
//
// When the input is a file, only the buffers that are decoded are read into memory. The rest goes
// from the file to the output in pieces of copySize.

// copying says what a writer copies of an input.
type copying struct {
	schema  *layout.Schema
	columns []int           // that are copied
	whole   bool            // these are all columns
	selects bool            // rows may be left out
	limit   int64           // bytes of memory for a record batch
	pool    *budget.Buffers // memory for gathered record batches
}

// copiedDictionary is a dictionary message that is copied whole.
type copiedDictionary struct {
	*layout.Frame
	id    int64
	delta bool // it extends the dictionary that was there before
}

// copiedRecord is a record batch of which columns are copied.
type copiedRecord struct {
	*copying
	before []copiedDictionary // that came after the previous record batch; nil if rows may be left out
	used   []usedDictionary   // that it uses, if rows may be left out
	frame  *layout.Frame
	meta   *layout.BatchMeta // of the columns that are copied
}

// project limits the copied columns to those of meta, whose buffers are in body.
func (r *copiedRecord) project(meta *layout.BatchMeta, body []byte) {
	f := *r.frame
	f.BodyLength = int64(len(body))
	f.InMemory(body)
	r.frame, r.meta = &f, meta
}
