package format

import (
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

// standardURLColumn is the column of URLs where nobody names one.
const standardURLColumn = "url"

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

// URL returns the index of the column that has the URLs: the one of that name. If name is
// empty, it is "url", or the only one that differs from "url" in case alone; -1 if there is
// none. The error is a [NoColumnError] if no column has a name that was given.
func (c Columns) URL(name string) (int, error) {
	wanted := name
	if wanted == "" {
		wanted = standardURLColumn
	}
	found, index := c.count(wanted, func(a, b string) bool { return a == b })
	if found == 0 && name == "" {
		found, index = c.count(wanted, strings.EqualFold)
	}
	switch {
	case found > 1:
		return -1, option.Errorf("there are %d columns %q: name another one with %s", found, wanted, option.URLColumn)
	case found == 0 && name != "":
		return -1, c.NoColumn(name)
	case found == 0:
		return -1, nil
	}
	return index, nil
}

// NoColumn returns the error for a name of the column with URLs that no column has.
func (c Columns) NoColumn(name string) error {
	return &NoColumnError{Name: name, Near: spelling.Nearest(name, c.Names), Columns: c.String()}
}

// Extra returns the index of the column called name, -1 if name is empty. It is an error, which names
// the option from that gave the name, if there is no such column, or several.
func (c Columns) Extra(name string, from option.Name) (int, error) {
	if name == "" {
		return -1, nil
	}
	switch found, index := c.count(name, func(a, b string) bool { return a == b }); found {
	case 0:
	case 1:
		return index, nil
	default:
		return -1, option.Errorf("there are %d columns %q: name another one with %s", found, name, from)
	}
	if near := spelling.Nearest(name, c.Names); near != "" {
		return -1, option.Errorf("there is no column %q for %s: did you mean %q? The columns are %s", name, from, near, c)
	}
	return -1, option.Errorf("there is no column %q: name one of %s with %s", name, c, from)
}

// count returns how many columns have a name, compared by equal, and the index of the last
// one.
func (c Columns) count(wanted string, equal func(a, b string) bool) (found, index int) {
	for i, name := range c.Names {
		if equal(name, wanted) {
			found, index = found+1, i
		}
	}
	return found, index
}

// NoColumnError says that a table has no column of a name.
type NoColumnError struct {
	Name string
	// Near is a column that may have been meant; empty for none.
	Near string
	// Columns lists the table's columns for people.
	Columns string
}

func (e *NoColumnError) Error() string { return e.Message().String() }

// Message is what Error says, with the options that it names.
func (e *NoColumnError) Message() option.Message {
	if e.Near != "" {
		return option.Messagef("there is no column %q: did you mean %q? The columns are %s", e.Name, e.Near, e.Columns)
	}
	return option.Messagef("there is no column %q: name one of %s with %s", e.Name, e.Columns, option.URLColumn)
}
