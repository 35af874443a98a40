// Package spelling finds the name that was meant by one that is misspelt: of a column, a flag,
// a crawler, a record of a robots.txt.
package spelling
