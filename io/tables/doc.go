// Package tables has what the formats of tables share: which column has the
// URLs, whether decoded Arrow arrays are valid, and the columns that an output
// has.
//
//	Locate, URLs     a table's schema and arrays → the URL column, or the columns
//	                 that it is split over
//	FindBeside, TakeBeside
//	                 the columns that a job reads beside the URLs
//	Checker          arrays from outside → arrays that can be read and sliced
//	Writer           rows, value by value → records
//	Records          records made one after the other → a source of batches
//	Output           batches with verdicts → arrays of the rows that come out
package tables
