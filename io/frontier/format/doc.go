// Package format tells which format an input has, by its first bytes and then
// by its name, and which format an output is to have, by its name.
package format
