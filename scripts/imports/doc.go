// Package imports holds the house in order: its test checks that imports go one
// way between the folders, that third-party code stays where it may be, that
// every package says what it is for, and that nothing new lies at the top level.
//
// The table in table.go is the rule; a new folder gets a line there.
package imports
