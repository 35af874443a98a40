package tables

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// TextList is the type of lists of texts.
var TextList = arrow.ListOf(arrow.BinaryTypes.String)

// stringsOf is a list of strings in a column's form, so that a list shared by many rows
// is encoded once.
type stringsOf struct {
	text []byte
	ends []int32 // of each in text
}

// packStrings encodes a list.
func packStrings(texts []string) *stringsOf {
	s := &stringsOf{ends: make([]int32, len(texts))}
	for i, text := range texts {
		s.text = append(s.text, text...)
		s.ends[i] = int32(len(s.text))
	}
	return s
}

// Lists returns a column of the lists of texts of index, which are n, null where it is negative.
func (g Maker) Lists(n int, texts func(list int32) []string, index []int32) (*array.Data, error) {
	packed := make([]*stringsOf, n)
	list := func(row int) *stringsOf {
		of := index[row]
		if of < 0 {
			return nil
		}
		if packed[of] == nil {
			packed[of] = packStrings(texts(of))
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
		return nil, ErrMost
	}
	if err := g.checkSize(bytes + 4*count); err != nil {
		return nil, err
	}
	listBuffer, ends := allocate[int32](g, len(index)+1)
	endBuffer, stringEnds := allocate[int32](g, int(count)+1)
	data := g.alloc(int(bytes))
	to, at := data.Bytes(), 0
	n = 0
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
	return newData(TextList, len(index), buffers(validity, listBuffer), []arrow.ArrayData{values}, nulls), nil
}

// numberList is the type of lists of texts that are entries of a dictionary.
var numberList = arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String})

// CodedLists is the type of lists of texts by their numbers in a dictionary of distinct lists,
// which are few: for a format that stores texts by number.
var CodedLists = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: numberList}

// Codes returns a column of CodedLists: row i has list index[i] of n, null where that is negative.
// list returns a list's texts by their numbers in names. Lists that no row has are left out.
func (g Maker) Codes(names []string, n int, list func(list int32) []int32, index []int32) (*array.Data, error) {
	numbers := make([]int32, n) // 1 + that of a list, 0 for none
	var used []int32
	buffer, to := allocate[int32](g, len(index))
	count := int64(0)
	for row, of := range index {
		if of < 0 {
			to[row] = -1
			continue
		}
		if numbers[of] == 0 {
			used = append(used, of)
			numbers[of] = int32(len(used))
			count += int64(len(list(of)))
		}
		to[row] = numbers[of] - 1
	}
	if err := g.checkSize(4 * count); err != nil {
		return nil, err
	}
	endBuffer, ends := allocate[int32](g, len(used)+1)
	agentBuffer, agents := allocate[int32](g, int(count))
	at := 0
	for i, of := range used {
		at += copy(agents[at:], list(of))
		ends[i+1] = int32(at)
	}
	all := make([]int32, len(names))
	for i := range all {
		all[i] = int32(i)
	}
	texts, err := g.Texts(names, all)
	if err != nil {
		return nil, err
	}
	defer texts.Release()
	validity, nulls := g.present(index)
	return newCoded(coded{index: buffer, ends: endBuffer, agents: agentBuffer, texts: texts}, validity, nulls), nil
}

// coded are the parts of a column of CodedLists.
type coded struct {
	index, ends, agents *memory.Buffer // of int32
	texts               *array.Data
}

// newCoded returns a column of parts, whose buffers it takes over.
func newCoded(c coded, validity *memory.Buffer, nulls int) *array.Data {
	length := func(b *memory.Buffer) int { return b.Len() / arrow.Int32SizeBytes }
	numbers := array.NewDataWithDictionary(numberList.Elem(), length(c.agents), []*memory.Buffer{nil, c.agents}, 0, 0, c.texts)
	lists := newData(numberList, length(c.ends)-1, buffers(nil, c.ends), []arrow.ArrayData{numbers}, 0)
	column := array.NewDataWithDictionary(CodedLists, length(c.index), []*memory.Buffer{validity, c.index}, nulls, 0, lists)
	lists.Release()
	for _, b := range []*memory.Buffer{validity, c.index, c.agents} {
		if b != nil {
			b.Release()
		}
	}
	return column
}

// joinCoded makes one column of columns of CodedLists, which it releases. Each brings its own
// lists: those of a batch are few.
func joinCoded(parts []*array.Data, mem memory.Allocator) *array.Data {
	defer Release(parts)
	g := Maker{Memory: mem}
	rows, lists, agents, nulls := 0, 0, 0, 0
	for _, part := range parts {
		own := part.Dictionary()
		rows, lists, agents, nulls = rows+part.Len(), lists+own.Len(), agents+own.Children()[0].Len(), nulls+part.NullN()
	}
	var c coded
	var index, ends, numbers []int32
	c.index, index = allocate[int32](g, rows)
	c.ends, ends = allocate[int32](g, lists+1)
	c.agents, numbers = allocate[int32](g, agents)
	row, list, agent := 0, 0, 0
	for _, part := range parts {
		own := part.Dictionary().(*array.Data)
		child := own.Children()[0].(*array.Data)
		c.texts = child.Dictionary().(*array.Data)
		for i, of := range arrow.GetData[int32](part.Buffers()[1].Bytes()) {
			if index[row+i] = of; of >= 0 {
				index[row+i] += int32(list)
			}
		}
		for i, end := range arrow.GetData[int32](own.Buffers()[1].Bytes()) {
			ends[list+i] = int32(agent) + end
		}
		copy(numbers[agent:], arrow.GetData[int32](child.Buffers()[1].Bytes()))
		row, list, agent = row+part.Len(), list+own.Len(), agent+child.Len()
	}
	var validity *memory.Buffer
	if nulls > 0 {
		validity, nulls = g.present(index)
	}
	return newCoded(c, validity, nulls)
}
