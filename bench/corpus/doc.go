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
// What the shapes are modelled on: the number of rules follows the quantiles of
// two thousand real files, URLs an origin have a heavy tail, and a few bodies
// stand for many origins, as those of web shop software do. URLs that are denied
// are made from the patterns that deny them. All hosts are below the reserved
// names .example and .test.
package corpus

//go:generate ../../scripts/sample.sh
