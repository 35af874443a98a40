package batch_test

import (
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
)

func TestColumnSlicesAndIndices(t *testing.T) {
	plain := batchtest.Column([]byte("a"), nil, []byte("ccc"), []byte(""))
	dictionary := batch.Column{Offsets64: []int64{0, 1, 4}, Data: []byte("accc"), Indices: []int32{0, 99, 1, 0}, Validity: []byte{0b1101}}
	for name, c := range map[string]batch.Column{"plain": plain, "dictionary": dictionary} {
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s := c.Slice(1, 3)
		if s.Len() != 2 || !s.Null(0) || s.Null(1) || string(s.Value(1)) != "ccc" {
			t.Errorf("%s: the slice differs", name)
		}
		if err := s.Validate(); err != nil {
			t.Errorf("%s: the slice: %v", name, err)
		}
	}
}

func TestColumnValidateRefuses(t *testing.T) {
	for name, c := range map[string]batch.Column{
		"falling":            {Offsets32: []int32{0, 3, 2}, Data: make([]byte, 9)},
		"negative":           {Offsets64: []int64{-1, 3}, Data: make([]byte, 9)},
		"outside":            {Offsets32: []int32{0, 10}, Data: make([]byte, 9)},
		"both":               {Offsets32: []int32{0}, Offsets64: []int64{0}},
		"short validity":     {Offsets32: make([]int32, 10), Validity: []byte{0xFF}},
		"validity's offset":  {Offsets32: make([]int32, 9), Validity: []byte{0xFF}, ValidityOffset: 1},
		"index":              {Offsets32: []int32{0, 0}, Indices: []int32{1}},
		"negative index":     {Offsets32: []int32{0, 0}, Indices: []int32{-1}},
		"index into nothing": {Indices: []int32{0}},
	} {
		if c.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
