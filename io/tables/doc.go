// Package tables, with what lies below it, is a library of tables that knows no robots.txt. It
// reads one column of texts, passes other columns as they lie, adds columns, and keeps some
// rows. This package has what both formats share, in Arrow's memory; the packages below it are
// for Arrow and Parquet. io/frontier makes batches of what they read, and columns of verdicts. The
// parts of the contract, and the package of each:
//
//	a reader      arrow/ipc.Reader, messages as arrow/layout has them; of Parquet
//	              columns.ReadTable, the footer, checked, and the columns' types in Arrow;
//	              splice.Open, what is to be copied
//	a part        of Arrow, a record batch, of which ipc.Part.Decode gives pieces; of Parquet,
//	              some rows of a column: decode.Column.Take, on a worker, makes an array of their
//	              pages
//	rows          [Rows], runs of the rows that are kept, which gather buffers
//	columns       [StringsOf] and [NumbersOf] read an array where it lies; [Maker] gathers the rows
//	              that are kept, and makes columns to add: bits, integers, times, texts, lists
//	a writer      ipc.Writer, record batches that are encoded or copied; of Parquet
//	              encode.Encoder, columns → pages; encode.Writer, a file of them; splice.Writer,
//	              row groups that are copied whole, and columns to add; groupfilter.Filter, row
//	              groups of which some rows are kept
//	a budget      io/store/budget.Grant, from which memory is taken before it is filled
//
// Nothing in a file is trusted: arrow/layout and parquet/layout check counts and ranges when they
// read them, and an array from outside goes through a [Checker] before any other call has it.
//
// What has no memory of its own says so: [Strings] and [Numbers] are valid as long as their
// array, and arrays that Maker shares as long as what they were made of. Who is given an array
// releases it. Who opened a file closes it, after the last part was decoded and written.
//
// An error says what is wrong. Where the input is intact and the caller can do something about it,
// the error is a [LimitError] that says what would help, or a budget.MemoryError.
package tables
