// Package explain shows why single URLs may be fetched or not: which rule of which line
// decides, in which group, what else matches, and how the URL and the rules were
// normalised.
//
// The verdict is that of package evaluate, which decides a job's rows. Everything else is
// found by slower and simpler code.
package explain
