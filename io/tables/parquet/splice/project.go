package splice

import (
	"slices"

	"robotsbatch/io/tables/parquet/layout"
)

// project limits the input to the top-level columns with the indices fields, nil for all: it sets input.leaves to
// theirs, and removes the other columns from the footer's schema and orders.
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

// projectSchema removes all elements from the footer's schema except the root and those of the top-level columns
// with the indices fields.
func (input *Input) projectSchema(fields []int) error {
	all := input.file.Fields
	return changeList(input.footer, fileSchema, func(elements [][]byte) ([][]byte, error) {
		root, err := changeFields(elements[0], func(root []layout.Raw) {
			replace(root, layout.IntField(elementChildren, layout.RawI32, int64(len(fields))))
		})
		kept := [][]byte{root}
		for _, i := range fields {
			end := len(elements)
			if i+1 < len(all) {
				end = all[i+1].Element
			}
			kept = append(kept, elements[all[i].Element:end]...)
		}
		return kept, err
	})
}

// projectOrders removes the orders of columns that are not copied from the footer. If there is not exactly one
// for each column, it removes all, because nobody knows which order is whose.
func (input *Input) projectOrders() {
	kind, elements, err := find(input.footer, fileOrders).Elements()
	if err != nil || len(elements) != len(input.file.Leaves) {
		input.footer = slices.DeleteFunc(input.footer, func(f layout.Raw) bool { return f.ID == fileOrders })
		return
	}
	var kept [][]byte
	for _, leaf := range input.leaves {
		kept = append(kept, elements[leaf])
	}
	replace(input.footer, layout.ListField(fileOrders, kind, kept))
}

// projectGroup corrects the fields of a RowGroup structure for the columns that are left out: its number of bytes,
// and the columns by which its rows are sorted. chunks are those of all columns.
func (input *Input) projectGroup(fields []layout.Raw, chunks []layout.Chunk) error {
	if len(input.leaves) == len(chunks) {
		return nil
	}
	size := int64(0)
	for _, leaf := range input.leaves {
		size += chunks[leaf].Uncompressed
	}
	replace(fields, layout.IntField(groupBytes, layout.RawI64, size))
	if len(find(fields, groupSorting).Value) == 0 {
		return nil
	}
	return changeList(fields, groupSorting, func(columns [][]byte) ([][]byte, error) {
		for i, raw := range columns {
			column, _, err := layout.ReadRaw(raw)
			if err != nil {
				return nil, err
			}
			leaf := slices.Index(input.leaves, int(integer(column, sortingColumn)))
			if leaf < 0 {
				return columns[:i], nil // without this column, later ones do not say how rows are sorted
			}
			replace(column, layout.IntField(sortingColumn, layout.RawI32, int64(leaf)))
			columns[i] = layout.AppendRaw(nil, column)
		}
		return columns, nil
	})
}
