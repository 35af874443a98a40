// Package columns maps tables between Arrow's arrays and Parquet's columns.
//
//	FromArrow    an Arrow schema → the tree of Parquet's schema, and what of it
//	             has to be cast
//	Shred        an array of a top-level column → its leaves: values in one run,
//	             with levels that say which lists and which nulls they lie in
//	FromParquet  a footer → the tree of its schema
//	Read         a top-level column of the tree, and its field in the Arrow schema
//	             stored in the file → its Arrow field
//	Assemble     leaves → an array
//
// A value, a type's meaning and a nullability are kept, or cast where that loses
// nothing and a [Cast] says so, or refused by the column's name.
//
// Parquet has values of leaves alone. Of a column of lists of optional numbers,
// which has the maximum levels repetition 1 and definition 3, the rows
//
//	[7, null]   []   null   [8]
//
// have four entries in the levels' places and two values:
//
//	repetition   0 1   0   0   0     1: goes on in the list before
//	definition   3 2   1   0   3     3: a value, 2: null, 1: an empty list, 0: no list
//	values       7             8
package columns
