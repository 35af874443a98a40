package format

import (
	"cmp"
	"fmt"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/matcher/spelling"
)

// Columns are the columns of a table, or the keys of an object, by their names.
type Columns struct {
	Names []string
	// Type describes the type of a column for people; nil where all are text.
	Type func(column int) string
}

// URLColumn is the column of URLs where nobody names one.
const URLColumn = "url"

// mostListed is the most columns that a message lists.
const mostListed = 50

// String lists the columns, with their types, for messages.
func (c Columns) String() string {
	if len(c.Names) == 0 {
		return "none"
	}
	var listed []string
	for i, name := range c.Names[:min(len(c.Names), mostListed)] {
		text := fmt.Sprintf("%.200q", name)
		if c.Type != nil {
			text += fmt.Sprintf(" (%s)", c.Type(i))
		}
		listed = append(listed, text)
	}
	if more := len(c.Names) - mostListed; more > 0 {
		listed = append(listed, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(listed, ", ")
}

// URL returns the index of the column that has the URLs: the one called name. If name is empty, it
// is the one called "url", or else the only one whose name differs from "url" in case alone; -1 if
// there is none. If name is given and no column has it, the error is a [NoColumnError].
func (c Columns) URL(name string) (int, error) {
	wanted := cmp.Or(name, URLColumn)
	found, index := c.count(wanted, func(a, b string) bool { return a == b })
	if found == 0 && name == "" {
		found, index = c.count(wanted, strings.EqualFold)
	}
	switch {
	case found > 1:
		return -1, option.Errorf("there are %d columns %q: name another one with %s", found, wanted, option.URLColumn)
	case found == 0 && name != "":
		return -1, c.NoColumn(name)
	}
	return index, nil
}

// NoColumn returns the [NoColumnError] for a column of URLs with that name.
func (c Columns) NoColumn(name string) error {
	err := option.Errorf("there is no column %q: name one of %s with %s", name, c, option.URLColumn)
	if near := spelling.Nearest(name, c.Names); near != "" {
		err = option.Errorf("there is no column %q: did you mean %q? The columns are %s", name, near, c)
	}
	return &NoColumnError{err, c.String()}
}

// Extra returns the index of the column called name; -1 if name is empty. No such column, or several,
// are an error, which names the option that gave the name: from.
func (c Columns) Extra(name string, from option.Name) (int, error) {
	if name == "" {
		return -1, nil
	}
	found, index := c.count(name, func(a, b string) bool { return a == b })
	switch {
	case found == 1:
		return index, nil
	case found > 1:
		return -1, option.Errorf("there are %d columns %q: name another one with %s", found, name, from)
	}
	if near := spelling.Nearest(name, c.Names); near != "" {
		return -1, option.Errorf("there is no column %q for %s: did you mean %q? The columns are %s", name, from, near, c)
	}
	return -1, option.Errorf("there is no column %q: name one of %s with %s", name, c, from)
}

// count returns how many columns have a name, compared by equal, and the index of the last
// one; -1 if there is none.
func (c Columns) count(wanted string, equal func(a, b string) bool) (found, index int) {
	index = -1
	for i, name := range c.Names {
		if equal(name, wanted) {
			found, index = found+1, i
		}
	}
	return found, index
}

// NoColumnError says that a table has no column of a name.
type NoColumnError struct {
	error
	// Columns lists the table's columns for people.
	Columns string
}

// Unwrap returns the error that names the column and an option.
func (e *NoColumnError) Unwrap() error { return e.error }
