// Package lint finds probable mistakes in a robots.txt: lines that are ignored, rules that
// never decide, agents that do not exist.
//
// A [Finding] has a line, a column and a [Code], and the code a severity. The catalogue,
// catalogue.md, describes each code with a bad and a good example. The manual and the tests
// are made from it.
//
// A body is checked under both profiles; a finding under only one of them names it. If a
// rule is called dead, that is proven (see matcher.Trie.Shadowed). What would be expensive
// to prove is left out.
package lint
