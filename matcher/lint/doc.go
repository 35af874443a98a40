// Package lint finds in the text of a robots.txt what its author likely did not mean: lines
// that are ignored, rules that never decide, agents that nobody has.
//
// A [Finding] is at a line and a column, and has a [Code], which says how grave it is. The
// catalogue of codes, with a bad and a good example of each, is one text, catalogue.md,
// from which the manual and the tests come.
//
// A body is read under both profiles. What is found under one of them alone says which.
// What is called dead is proven (see matcher.Trie.Shadowed); what is not cheap to prove is
// not said.
package lint
