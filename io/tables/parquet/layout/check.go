package layout

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var errTree = errors.New("damaged: the schema is not a tree")

// addElement adds the leaves and fields of schema element i and of those below it, and returns the index of
// the element after them. parent is the index of the group around i, and levels has the largest levels in it. depth is
// the number of groups around i, the root included.
func (f *File) addElement(i, parent, depth int, levels Leaf) (next int, err error) {
	if i >= len(f.Schema) {
		return i, errTree
	}
	e := &f.Schema[i]
	e.parent = parent
	switch {
	case e.Children < 0:
		return i, errTree
	case e.Repetition < Required || e.Repetition > Repeated:
		return i, fmt.Errorf("damaged: column %q has a repetition of %d", e.Name, e.Repetition)
	case depth >= maxDepth:
		return i, fmt.Errorf("its columns are nested more than %d deep", maxDepth)
	}
	if depth > 0 && e.Repetition != Required { // the root has no level
		levels.MaxDefinition++
	}
	if depth > 0 && e.Repetition == Repeated {
		levels.MaxRepetition++
	}
	if depth > 0 && e.Children == 0 && e.Type != NoType {
		if e.Type < Boolean || e.Type > FixedLenByteArray || e.TypeLength < 0 {
			return i, fmt.Errorf("damaged: column %q is of an unknown type", e.Name)
		}
		levels.Element = i
		f.Leaves = append(f.Leaves, levels)
	}
	next = i + 1
	for range e.Children {
		field, first := next, len(f.Leaves)
		if next, err = f.addElement(next, i, depth+1, levels); err != nil {
			return next, err
		}
		if depth == 0 {
			f.Fields = append(f.Fields, Field{Element: field, First: first, End: len(f.Leaves)})
		}
	}
	return next, nil
}

// Path returns the name of a leaf, with the groups around it, as "a.b". It is for errors and statistics.
func (f *File) Path(leaf int) string {
	var names []string // from the leaf outwards, without the root
	for i := f.Leaves[leaf].Element; i > 0; i = f.Schema[i].parent {
		names = append(names, f.Schema[i].Name)
	}
	slices.Reverse(names)
	return strings.Join(names, ".")
}

// checkGroups checks that all row groups agree with the schema and the file's number of rows, and that all
// chunks lie before the footer.
func (f *File) checkGroups() error {
	rows := int64(0)
	for i := range f.Groups {
		group := &f.Groups[i]
		if group.Rows < 0 || group.Rows > f.Rows-rows {
			return fmt.Errorf("row group %d: damaged: it says it has %d rows, the file %d", i, group.Rows, f.Rows)
		}
		rows += group.Rows
		if len(group.Chunks) != len(f.Leaves) {
			return fmt.Errorf("row group %d: damaged: %d columns where the schema has %d", i, len(group.Chunks), len(f.Leaves))
		}
		for j := range group.Chunks {
			if err := f.checkChunk(group, j); err != nil {
				return fmt.Errorf("row group %d: column %q: %w", i, f.Path(j), err)
			}
		}
	}
	if rows != f.Rows {
		return fmt.Errorf("damaged: it says it has %d rows, its row groups %d", f.Rows, rows)
	}
	return nil
}

// checkChunk checks that the chunk of leaf column has the leaf's type, a value for each row (in lists, one at least), and
// lies before the footer. Some writers give a chunk without values no valid place: its Pages become empty.
func (f *File) checkChunk(group *RowGroup, column int) error {
	c, leaf := &group.Chunks[column], f.Leaves[column]
	if c.Type != f.Schema[leaf.Element].Type {
		return errors.New("damaged: its type is not the schema's")
	}
	if c.Values < group.Rows || leaf.MaxRepetition == 0 && c.Values != group.Rows {
		return fmt.Errorf("damaged: it says it has %d values for %d rows", c.Values, group.Rows)
	}
	start, length := c.Pages.Offset, c.Pages.Length
	if length == 0 && c.Values > 0 {
		return fmt.Errorf("damaged: %d values in no bytes", c.Values)
	}
	inside := start >= int64(len(Magic)) && 0 <= length && length <= f.End && start <= f.End-length
	if c.Values == 0 && !inside {
		c.Pages = Range{}
		return nil
	}
	if c.Uncompressed < 0 || !inside {
		return fmt.Errorf("damaged: %d bytes at %d of a file whose data ends at %d", length, start, f.End)
	}
	return nil
}
