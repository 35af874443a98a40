package tables

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
)

// Checker checks decoded arrays before they are read, sliced or written. Each buffer
// must be long enough, and each offset, dictionary index and view must point inside what it refers to.
//
// It also sets numbers of nulls that are not known yet: the library would set them later, in arrays
// that goroutines share.
type Checker struct {
	dictionaries map[*array.Data]bool // that were checked, so that each is checked once
}

// Trust says that a dictionary was checked already: Check then does not check it.
func (c *Checker) Trust(dictionary *array.Data) {
	if c.dictionaries == nil {
		c.dictionaries = make(map[*array.Data]bool)
	}
	c.dictionaries[dictionary] = true
}

// The indices of an array's buffers, by their content; a type has some of them. Arrays of views have any number of
// buffers of data, from dataBuffer on. Unions have no validity: that buffer is nil.
const (
	validityBuffer, valueBuffer, offsetBuffer, viewBuffer, codeBuffer = 0, 1, 1, 1, 1
	dataBuffer, sizeBuffer, unionOffsetBuffer                         = 2, 2, 2
)

var errBuffer = errors.New("damaged: a buffer is too short")

// Check checks an array with its children and dictionaries. An error says what is damaged.
func (c *Checker) Check(d *array.Data) error {
	end := d.Offset() + d.Len() // where its values end, counted from the buffers' beginning: also in the functions below
	if err := checkValidity(d, end); err != nil {
		return err
	}
	switch dt := Storage(d.DataType()).(type) {
	case *arrow.NullType:
		return nil
	case *arrow.DictionaryType:
		return c.checkDictionary(d, dt)
	case *arrow.BooleanType:
		return checkBuffer(d, valueBuffer, (int64(end)+7)/8)
	case *arrow.BinaryType, *arrow.StringType:
		return checkOffsets[int32](d, end, bufferLen(d, dataBuffer))
	case *arrow.LargeBinaryType, *arrow.LargeStringType:
		return checkOffsets[int64](d, end, bufferLen(d, dataBuffer))
	case arrow.BinaryViewDataType:
		return checkViews(d, end)
	case *arrow.ListType, *arrow.MapType:
		return c.checkChildren(d, checkOffsets[int32](d, end, childLen(d, 0)))
	case *arrow.LargeListType:
		return c.checkChildren(d, checkOffsets[int64](d, end, childLen(d, 0)))
	case *arrow.ListViewType:
		return c.checkChildren(d, checkListViews[int32](d, end))
	case *arrow.LargeListViewType:
		return c.checkChildren(d, checkListViews[int64](d, end))
	case *arrow.FixedSizeListType:
		if int64(end) > childLen(d, 0)/int64(dt.Len()) {
			return errors.New("damaged: lists with too few values")
		}
		return c.checkChildren(d, nil)
	case *arrow.StructType:
		return c.checkChildren(d, checkParallel(d, end))
	case arrow.UnionType:
		return c.checkChildren(d, checkUnion(d, dt, end))
	case *arrow.RunEndEncodedType:
		return c.checkChildren(d, checkRunEnds(d, end))
	default:
		if width := int64(dt.Layout().Buffers[valueBuffer].ByteWidth); width > 0 && int64(end) > bufferLen(d, valueBuffer)/width {
			return errBuffer
		}
		return nil
	}
}

// checkChildren checks the children if err is nil. Otherwise the array itself is damaged, and it returns err.
func (c *Checker) checkChildren(d *array.Data, err error) error {
	for _, child := range d.Children() {
		if err == nil {
			err = c.Check(child.(*array.Data))
		}
	}
	return err
}

// bufferLen returns the number of bytes of buffer i, 0 if there is none.
func bufferLen(d *array.Data, i int) int64 {
	if i < len(d.Buffers()) && d.Buffers()[i] != nil {
		return int64(d.Buffers()[i].Len())
	}
	return 0
}

// childLen returns the number of values of child i.
func childLen(d *array.Data, i int) int64 { return int64(d.Children()[i].Len()) }

// checkBuffer checks that buffer i has at least need bytes.
func checkBuffer(d *array.Data, i int, need int64) error {
	if bufferLen(d, i) < need {
		return errBuffer
	}
	return nil
}

// values returns the first n elements of buffer i, in the buffer's memory. It is an error if the buffer has fewer.
func values[T arrow.FixedWidthType | arrow.ViewHeader](d *array.Data, i, n int) ([]T, error) {
	size := int64(unsafe.Sizeof(*new(T)))
	if int64(n) > bufferLen(d, i)/size {
		return nil, errBuffer
	}
	return dataOf[T](bufferBytes(d, i)[:int64(n)*size]), nil
}

// checkValidity checks that the validity bitmap has as many nulls as the array says. If the array's number is not known
// (negative), it sets it.
func checkValidity(d *array.Data, end int) error {
	if d.DataType().ID() == arrow.NULL {
		d.SetNullN(d.Len())
		return nil
	}
	nulls := 0
	if len(d.Buffers()) > 0 && d.Buffers()[validityBuffer] != nil && d.Len() > 0 {
		if err := checkBuffer(d, validityBuffer, (int64(end)+7)/8); err != nil {
			return err
		}
		nulls = d.Len() - bitutil.CountSetBits(d.Buffers()[validityBuffer].Bytes(), d.Offset(), d.Len())
	}
	if d.NullN() >= 0 && d.NullN() != nulls {
		return fmt.Errorf("damaged: %d values are null where it says %d", nulls, d.NullN())
	}
	d.SetNullN(nulls)
	return nil
}

// mayBeNull reports whether the array has a validity bitmap and does not say that no value is null.
func mayBeNull(d *array.Data) bool { return d.NullN() != 0 && bufferLen(d, validityBuffer) > 0 }

// isNull reports whether value i, counted from the buffers' beginning, is null.
func isNull(d *array.Data, i int) bool {
	return mayBeNull(d) && bitutil.BitIsNotSet(d.Buffers()[validityBuffer].Bytes(), i)
}

// checkOffsets checks that offsets never fall, and that the last is at most limit.
func checkOffsets[T int32 | int64](d *array.Data, end int, limit int64) error {
	if end == 0 {
		return nil
	}
	offsets, err := values[T](d, offsetBuffer, end+1)
	if err != nil {
		return err
	}
	last, err := rising(offsets)
	if err != nil {
		return err
	}
	if int64(last) > limit {
		return fmt.Errorf("damaged: the last offset is %d of %d", last, limit)
	}
	return nil
}

// checkListViews checks that each list lies inside the values. Lists may come in any order, and overlap.
func checkListViews[T int32 | int64](d *array.Data, end int) error {
	offsets, err := values[T](d, offsetBuffer, end)
	if err != nil {
		return err
	}
	sizes, err := values[T](d, sizeBuffer, end)
	if err != nil {
		return err
	}
	limit := childLen(d, 0)
	for i, offset := range offsets {
		if offset < 0 || sizes[i] < 0 || int64(offset) > limit-int64(sizes[i]) { // offset + size may overflow
			return fmt.Errorf("damaged: list %d lies outside its values", i)
		}
	}
	return nil
}

// checkViews checks that values lie inside the buffers that their views name. A short value is in its view itself.
func checkViews(d *array.Data, end int) error {
	views, err := values[arrow.ViewHeader](d, viewBuffer, end)
	if err != nil {
		return err
	}
	for i := range views {
		view := &views[i]
		if isNull(d, i) || view.Len() >= 0 && view.IsInline() { // IsInline is true for a negative length, too
			continue
		}
		buffer, offset := int(view.BufferIndex()), int64(view.BufferOffset())
		hasBuffer := buffer >= 0 && buffer < len(d.Buffers())-dataBuffer
		inBuffer := hasBuffer && offset >= 0 && offset+int64(view.Len()) <= bufferLen(d, dataBuffer+buffer)
		if view.Len() < 0 || !inBuffer {
			return fmt.Errorf("damaged: value %d lies outside its buffer", i)
		}
	}
	return nil
}

// checkParallel checks that each child has a value for each value of the array.
func checkParallel(d *array.Data, end int) error {
	for i := range d.Children() {
		if childLen(d, i) < int64(end) {
			return fmt.Errorf("damaged: field %d has %d values for %d rows", i, childLen(d, i), end)
		}
	}
	return nil
}

// checkUnion checks that each type code belongs to a child, and that the child has the value: at the row's offset in a
// dense union, and at the row's index in a sparse one.
func checkUnion(d *array.Data, dt arrow.UnionType, end int) error {
	codes, err := values[arrow.UnionTypeCode](d, codeBuffer, end)
	if err != nil {
		return err
	}
	children := unionChildren(dt.TypeCodes())
	for i, code := range codes {
		if code < 0 || children[code] < 0 {
			return fmt.Errorf("damaged: value %d has the unknown type code %d", i, code)
		}
	}
	if dt.Mode() == arrow.SparseMode {
		return checkParallel(d, end)
	}
	offsets, err := values[int32](d, unionOffsetBuffer, end)
	if err != nil {
		return err
	}
	for i, offset := range offsets {
		if offset < 0 || int64(offset) >= childLen(d, children[codes[i]]) {
			return fmt.Errorf("damaged: value %d lies outside its values", i)
		}
	}
	return nil
}

// unionChildren returns for each type code the index of the child that has it, -1 if none has. codes are the children's.
func unionChildren(codes []arrow.UnionTypeCode) (children [int(arrow.MaxUnionTypeCode) + 1]int) {
	for i := range children {
		children[i] = -1
	}
	for i, code := range codes {
		children[code] = i
	}
	return children
}

// checkRunEnds checks that the ends of runs rise and cover the array, and that there is a value for each run.
func checkRunEnds(d *array.Data, end int) error {
	ends, err := runEnds(d)
	if err != nil {
		return err
	}
	if err := risingEnds(ends, end); err != nil {
		return err
	}
	if childLen(d, 1) < int64(len(ends)) {
		return errors.New("damaged: runs with too few values do not cover the rows")
	}
	return nil
}

// runEnds returns the ends of the runs of a run-end encoded array.
func runEnds(d *array.Data) ([]int64, error) {
	ends, err := NumbersOf(d.Children()[0].(*array.Data))
	return ends.Ints, err
}

// checkDictionary checks the dictionary, unless it was checked before, and the array's indices into it.
func (c *Checker) checkDictionary(d *array.Data, dt *arrow.DictionaryType) error {
	values, _ := d.Dictionary().(*array.Data)
	if values == nil {
		return errors.New("damaged: no dictionary")
	}
	if !c.dictionaries[values] {
		if err := c.Check(values); err != nil {
			return fmt.Errorf("dictionary: %w", err)
		}
		c.Trust(values)
	}
	return indexTypes[dt.IndexType.ID()].check(d, d.Offset()+d.Len(), uint64(values.Len()))
}

// checkIndices checks that the first end indices are less than limit and, as uint64 makes negative numbers large, not
// negative. Those of nulls may be anything.
func checkIndices[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](d *array.Data, end int, limit uint64) error {
	indices, err := values[T](d, valueBuffer, end)
	if err != nil {
		return err
	}
	for i, index := range indices {
		if uint64(index) >= limit && !isNull(d, i) {
			return fmt.Errorf("damaged: value %d is entry %d of a dictionary of %d", i, index, limit)
		}
	}
	return nil
}

// Storage returns the storage type of an extension type, and any other type unchanged.
func Storage(dt arrow.DataType) arrow.DataType {
	for {
		extension, ok := dt.(arrow.ExtensionType)
		if !ok {
			return dt
		}
		dt = extension.StorageType()
	}
}
