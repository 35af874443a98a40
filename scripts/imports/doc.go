// Package imports holds the house in order: its test checks that imports go one
// way between the folders, that third-party code stays where it may be, that
// every package says what it is for, that other packages use what one exports, that
// libraries name no flags, that comments link to names that exist, and that nothing new lies
// at the top level.
//
// The table in table.go is the rule for imports; a new folder gets a line there.
// allowed.go names what is exported for a reason that the code does not show.
package imports
