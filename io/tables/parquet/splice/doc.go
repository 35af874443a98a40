// Package splice writes Parquet files whose columns, all or some, are copied from
// another file as their bytes lie, with columns added after them.
//
//	row group   the input's column chunks, byte for byte; the added ones;
//	            bloom filters and column indexes, byte for byte; offset indexes,
//	            whose offsets move
//	…
//	footer      the input's, field by field: offsets and sums change, schema elements
//	            and keys are added, and all else is kept, also what is not known here;
//	            columns that are left out go from schema, orders and sorting
//
// Nothing of what is copied is looked at, so columns of any type, encoding and codec
// are copied, and a damaged page remains as damaged as it was. What is checked is that
// the ranges lie in the file and do not overlap: nothing is copied twice.
package splice
