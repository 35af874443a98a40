// Package tableio holds what the table formats share: it finds the column with the URLs,
// checks decoded Arrow arrays, and makes the columns of an output.
//
//	Locate, URLs     a table's schema and arrays → the URL column, or the columns
//	                 that it is split over
//	TakeExtra        the columns that a job reads besides the URLs
//	Checker          arrays from outside → arrays that can be read and sliced
//	Writer           rows, value by value → records
//	Records          records made one after the other → a source of batches
//	Output           batches with verdicts → arrays of the selected rows
package tableio
