package layout

import (
	"errors"
	"fmt"
	"strings"
)

// findLeaves checks that the schema is a tree, and finds its columns with their
// levels.
func (f *File) findLeaves() error {
	if len(f.Schema) == 0 {
		return errors.New("damaged: the schema is not a tree")
	}
	type level struct {
		children               int32 // to come
		definition, repetition int
	}
	var open []level
	for i := range f.Schema {
		e := &f.Schema[i]
		if e.Children < 0 || int(e.Children) > len(f.Schema) || i > 0 && len(open) == 0 {
			return errors.New("damaged: the schema is not a tree")
		}
		if e.Repetition < Required || e.Repetition > Repeated {
			return fmt.Errorf("damaged: column %q has a repetition of %d", e.Name, e.Repetition)
		}
		at := level{children: e.Children}
		if i > 0 {
			parent := open[len(open)-1]
			at.definition, at.repetition = parent.definition, parent.repetition
			if e.Repetition != Required {
				at.definition++
			}
			if e.Repetition == Repeated {
				at.repetition++
			}
			if len(open) == 1 {
				f.Fields = append(f.Fields, Field{Element: i, First: len(f.Leaves)})
			}
			open[len(open)-1].children--
		}
		if i > 0 && e.Children == 0 && e.Type != NoType {
			if e.Type < Boolean || e.Type > FixedLenByteArray || e.TypeLength < 0 {
				return fmt.Errorf("damaged: column %q is of an unknown type", e.Name)
			}
			f.Leaves = append(f.Leaves, Leaf{Element: i, MaxDefinition: at.definition, MaxRepetition: at.repetition})
		}
		if i > 0 {
			f.Fields[len(f.Fields)-1].End = len(f.Leaves)
		}
		if open = append(open, at); len(open) > maxDepth {
			return fmt.Errorf("its columns are nested more than %d deep", maxDepth)
		}
		for len(open) > 0 && open[len(open)-1].children == 0 {
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return errors.New("damaged: the schema is not a tree")
	}
	return nil
}

// Path is the name of a column with those of the groups around it, as "a.b".
func (f *File) Path(leaf int) string {
	var names []string
	var open []int32
	for i, e := range f.Schema[:f.Leaves[leaf].Element+1] {
		if i > 0 {
			open[len(open)-1]--
		}
		names, open = append(names, e.Name), append(open, e.Children)
		for i < f.Leaves[leaf].Element && len(open) > 0 && open[len(open)-1] == 0 {
			names, open = names[:len(names)-1], open[:len(open)-1]
		}
	}
	return strings.Join(names[1:], ".")
}

// check checks that everything lies before the footer, and that counts agree.
func (f *File) check() error {
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

// checkChunk checks a column of a row group. Some writers do not say where one without values lies.
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
	if c.Values == 0 && (start < int64(len(Magic)) || length < 0 || length > f.End || start > f.End-length) {
		c.Pages = Range{}
		return nil
	}
	if length < 0 || c.Uncompressed < 0 || length > f.End || length > 0 && (start < int64(len(Magic)) || start > f.End-length) {
		return fmt.Errorf("damaged: %d bytes at %d of a file whose data ends at %d", length, start, f.End)
	}
	return nil
}
