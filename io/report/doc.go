// Package report words for people what the program finds: errors, numbers, the
// summary of a job, captures, rule packs.
//
// Text from outside is escaped by [Printable], so that no terminal obeys it.
package report
