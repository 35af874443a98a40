package encoding

import (
	"errors"
	"fmt"
	"math"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// Decoder reads the values of a page in order. It is not asked for more than the page has, unless
// its length is checked as it goes on.
type Decoder interface {
	// Next appends the next n values to dst, whose data may have limit bytes afterwards.
	Next(dst *Values, n int, limit int64) error
	// Done returns an error when there is more than the values that were read.
	Done() error
}

// Body is the values of a page as they lie, and what it takes to read them.
type Body struct {
	Encoding layout.Encoding
	Type     layout.Type
	Width    int // of a value; 0 for byte arrays, 1 for booleans
	Values   []byte
	Present  int // how many there are
	// Dictionary is the chunk's, or nil. Before is the decoder of the page before, read to its
	// end, or nil.
	Dictionary *Values
	Before     Decoder
}

// scheme is how values of some types are read and written in an encoding.
type scheme struct {
	types int // with a bit 1<<t for each layout.Type t that may have the encoding
	open  func(b *Body) (Decoder, error)
	// write appends runs of values of a page in its encoding.
	write func(p *Page, dst []byte, runs []tables.Run) ([]byte, error)
	// needs returns the most bytes that Page.Memory may add up to. It counts 5/4 of a buffer that has its room at
	// once (see grow), and 9/4 of one that append fills: while it grows, the old one and one that is a quarter larger
	// are in memory.
	needs func(s size) int64
}

// size is what the memory for a page depends on.
type size struct {
	t     layout.Type
	width int64 // bytes of a value, 0 for byte arrays
	n     int64 // number of values
	most  int64 // the most values that are written at a time
	body  int64 // bytes of the page's body, decompressed
}

const (
	booleans = 1 << layout.Boolean
	integers = 1<<layout.Int32 | 1<<layout.Int64
	texts    = 1 << layout.ByteArray
	fixed    = 1 << layout.FixedLenByteArray
	numeric  = integers | 1<<layout.Int96 | 1<<layout.Float | 1<<layout.Double | fixed
)

// schemes are the encodings by their numbers.
var schemes = [...]scheme{
	layout.Plain:                {booleans | numeric | texts, openPlain, writePlain, plainNeeds},
	layout.PlainDictionary:      {numeric | texts, openIndices, writeIndices, indicesNeed},
	layout.RLE:                  {booleans, openBooleans, writeBooleans, booleansNeed},
	layout.DeltaBinaryPacked:    {integers, openDeltas, writeDeltas, func(s size) int64 { return s.width*s.n*5/4 + 18*s.most }},
	layout.DeltaLengthByteArray: {texts, openDeltaLengths, writeDeltaLengths, func(s size) int64 { return 5*s.n + 18*s.most + s.body*5/4 }},
	layout.DeltaByteArray:       {texts | fixed, openDeltaStrings, writeDeltaStrings, func(s size) int64 { return 5*s.n + 36*s.most + min(maxDecoded, 64*s.body) }},
	layout.RLEDictionary:        {numeric | texts, openIndices, writeIndices, indicesNeed},
	layout.ByteStreamSplit:      {numeric, openSplit, writeSplit, func(s size) int64 { return min(s.width*s.n, s.body) * 5 / 4 }},
}

// indicesNeed is scheme.needs of indices: 4 bytes for each that is read, and for each that is written.
func indicesNeed(s size) int64 { return 5*s.n + 9*s.most }

// booleansNeed is scheme.needs of booleans: a byte for each that is read, and for each that is written.
func booleansNeed(s size) int64 { return s.n*5/4 + s.most*9/4 }

// scheme returns the scheme of b.Encoding. It returns an error if the encoding is not supported, or not for
// b.Type.
func (b *Body) scheme() (*scheme, error) {
	if e := b.Encoding; e >= 0 && int(e) < len(schemes) && schemes[e].open != nil {
		if schemes[e].types>>b.Type&1 == 1 {
			return &schemes[e], nil
		}
		return nil, fmt.Errorf("damaged: values of its type are never written in encoding %d", e)
	}
	return nil, fmt.Errorf("encoding %d is not read", b.Encoding)
}

// Skip passes over the next n values of a decoder. It decodes and drops them, because each may build on the
// one before. Of texts in PLAIN it reads only the lengths: a text may be as long as the page, and nobody reserved
// memory for a copy. Of entries of a dictionary it reads only the indices, which saves 6 % of a job whose pages have
// a million of them.
func Skip(d Decoder, n int) error {
	switch d := d.(type) {
	case *plainStrings:
		return d.skip(n)
	case *indices:
		_, _, err := d.Count(n, 0)
		return err
	}
	var v Values
	for ; n > 0; n -= block {
		v.Data, v.Begins = v.Data[:0], v.Begins[:0]
		if err := d.Next(&v, min(n, block), math.MaxInt32); err != nil {
			return err
		}
	}
	return nil
}

// New returns a decoder of the values of a page. It keeps b's slices.
func New(b *Body) (Decoder, error) {
	s, err := b.scheme()
	if err != nil {
		return nil, err
	}
	return s.open(b)
}

var (
	errShort = errors.New("damaged: its values reach beyond it")
	errCount = errors.New("damaged: its values are not as many as it says")
)

// checkLimit returns an error if byte arrays of size bytes together are larger than limit, or than offsets of 32
// bits can say.
func checkLimit(size, limit int64) error {
	switch {
	case size <= min(limit, math.MaxInt32):
		return nil
	case limit >= math.MaxInt32:
		return &tables.LimitError{What: "its strings take more than 2 GiB in one batch", Help: tables.FewerRows}
	}
	return &tables.LimitError{What: fmt.Sprintf("its strings take more than %d bytes in one batch", limit), Help: tables.MoreMemory | tables.FewerRows}
}

// block is the number of numbers that are decoded at a time.
const block = 1024
