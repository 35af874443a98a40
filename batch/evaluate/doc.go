// Package evaluate turns batches of URLs into verdict bits: it is what one worker
// of a job does between decoding a batch and encoding it.
//
// # The law
//
// In any list, in any order, cut anywhere, and however often one [Evaluator] has
// seen it, each row gets the verdict that it gets alone in a fresh Evaluator,
// explained or not. TestListsGiveEachRowItsOwnVerdict holds it for random lists,
// FuzzLists for any, scripts/law.sh for as many as there is time for.
//
// # From the naive algorithm up
//
// Seven rows, with two robots.txt. a.test has
//
//	User-agent: *
//	Disallow: /private
//	Disallow: /*.pdf$
//
// and b.test disallows nothing:
//
//	0  https://a.test/news/1
//	1  https://a.test/news/2.pdf
//	2  https://b.test/
//	3  https://a.test/news/3
//	4  https://a.test/private/x
//	5  mailto:somebody
//	6  https://a.test/news/4
//
// Step 1, rows. The naive loop does for each row what the law says:
//
//	for row, url := range urls {
//		key, path := split(url)      // "https://a.test", "/news/1"
//		rules := origins.Lookup(key) // hashes and compares the key, reads rules
//		bits[row] = rules.Match(path).Allowed
//	}
//
// It looks one authority up five times, waits for memory each time that the one
// before was another, and walks down the same rules for paths that begin alike.
//
// Step 2, groups (groups.go). A block of 4,096 rows is split into authorities as they
// are written. Each is a group, and has its runs of rows. A row that begins like the one
// before continues the run: one vector comparison a row finds that, and nothing is split.
// Other rows find their group in a hash table. Row 5 has no authority: its verdict is null
// at once.
//
//	https://a.test  rows 0–1, 3–4, 6
//	https://b.test  row 2
//
// A list that is grouped by host yields groups in the order of its rows, a shuffled
// one has hosts that came up often together. The hash has a key of the process, so
// that nobody can choose authorities that make the table slow.
//
// Step 3, lookup. The authorities of a block are looked up 64 at a time. The source
// of the rules reads memory for all of them at once instead of waiting for each; with
// more, the first one's rules leave the cache before they are used.
//
// Step 4, prefixes ([matcher.DecideRows]). A walk down a.test's rules with /news/1
// parts from them at the n. So the rules without wildcards say "allowed" for every
// URL that begins with https://a.test/n: rows 1, 3 and 6 need no walk, but one
// comparison with that prefix; their bits are set by ranges. Row 4 differs in its
// byte behind the slash and is walked: denied, up to https://a.test/private. Only
// /*.pdf$ may still change a verdict of the first prefix; row 4 is denied as it is.
// The four paths of that prefix are undecided and wait until the block ends, where
// their signatures, sets of the bytes in them, are made and compared with the rule's,
// many at a time. Only /news/2.pdf has the bytes that .pdf needs; it is matched, and its
// bit is cleared. matcher/DESIGN.md has what a walk and a signature are.
//
//	row      0 1 2 3 4 5 6
//	prefix   1 1 1 1 0 - 1
//	verdict  1 0 1 1 0 - 1
//
// BenchmarkSteps has these steps take turns on made-up frontiers: CPU time as part of
// step 1's, for 1,000 hosts with 200 URLs each, those shuffled, and 40,000 hosts with 5
// each.
//
//	                 grouped  shuffled  flat
//	step 2, groups      0.66      1.13  0.87
//	step 3, lookup      0.61      0.91  0.57
//	step 4, prefixes    0.60      0.94  0.57
//
// Rules of made-up hosts are dense, and step 4 saves little there; bench's
// BenchmarkEngine has public URLs, most of which no rule concerns.
//
// # A URL's way, function by function
//
// What a URL of one agent's job without times meets between Evaluate and its bit, in order,
// and where that is read:
//
//	 1  Evaluate, evaluateBlock, evaluateRows   evaluator.go         a block
//	 2  groupRows, groupPart                    groups.go            step 2
//	 3  Scratch.SplitAuthority                  matcher/urls
//	 4  number, addRow                          groups.go
//	 5  PrefixRun                               matcher/internal/kernels
//	 6  lookup                                  evaluator.go         step 3
//	 7  LookupAll                               matcher/table.go, or io/rules/rulepack
//	 8  evaluateGroup                           evaluator.go         step 4, a group
//	 9  DecideRows                              matcher/decider.go   a run of its rows
//	10  PrefixRun                               matcher/internal/kernels
//	11  decideRow, decidePrefix                 matcher/decider.go   a row with another prefix
//	12  prefixVerdict, literalMatch, walk       matcher/match.go
//	13  allow; Finish                           matcher/decider.go   its bit; the block's end
//	14  prepare                                 matcher/paths.go     undecided paths
//	15  Sign                                    matcher/internal/kernels
//	16  resolve                                 matcher/decider.go
//	17  skipUnaffected                          matcher/paths.go
//	18  FirstFit                                matcher/internal/kernels
//	19  unaffected                              matcher/paths.go
//	20  matchSuffix                             matcher/suffixes.go
//	21  Trie.resolve                            matcher/match.go
//	22  bestSuffix                              matcher/suffixes.go
//	23  change                                  matcher/decider.go   its bit again
//
// Most rows end at 10 or 13. matcher/DESIGN.md explains 10 to 23 in this order.
//
// # Many agents
//
// A job for many agents decides a row once for each distinct trie (compiled group) of its
// authority, for agents that obey the same groups have the same verdicts (spread.go). The bits of a block
// are kept by trie. When the block ends, each agent gets those of the trie that it obeys, a
// run of rows at a time; or one verdict is made of all tries' bits, eight rows at a time,
// and only rows that somebody is denied look up which agents these are. For 166 agents a
// job from Arrow to Arrow takes 2.1 times the CPU time that it takes for one, over a public
// list, with one verdict or a column each (bench/record/agents-2026-11-23.txt).
//
// # Times
//
// With [Options].Timelines each row has a time, and an authority has spans, in each of
// which something else was known of it. Say a.test had no robots.txt before noon, and
// rows 0, 3 and 4 are from the morning, 1 and 6 from the afternoon. Then the groups of
// step 2 are cut by span (history.go):
//
//	https://a.test  until noon    rows 0, 3–4
//	https://a.test  from noon on  rows 1, 6
//	https://b.test  always        row 2
//
// Spans are taken and opened 64 authorities at a time, as step 3 does it, and rows that follow
// each other in a span are cut by one comparison each. From there on such a group is one as any
// other. A list with 200 URLs a host takes 1.14 times the CPU time with the times of one crawl
// that it takes without times, 1.35 times with those of two years in any order: these rows
// come under three robots.txt instead of one (bench/record/hosts-times-2026-11-23.txt).
//
// # What is not in the loop
//
// Authorities whose rules are not asked (none known, unreachable) need no walk:
// their rows have one outcome, but for /robots.txt. An explained row is matched
// alone, for it names its rule. A dictionary column is copied into a plain one, a
// block at a time. Facts are added once a group.
//
// # Bounds
//
// Time is that of the matcher for each row, plus a constant a row and byte. Memory
// is a few bytes for each of the 4,096 rows of a block and the bytes of a dictionary's
// block; nothing refers to a batch after Evaluate has returned.
package evaluate
