package format

import "robotsbatch/batch/option"

// NoColumnError says that a table has no column of a name.
type NoColumnError struct {
	Name string
	// Near is a column that may have been meant; empty for none.
	Near string
	// Columns lists the table's columns for people.
	Columns string
}

func (e *NoColumnError) Error() string { return e.Message().String() }

// Message is what Error says, with options that [option.Text] puts into words.
func (e *NoColumnError) Message() option.Message {
	if e.Near != "" {
		return option.Messagef("there is no column %q: did you mean %q? The columns are %s", e.Name, e.Near, e.Columns)
	}
	return option.Messagef("there is no column %q: name one of %s with %s", e.Name, e.Columns, option.URLColumn)
}
