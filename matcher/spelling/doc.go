// Package spelling suggests the right name for a misspelt one: of a column, a flag, a
// crawler, a record of a robots.txt.
package spelling
