package splice

import (
	"errors"
	"slices"

	"robotsbatch/io/tables/parquet/layout"
)

// project sets the leaves of the columns that are copied, those at the top with these numbers, nil for
// all. It leaves the others out of the footer: out of its schema and its orders.
func (input *Input) project(fields []int) error {
	if fields == nil {
		for leaf := range input.file.Leaves {
			input.leaves = append(input.leaves, leaf)
		}
		return nil
	}
	for _, i := range fields {
		for leaf := input.file.Fields[i].First; leaf < input.file.Fields[i].End; leaf++ {
			input.leaves = append(input.leaves, leaf)
		}
	}
	if err := input.projectSchema(fields); err != nil {
		return err
	}
	input.projectOrders()
	return nil
}

// projectSchema leaves all elements of the schema out but the root and those of fields.
func (input *Input) projectSchema(fields []int) error {
	file := input.file
	kind, elements, err := find(input.footer, fileSchema).Elements()
	if err == nil && len(elements) != len(file.Schema) {
		err = errors.New("damaged: it has two schemas")
	}
	if err != nil {
		return err
	}
	root, _, err := layout.ReadRaw(elements[0])
	if err != nil {
		return err
	}
	set(root, layout.IntField(elementChildren, layout.RawI32, int64(len(fields))))
	kept := [][]byte{layout.AppendRaw(nil, root)}
	for _, i := range fields {
		end := len(elements)
		if i+1 < len(file.Fields) {
			end = file.Fields[i+1].Element
		}
		kept = append(kept, elements[file.Fields[i].Element:end]...)
	}
	set(input.footer, layout.ListField(fileSchema, kind, kept))
	return nil
}

// projectOrders leaves the orders of all columns out but those that are copied. It leaves out all if they
// are not one for each column: nothing is said of what is not known.
func (input *Input) projectOrders() {
	orders := find(input.footer, fileOrders)
	if len(orders.Value) == 0 {
		return
	}
	kind, elements, err := orders.Elements()
	if err != nil || len(elements) != len(input.file.Leaves) {
		input.footer = remove(input.footer, fileOrders)
		return
	}
	var kept [][]byte
	for _, leaf := range input.leaves {
		kept = append(kept, elements[leaf])
	}
	set(input.footer, layout.ListField(fileOrders, kind, kept))
}

// projectGroup corrects what a row group says of the columns that are left out: how
// many bytes they have, and that rows are sorted by them.
func (input *Input) projectGroup(fields []layout.Raw, chunks []layout.Chunk) error {
	if len(input.leaves) == len(chunks) {
		return nil
	}
	size := int64(0)
	for _, leaf := range input.leaves {
		size += chunks[leaf].Uncompressed
	}
	set(fields, layout.IntField(groupBytes, layout.RawI64, size))
	sorting := find(fields, groupSorting)
	if len(sorting.Value) == 0 {
		return nil
	}
	kind, columns, err := sorting.Elements()
	if err != nil {
		return err
	}
	for i, raw := range columns {
		column, _, err := layout.ReadRaw(raw)
		if err != nil {
			return err
		}
		leaf := slices.Index(input.leaves, int(integer(column, sortingColumn)))
		if leaf < 0 {
			columns = columns[:i] // rows that are equal in the columns before are in any order
			break
		}
		set(column, layout.IntField(sortingColumn, layout.RawI32, int64(leaf)))
		columns[i] = layout.AppendRaw(nil, column)
	}
	set(fields, layout.ListField(groupSorting, kind, columns))
	return nil
}

// remove returns the fields without one.
func remove(fields []layout.Raw, id int16) []layout.Raw {
	return slices.DeleteFunc(fields, func(f layout.Raw) bool { return f.ID == id })
}
