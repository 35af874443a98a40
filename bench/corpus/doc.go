// Package corpus makes up crawl frontiers and robots.txt files of a realistic
// shape, for benchmarks and tests.
//
// Everything follows from a seed: origin i, body b and URL j of an origin are
// functions of the seed and their number, made when they are asked for. So a
// corpus takes no memory, whatever its size, its parts may be made in any order
// and by several goroutines, and the same [Options] give the same bytes on every
// machine.
//
//	c := corpus.New(corpus.Options{Origins: 1_000_000, URLs: 100_000_000})
//	for o, url := range c.URLs() {
//		// o.Host, o.Body, …; the URLs of an origin come together.
//	}
//
// What the shapes are modelled on: URLs an origin have a heavy tail, and a few
// bodies stand for many origins, as those of web shop software do. URLs that are
// denied are made from the patterns that deny them. All hosts are below the
// reserved names .example and .test.
//
// Bodies have the composition and the sizes of public robots.txt files, as
// measured on 2,135 of them; beside it is what is made by default:
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
// What is anything else is pages that servers send for any address: 103 of the
// files, nothing but such pages, have three fifths of all bytes. Without them a
// body has 1,690 bytes, and 1,740 as made. Nearly all groups that are like one
// before only say Disallow: /, and a few files have five hundred of those.
package corpus

//go:generate ../../scripts/sample.sh
