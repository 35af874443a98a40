package tables

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
)

// stringList is the type of lists of strings.
var stringList = arrow.ListOf(arrow.BinaryTypes.String)

// stringsOf is a list of strings in a column's form, so that a list shared by many rows
// is encoded once.
type stringsOf struct {
	text []byte
	ends []int32 // of each in text
}

// packStrings encodes a list.
func packStrings(l *batch.List) *stringsOf {
	s := &stringsOf{ends: make([]int32, l.Len())}
	for i := range s.ends {
		s.text = append(s.text, l.At(i)...)
		s.ends[i] = int32(len(s.text))
	}
	return s
}

// lists returns a column of the lists of strings of index, null where it is negative.
func (g gatherer) lists(lists []batch.List, index []int32) (*array.Data, error) {
	packed := make([]*stringsOf, len(lists))
	list := func(row int) *stringsOf {
		of := index[row]
		if of < 0 {
			return nil
		}
		if packed[of] == nil {
			packed[of] = packStrings(&lists[of])
		}
		return packed[of]
	}
	count, bytes := int64(0), int64(0)
	for row := range index {
		if l := list(row); l != nil {
			count += int64(len(l.ends))
			bytes += int64(len(l.text))
		}
	}
	if count >= math.MaxInt32 {
		return nil, errShare
	}
	if err := g.checkSize(bytes + 4*count); err != nil {
		return nil, err
	}
	listBuffer, ends := allocate[int32](g, len(index)+1)
	endBuffer, stringEnds := allocate[int32](g, int(count)+1)
	data := g.alloc(int(bytes))
	to, n, at := data.Bytes(), 0, 0
	for row := range index {
		if l := list(row); l != nil {
			for i, end := range l.ends {
				stringEnds[n+1+i] = int32(at) + end
			}
			n += len(l.ends)
			at += copy(to[at:], l.text)
		}
		ends[row+1] = int32(n)
	}
	validity, nulls := g.present(index)
	values := newData(arrow.BinaryTypes.String, n, buffers(nil, endBuffer, data), nil, 0)
	return newData(stringList, len(index), buffers(validity, listBuffer), []arrow.ArrayData{values}, nulls), nil
}

// codedList is the type of lists of agents whose names are entries of a dictionary.
var codedList = arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String})

// codedAgents returns a column of lists of agents that has their numbers, and their names
// as the dictionary; null where index is negative.
func (g gatherer) codedAgents(names []string, lists []batch.List, index []int32) (*array.Data, error) {
	count := int64(0)
	for _, list := range index {
		if list >= 0 {
			count += int64(lists[list].Len())
		}
	}
	if count >= math.MaxInt32 {
		return nil, errShare
	}
	if err := g.checkSize(4 * count); err != nil {
		return nil, err
	}
	listBuffer, ends := allocate[int32](g, len(index)+1)
	buffer := g.alloc(4 * int(count))
	agents, n := arrow.GetData[int32](buffer.Bytes()), 0
	for row, list := range index {
		if list >= 0 {
			n += copy(agents[n:], lists[list].Numbers)
		}
		ends[row+1] = int32(n)
	}
	all := make([]int32, len(names))
	for i := range all {
		all[i] = int32(i)
	}
	dictionary, err := g.strings(names, all)
	if err != nil {
		return nil, err
	}
	validity, nulls := g.present(index)
	values := array.NewDataWithDictionary(codedList.Elem(), n, buffers(nil, buffer), 0, 0, dictionary)
	buffer.Release()
	dictionary.Release()
	return newData(codedList, len(index), buffers(validity, listBuffer), []arrow.ArrayData{values}, nulls), nil
}
