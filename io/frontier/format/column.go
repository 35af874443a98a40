package format

import "fmt"

// NoColumnError says that a table has no column of a name.
type NoColumnError struct {
	Name string
	// Near is a column that may have been meant; empty for none.
	Near string
	// Columns lists the table's columns for people.
	Columns string
}

func (e *NoColumnError) Error() string {
	if e.Near != "" {
		return fmt.Sprintf("there is no column %q: did you mean %q? The columns are %s", e.Name, e.Near, e.Columns)
	}
	return fmt.Sprintf("there is no column %q: name one of %s with -url-column", e.Name, e.Columns)
}
