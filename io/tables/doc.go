// Package tables, with the packages below it, is a library of tables that knows no robots.txt. It
// reads one column of texts, passes other columns as they lie, adds columns, and keeps some
// rows. This package has what Arrow and Parquet share, in Arrow's memory; the packages in arrow and
// parquet are for one format each. io/frontier makes batches of what they read, and columns of
// verdicts. The parts of the library are:
//
//	a reader   Arrow: ipc.Reader reads messages.
//	           Parquet: columns.ReadTable reads the footer, and finds the columns' types in Arrow;
//	           splice.Open finds what is to be copied.
//	a part     Arrow: a record batch, which ipc.Part.Decode decodes in pieces.
//	           Parquet: some rows of a column, of which decode.Column.Take makes an array.
//	rows       [Rows] are the rows that are kept, as runs.
//	columns    [StringsOf] and [NumbersOf] read an array where it lies. [Maker] gathers the rows
//	           that are kept, and makes columns to add.
//	a writer   Arrow: ipc.Writer encodes or copies record batches.
//	           Parquet: encode.Encoder and encode.Writer make a file of columns; splice.Writer copies
//	           row groups and adds columns; groupfilter.Filter keeps some rows of a row group.
//	a budget   io/store/budget.Grant, from which memory is taken before it is filled
//
// Nothing in a file is trusted: arrow/layout and parquet/layout check counts and ranges when they
// read them, and an array from outside goes through a [Checker] before any other call has it.
//
// [Strings] and [Numbers] have no memory of their own: they are valid as long as their array. Arrays
// that share memory, which Maker may make, are valid as long as their source. A caller that is given
// an array releases it. A caller that opened a file closes it, after the last part was decoded and written.
//
// An error says what is wrong. Where the input is intact and the caller can do something about it,
// the error is a [LimitError] that says what would help, or a budget.MemoryError.
package tables
