// Package frontier opens lists and tables of URLs by name, whatever their format.
//
// [Expand] turns a name into inputs: a file, an object, stdin, the files of a folder,
// or those that match a pattern. [Open] recognises an input by its first bytes and its
// name, and returns the [Source] of its format. [Concatenate] reads several inputs of
// one schema as one source, and knows which versions it read.
//
// Errors name the input. A mistake in the options is a [option.UsageError].
package frontier
