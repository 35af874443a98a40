package tableio

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

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

// numberList is the type of lists of agents whose names are entries of a dictionary.
var numberList = arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String})

// codedLists is the type of lists of agents by their numbers in a dictionary of the lists
// that come, which are few.
var codedLists = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: numberList}

// codedAgents returns a column of lists of agents as numbers of the distinct ones, which have
// numbers of names; null where index is negative.
func (g gatherer) codedAgents(names []string, lists []batch.List, index []int32) (*array.Data, error) {
	numbers := make([]int32, len(lists)) // 1 + that of a list, 0 for none
	var used []int32
	buffer, to := allocate[int32](g, len(index))
	count := int64(0)
	for row, list := range index {
		if list < 0 {
			to[row] = -1
			continue
		}
		if numbers[list] == 0 {
			used = append(used, list)
			numbers[list] = int32(len(used))
			count += int64(lists[list].Len())
		}
		to[row] = numbers[list] - 1
	}
	if err := g.checkSize(4 * count); err != nil {
		return nil, err
	}
	endBuffer, ends := allocate[int32](g, len(used)+1)
	agentBuffer, agents := allocate[int32](g, int(count))
	n := 0
	for i, list := range used {
		n += copy(agents[n:], lists[list].Numbers)
		ends[i+1] = int32(n)
	}
	all := make([]int32, len(names))
	for i := range all {
		all[i] = int32(i)
	}
	texts, err := g.strings(names, all)
	if err != nil {
		return nil, err
	}
	defer texts.Release()
	validity, nulls := g.present(index)
	return newCoded(coded{index: buffer, ends: endBuffer, agents: agentBuffer, texts: texts}, validity, nulls), nil
}

// coded are the parts of a column of codedLists.
type coded struct {
	index, ends, agents *memory.Buffer // of int32
	texts               *array.Data
}

// newCoded returns a column of parts, whose buffers it takes over.
func newCoded(c coded, validity *memory.Buffer, nulls int) *array.Data {
	length := func(b *memory.Buffer) int { return b.Len() / arrow.Int32SizeBytes }
	numbers := array.NewDataWithDictionary(numberList.Elem(), length(c.agents), []*memory.Buffer{nil, c.agents}, 0, 0, c.texts)
	lists := newData(numberList, length(c.ends)-1, buffers(nil, c.ends), []arrow.ArrayData{numbers}, 0)
	column := array.NewDataWithDictionary(codedLists, length(c.index), []*memory.Buffer{validity, c.index}, nulls, 0, lists)
	lists.Release()
	for _, b := range []*memory.Buffer{validity, c.index, c.agents} {
		if b != nil {
			b.Release()
		}
	}
	return column
}

// joinCoded makes one column of columns of codedLists, which it releases. Each brings its own
// lists: those of a batch are few.
func joinCoded(parts []*array.Data, mem memory.Allocator) *array.Data {
	defer Release(parts)
	g := gatherer{mem: mem}
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
