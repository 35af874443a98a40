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
	text []byte
	ends []int32 // of each in text
}

// packList encodes a list.
func packList(texts []string) *packedList {
	l := &packedList{ends: make([]int32, len(texts))}
	for i, text := range texts {
		l.text = append(l.text, text...)
		l.ends[i] = int32(len(l.text))
	}
	return l
}

// Lists returns a column of lists of texts, of which there are n different ones: row i has list
// index[i], null where that is negative. texts returns a list's texts; it is called once for each list
// that a row has.
func (g Maker) Lists(n int, texts func(list int32) []string, index []int32) (*array.Data, error) {
	lists := make([]*packedList, n)
	count, bytes := int64(0), int64(0)
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
	if count >= math.MaxInt32 {
		return nil, ErrMost
	}
	if err := g.checkSize(bytes + 4*count); err != nil {
		return nil, err
	}
	endBuffer, ends := allocate[int32](g, len(index)+1)
	textEndBuffer, textEnds := allocate[int32](g, int(count)+1)
	data := g.alloc(int(bytes))
	to, at, values := data.Bytes(), 0, 0
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
	validity, nulls := g.present(index)
	child := newData(arrow.BinaryTypes.String, values, buffers(nil, textEndBuffer, data), nil, 0)
	return newData(TextList, len(index), buffers(validity, endBuffer), []arrow.ArrayData{child}, nulls), nil
}

// numberList is the type of lists of texts that are entries of a dictionary.
var numberList = arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String})

// CodedLists is the type of lists of texts by their numbers in a dictionary of distinct lists,
// which are few: for a format that stores texts by number.
var CodedLists = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: numberList}

// Codes returns a column of CodedLists, of which there are n different ones: row i has list index[i],
// null where that is negative. list returns the numbers of a list's texts in names. Lists that no row
// has are left out.
func (g Maker) Codes(names []string, n int, list func(list int32) []int32, index []int32) (*array.Data, error) {
	var used []int32            // the lists that rows have
	numbers := make([]int32, n) // 1 + the place of each list in used, 0 for none
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
	codeBuffer, codes := allocate[int32](g, int(count))
	at := 0
	for i, of := range used {
		at += copy(codes[at:], list(of))
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
	return newCoded(coded{index: buffer, ends: endBuffer, codes: codeBuffer, texts: texts}, validity, nulls), nil
}

// coded are the parts of a column of CodedLists, three buffers of int32 and an array: row i has list
// index[i], whose texts have the numbers codes[ends[list]:ends[list+1]] in texts.
type coded struct {
	index, ends, codes *memory.Buffer
	texts              *array.Data
}

// newCoded returns a column of parts, whose buffers it takes over. It retains texts.
func newCoded(c coded, validity *memory.Buffer, nulls int) *array.Data {
	length := func(b *memory.Buffer) int { return b.Len() / arrow.Int32SizeBytes }
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

// joinCoded makes one column of columns of CodedLists that have the same texts. It releases them. Lists
// that several of them have are not joined: they are few.
func joinCoded(parts []*array.Data, mem memory.Allocator) *array.Data {
	defer Release(parts)
	g := Maker{Memory: mem}
	rows, lists, codes, nulls := 0, 0, 0, 0
	for _, part := range parts {
		own := part.Dictionary()
		rows, lists, codes, nulls = rows+part.Len(), lists+own.Len(), codes+own.Children()[0].Len(), nulls+part.NullN()
	}
	var c coded
	var allIndex, allEnds, allCodes []int32
	c.index, allIndex = allocate[int32](g, rows)
	c.ends, allEnds = allocate[int32](g, lists+1)
	c.codes, allCodes = allocate[int32](g, codes)
	row, list, code := 0, 0, 0 // that come before a part
	for _, part := range parts {
		own := part.Dictionary().(*array.Data)
		child := own.Children()[0].(*array.Data)
		c.texts = child.Dictionary().(*array.Data)
		for i, of := range arrow.GetData[int32](part.Buffers()[1].Bytes()) {
			if of >= 0 {
				of += int32(list)
			}
			allIndex[row+i] = of
		}
		for i, end := range arrow.GetData[int32](own.Buffers()[1].Bytes()) {
			allEnds[list+i] = int32(code) + end
		}
		copy(allCodes[code:], arrow.GetData[int32](child.Buffers()[1].Bytes()))
		row, list, code = row+part.Len(), list+own.Len(), code+child.Len()
	}
	var validity *memory.Buffer
	if nulls > 0 {
		validity, nulls = g.present(allIndex)
	}
	return newCoded(c, validity, nulls)
}
