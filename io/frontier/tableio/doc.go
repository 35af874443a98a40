// Package tableio holds what the table formats share: it finds the column with the URLs,
// checks decoded Arrow arrays, and makes the columns of an output.
//
//	Locate, URLs     a table's schema and arrays → the URLs, which are in a column or
//	                 split over several
//	TakeExtra        the columns that a job reads besides the URLs
//	Writer           rows, value by value → records
//	Records          records made one after the other → a source of batches
//	Output           batches with verdicts → arrays of the selected rows
package tableio
