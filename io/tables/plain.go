package tables

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Plain returns a checked array decoded: with a value for each row instead of a dictionary or run ends, and d itself
// if it has neither. Children of the values stay encoded. The caller releases the result.
func Plain(d *array.Data, mem memory.Allocator) *array.Data {
	var plain *array.Data
	switch Storage(d.DataType()).(type) {
	case *arrow.DictionaryType:
		plain = Maker{Memory: mem}.decodeDictionary(d)
	case *arrow.RunEndEncodedType:
		plain = Maker{Memory: mem}.decodeRunEnds(d)
	default:
		d.Retain()
		return d
	}
	defer plain.Release()
	return Plain(plain, mem) // the values may be encoded again
}

// decodeRunEnds returns a value for each row of a run-end encoded array.
func (m Maker) decodeRunEnds(d *array.Data) *array.Data {
	ends, err := runEnds(d)
	mustBeChecked(err)
	values := d.Children()[1].(*array.Data)
	runs := make(Rows, 0, d.Len())
	at := 0 // the run of row
	for row := d.Offset(); row < d.Offset()+d.Len(); row++ {
		for ends[at] <= int64(row) {
			at++
		}
		runs = append(runs, Run{at, at + 1})
	}
	rows := m.Gather(values, runs)
	defer rows.Release()
	return WithDictionaries(rows, values)
}

// decodeDictionary returns the entry of each row of a dictionary array, in an array of the entries' type. It is
// null where the row is, or its entry.
func (m Maker) decodeDictionary(d *array.Data) *array.Data {
	dictionary := d.Dictionary().(*array.Data)
	if _, ok := Storage(dictionary.DataType()).(*arrow.RunEndEncodedType); ok {
		dictionary = m.decodeRunEnds(dictionary) // there may be more rows than the type of its ends can count
		defer dictionary.Release()
	}
	valueType := dictionary.DataType()
	if dictionary.Len() == 0 { // all rows are null
		b := array.NewBuilder(m.Memory, valueType) // not MakeArrayOfNull, which knows no views
		defer b.Release()
		b.AppendNulls(d.Len())
		nulls := b.NewArray()
		defer nulls.Release()
		nulls.Data().Retain()
		return nulls.Data().(*array.Data)
	}
	chosen, err := indices(d)
	mustBeChecked(err)
	runs := make(Rows, len(chosen))
	for i, entry := range chosen {
		runs[i] = Run{int(entry), int(entry) + 1}
	}
	rows := m.Gather(dictionary, runs)
	defer rows.Release()
	values := WithDictionaries(rows, dictionary)
	defer values.Release()
	valid := dictionaryValidity(d, chosen, dictionary)
	nulls := d.Len() - bitutil.CountSetBits(valid, 0, d.Len())
	if nulls == 0 || valueType.ID() == arrow.NULL {
		values.Retain()
		return values
	}
	return withValidity(values, valid, nulls)
}
