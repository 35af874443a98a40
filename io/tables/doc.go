// Package tables is a library of tables in Arrow's memory that knows no robots.txt: it checks
// arrays from outside, reads texts and numbers where they lie, gathers the rows that are kept,
// and makes columns to add.
package tables
