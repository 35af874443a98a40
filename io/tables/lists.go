package tables

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// TextList is the type of lists of texts.
var TextList = arrow.ListOf(arrow.BinaryTypes.String)

// packedList is a list of texts in the form that it has in a column. Many rows may have it, and each copies it.
type packedList struct {
	text []byte  // all texts, one after the other
	ends []int32 // where each text ends
}

// packList returns the packedList of texts.
func packList(texts []string) *packedList {
	l := &packedList{ends: make([]int32, len(texts))}
	for i, text := range texts {
		l.text = append(l.text, text...)
		l.ends[i] = int32(len(l.text))
	}
	return l
}

// Lists returns a column of type TextList: row i has list index[i], one of n, and is null if that is negative. texts
// returns a list's texts; it is called once for each list that a row has.
func (m Maker) Lists(n int, texts func(list int32) []string, index []int32) (*array.Data, error) {
	lists := make([]*packedList, n)    // those that rows have
	count, bytes := int64(0), int64(0) // texts of all rows, and bytes of these
	for _, i := range index {
		if i < 0 {
			continue
		}
		if lists[i] == nil {
			lists[i] = packList(texts(i))
		}
		count += int64(len(lists[i].ends))
		bytes += int64(len(lists[i].text))
	}
	if count >= math.MaxInt32 { // more than 32-bit offsets reach
		return nil, ErrMost
	}
	if err := m.checkSize(bytes + 4*count); err != nil { // with the texts' ends
		return nil, err
	}
	endBuffer, ends := allocate[int32](m, len(index)+1)
	textEndBuffer, textEnds := allocate[int32](m, int(count)+1)
	data := m.alloc(int(bytes))
	to, at, values := data.Bytes(), 0, 0 // at and values: bytes and texts of the rows so far
	for row, i := range index {
		if i >= 0 {
			for _, end := range lists[i].ends {
				values++
				textEnds[values] = int32(at) + end
			}
			at += copy(to[at:], lists[i].text)
		}
		ends[row+1] = int32(values)
	}
	validity, nulls := m.indexValidity(index)
	child := newData(arrow.BinaryTypes.String, values, buffers(nil, textEndBuffer, data), nil, 0)
	return newData(TextList, len(index), buffers(validity, endBuffer), []arrow.ArrayData{child}, nulls), nil
}

// numberList is the type of lists whose texts are entries of a dictionary.
var numberList = arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String})

// CodedLists is the type of lists of texts for a format that stores texts by number. A row has the number of its
// list in a dictionary of lists, which are few, and a list has the numbers of its texts in a dictionary of texts.
var CodedLists = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: numberList}

// CodedLists returns a column of type [CodedLists]: row i has list index[i], one of n, and is null if that is negative. numbers
// returns a list's texts, by their indices in names. Lists that no row has are left out.
func (m Maker) CodedLists(names []string, n int, numbers func(list int32) []int32, index []int32) (*array.Data, error) {
	var used []int32           // the lists that rows have, in the order of the column's dictionary
	places := make([]int32, n) // 1 + the index of each list in used, 0 for none
	indexBuffer, newIndex := allocate[int32](m, len(index))
	count := int64(0) // texts of the used lists
	for row, list := range index {
		if list < 0 {
			newIndex[row] = -1
			continue
		}
		if places[list] == 0 {
			used = append(used, list)
			places[list] = int32(len(used))
			count += int64(len(numbers(list)))
		}
		newIndex[row] = places[list] - 1
	}
	if err := m.checkSize(4 * count); err != nil { // bytes of codes
		return nil, err
	}
	endBuffer, ends := allocate[int32](m, len(used)+1)
	codeBuffer, codes := allocate[int32](m, int(count))
	at := 0
	for i, list := range used {
		at += copy(codes[at:], numbers(list))
		ends[i+1] = int32(at)
	}
	all := make([]int32, len(names)) // the index of a column of all names
	for i := range all {
		all[i] = int32(i)
	}
	texts, err := m.Texts(names, all)
	if err != nil {
		return nil, err
	}
	defer texts.Release()
	validity, nulls := m.indexValidity(index)
	return newCoded(coded{index: indexBuffer, ends: endBuffer, codes: codeBuffer, texts: texts}, validity, nulls), nil
}

// coded has the parts of a column of CodedLists, three buffers of int32 and an array: row i has list
// l = index[i], whose texts have the indices codes[ends[l]:ends[l+1]] in texts.
type coded struct {
	index, ends, codes *memory.Buffer
	texts              *array.Data
}

// newCoded returns a column of these parts. It takes over the buffers of c, and the validity bitmap, which is nil if
// there are no nulls. It retains the texts.
func newCoded(c coded, validity *memory.Buffer, nulls int) *array.Data {
	length := func(b *memory.Buffer) int { return b.Len() / arrow.Int32SizeBytes } // in numbers
	numbers := array.NewDataWithDictionary(numberList.Elem(), length(c.codes), buffers(nil, c.codes), 0, 0, c.texts)
	lists := newData(numberList, length(c.ends)-1, buffers(nil, c.ends), []arrow.ArrayData{numbers}, 0)
	defer lists.Release()
	defer memory.ReleaseBuffers(buffers(validity, c.index, c.codes)) // newData has released ends
	return array.NewDataWithDictionary(CodedLists, length(c.index), buffers(validity, c.index), nulls, 0, lists)
}

// joinCoded returns one column with the rows of parts, which it releases: columns of CodedLists with the same
// texts. A list that several parts have is there several times, which costs little because lists are few.
func joinCoded(parts []*array.Data, mem memory.Allocator) *array.Data {
	defer Release(parts)
	numbersOf := func(d arrow.ArrayData, buffer int) []int32 {
		return dataOf[int32](bufferBytes(d.(*array.Data), buffer))
	}
	var index, codes []int32
	ends := []int32{0}
	var texts *array.Data
	for _, part := range parts {
		lists := part.Dictionary().(*array.Data)
		numbers := lists.Children()[0].(*array.Data)
		texts = numbers.Dictionary().(*array.Data)
		listsBefore, codesBefore := int32(len(ends)-1), int32(len(codes))
		for _, list := range numbersOf(part, valueBuffer) {
			if list >= 0 {
				list += listsBefore
			}
			index = append(index, list)
		}
		for _, end := range numbersOf(lists, offsetBuffer)[1:] {
			ends = append(ends, codesBefore+end)
		}
		codes = append(codes, numbersOf(numbers, valueBuffer)...)
	}
	validity, nulls := Maker{Memory: mem}.indexValidity(index)
	buffer := func(numbers []int32) *memory.Buffer { return memory.NewBufferBytes(arrow.GetBytes(numbers)) }
	return newCoded(coded{index: buffer(index), ends: buffer(ends), codes: buffer(codes), texts: texts}, validity, nulls)
}
