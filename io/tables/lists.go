package tables

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// TextList is the type of lists of texts.
var TextList = arrow.ListOf(arrow.BinaryTypes.String)

// packedList is a list of texts as it lies in a column, so that one that many rows have is encoded
// once.
type packedList struct {
	text []byte  // all texts, one after the other
	ends []int32 // of each in text
}

// packList returns a list of texts packed.
func packList(texts []string) *packedList {
	l := &packedList{ends: make([]int32, len(texts))}
	for i, text := range texts {
		l.text = append(l.text, text...)
		l.ends[i] = int32(len(l.text))
	}
	return l
}

// Lists returns a column of type TextList with n different lists: row i has list
// index[i], null where that is negative. texts returns a list's texts; it is called once for each list
// that a row has.
func (m Maker) Lists(n int, texts func(list int32) []string, index []int32) (*array.Data, error) {
	lists := make([]*packedList, n)    // those that rows have
	count, bytes := int64(0), int64(0) // texts of all rows, and their bytes
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
	to, at, values := data.Bytes(), 0, 0 // bytes and texts of the lists so far
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

// numberList is the type of lists of texts that are entries of a dictionary.
var numberList = arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String})

// CodedLists is the type of lists of texts for a format that stores texts by number. A row has the number of its
// list in a dictionary of lists, which are few, and a list has the numbers of its texts in a dictionary of texts.
var CodedLists = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: numberList}

// Codes returns a column of type CodedLists with n different lists: row i has list index[i],
// null where that is negative. list returns the numbers of a list's texts in names. Lists that no row
// has are left out.
func (m Maker) Codes(names []string, n int, list func(list int32) []int32, index []int32) (*array.Data, error) {
	var used []int32            // the lists that rows have
	numbers := make([]int32, n) // 1 + the place of each list in used, 0 for none
	buffer, to := allocate[int32](m, len(index))
	count := int64(0) // texts of these lists
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
	if err := m.checkSize(4 * count); err != nil { // bytes of their numbers
		return nil, err
	}
	endBuffer, ends := allocate[int32](m, len(used)+1)
	codeBuffer, codes := allocate[int32](m, int(count))
	at := 0
	for i, of := range used {
		at += copy(codes[at:], list(of))
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
	return newCoded(coded{index: buffer, ends: endBuffer, codes: codeBuffer, texts: texts}, validity, nulls), nil
}

// coded are the parts of a column of CodedLists, three buffers of int32 and an array: row i has list
// index[i], whose texts have the numbers codes[ends[list]:ends[list+1]] in texts.
type coded struct {
	index, ends, codes *memory.Buffer
	texts              *array.Data
}

// newCoded returns a column of these parts. It takes over their buffers and the validity bitmap, which is nil if
// there are no nulls, and retains texts.
func newCoded(c coded, validity *memory.Buffer, nulls int) *array.Data {
	length := func(b *memory.Buffer) int { return b.Len() / arrow.Int32SizeBytes } // in numbers
	numbers := array.NewDataWithDictionary(numberList.Elem(), length(c.codes), []*memory.Buffer{nil, c.codes}, 0, 0, c.texts)
	lists := newData(numberList, length(c.ends)-1, buffers(nil, c.ends), []arrow.ArrayData{numbers}, 0)
	column := array.NewDataWithDictionary(CodedLists, length(c.index), []*memory.Buffer{validity, c.index}, nulls, 0, lists)
	lists.Release()
	for _, b := range []*memory.Buffer{validity, c.index, c.codes} {
		if b != nil {
			b.Release()
		}
	}
	return column
}

// joinCoded returns one column with the rows of parts, which it releases: columns of CodedLists with the same
// texts. A list that several parts have is there several times, which costs little because lists are few.
func joinCoded(parts []*array.Data, mem memory.Allocator) *array.Data {
	defer Release(parts)
	m := Maker{Memory: mem}
	rows, lists, codes, nulls := 0, 0, 0, 0
	for _, part := range parts {
		own := part.Dictionary()
		rows, lists, codes, nulls = rows+part.Len(), lists+own.Len(), codes+own.Children()[0].Len(), nulls+part.NullN()
	}
	var c coded
	var allIndex, allEnds, allCodes []int32
	c.index, allIndex = allocate[int32](m, rows)
	c.ends, allEnds = allocate[int32](m, lists+1)
	c.codes, allCodes = allocate[int32](m, codes)
	row, list, code := 0, 0, 0 // that come before a part
	for _, part := range parts {
		own := part.Dictionary().(*array.Data)
		child := own.Children()[0].(*array.Data)
		c.texts = child.Dictionary().(*array.Data)
		for i, of := range arrow.GetData[int32](part.Buffers()[valueBuffer].Bytes()) {
			if of >= 0 {
				of += int32(list)
			}
			allIndex[row+i] = of
		}
		for i, end := range arrow.GetData[int32](own.Buffers()[offsetBuffer].Bytes()) {
			allEnds[list+i] = int32(code) + end
		}
		copy(allCodes[code:], arrow.GetData[int32](child.Buffers()[valueBuffer].Bytes()))
		row, list, code = row+part.Len(), list+own.Len(), code+child.Len()
	}
	var validity *memory.Buffer
	if nulls > 0 {
		validity, nulls = m.indexValidity(allIndex)
	}
	return newCoded(c, validity, nulls)
}
