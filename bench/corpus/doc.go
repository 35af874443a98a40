// Package corpus generates crawl frontiers and robots.txt files of a realistic shape, for
// benchmarks and tests.
//
// Everything is derived from a seed: origin i, body b and URL j of an origin are functions
// of the seed and their numbers, computed on demand. So a corpus takes no memory, whatever
// its size. Its parts may be made in any order and by several goroutines, and the same
// [Options] give the same bytes on every machine.
//
//	c := corpus.New(corpus.Options{Origins: 1_000_000, URLs: 100_000_000})
//	for o, url := range c.URLs() {
//		// o.Host, o.Body, …; the URLs of an origin come together.
//	}
//
// The shapes are modelled on real data: the number of URLs per origin is heavy-tailed, and
// a few bodies belong to many origins, like those of web shop software. URLs to be denied
// are made from the patterns that deny them. All hosts are under the reserved top-level
// domains .example and .test.
//
// Bodies have the composition and the sizes of public robots.txt files. The first column
// was measured on 2,135 of them, the second on generated ones with default options:
//
//	                                            measured      made
//	bytes of a body, the mean                     4,100     4,190
//	  one in ten has fewer than                       67       135
//	  half of them                                   554       750
//	  nine in ten                                  3,800     4,300
//	  99 in a hundred                             72,000    80,000
//	  the largest                              1,373,000 1,361,000
//	bytes of lines that are allow or disallow      27 %      28 %
//	  sitemap                                        5 %       4 %
//	  user-agent                                     3 %       3 %
//	  comment                                        3 %       3 %
//	  blank or crawl-delay                           1 %       0 %
//	  anything else                                 61 %      61 %
//	rules of a body, the mean and half of them     39, 12    49, 16
//	rules of a group                                 9.6       9.8
//	groups of a body                                 4.1       5.0
//	  with the rules of one before                  64 %      63 %
//	rules with "*" or "$"                           25 %      18 %
//	  with "$" at the end                            3 %       7 %
//	  with a query                                   8 %      14 %
//
// "Anything else" is pages that servers send for any address: 103 of the files consist of
// such a page alone and have three fifths of all bytes. Without these, a body has 1,690
// bytes on average, 1,740 if generated. Nearly all groups that are equal to an earlier one
// only have Disallow: /, and a few files have five hundred of those.
package corpus

//go:generate rm -rf sample
//go:generate go run ./gen -sample -out sample -rows 512 -formats arrow,txt.zst
//go:generate go run ./gen -sample -out sample -rows 512 -formats arrows -compression lz4 -rules=false
