// Package evaluate turns batches of URLs into verdict bits: it is what one worker
// of a job does between decoding a batch and encoding it.
//
// # The law
//
// Each row gets the verdict that it gets alone in a fresh [Evaluator], explained or
// not: in any list, in any order, cut anywhere, and however often the Evaluator has
// seen it. TestListsGiveEachRowItsOwnVerdict checks this for random lists, FuzzLists
// for any; go test ./batch/evaluate -run Lists -lists 20000 -timeout 0 takes ten minutes.
//
// # From the naive algorithm up
//
// The example has seven rows and two robots.txt. a.test has
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
// Step 1, rows. The naive loop treats each row alone:
//
//	for row, url := range urls {
//		key, path := split(url)      // "https://a.test", "/news/1"
//		rules := origins.Lookup(key) // hashes and compares the key, reads rules
//		bits[row] = rules.Match(path).Allowed
//	}
//
// It looks up the same authority five times, waits for memory whenever the authority
// changes, and walks down the same rules again for paths that begin alike.
//
// Step 2, groups (groups.go). A block of 4,096 rows is divided by authority, as written in
// the URL. The rows of an authority are a group, a list of runs of rows. A row that begins
// like the row before continues its run: one vector comparison per row finds that, and the
// URL need not be split. Other rows find their group in a hash table. Row 5 has no authority,
// so its verdict is null at once.
//
//	https://a.test  rows 0–1, 3–4, 6
//	https://b.test  row 2
//
// In a list grouped by host, the groups are in the order of the rows. In a shuffled list,
// rows of the same host come together. The hash has a key that each process chooses, so
// that nobody can construct authorities that make the table slow.
//
// Step 3, lookup. The authorities of a block are looked up 64 at a time. The source of the
// rules reads memory for all of them at once instead of waiting for each. With more than
// 64, the first one's rules would leave the cache before they are used.
//
// Step 4, prefixes ([matcher.DecideRows]). A walk down a.test's rules with /news/1 leaves
// them at the n. So the rules without wildcards say "allowed" for every URL that begins with
// https://a.test/n. Rows 1, 3 and 6 need no walk, only a comparison with that prefix, and
// their bits are set by ranges. Row 4 has a different byte after the slash, so it is walked:
// denied, up to https://a.test/private. Only /*.pdf$ may still change the verdict of the
// first prefix; no rule can change that of row 4. The four paths of the first prefix are
// undecided, and wait until the block ends. Then their signatures, sets of the bytes in
// them, are made and compared with the rule's signature, many at a time. Only /news/2.pdf
// has the bytes that .pdf needs. It is matched, and its bit is cleared. matcher/DESIGN.md
// explains walks and signatures.
//
//	row      0 1 2 3 4 5 6
//	prefix   1 1 1 1 0 - 1
//	verdict  1 0 1 1 0 - 1
//
// BenchmarkSteps measures these steps in turns on made-up frontiers: 1,000 hosts with 200
// URLs each, grouped and shuffled, and 40,000 hosts with 5 URLs each. This is their CPU
// time, divided by that of step 1:
//
//	                 grouped  shuffled  flat
//	step 2, groups      0.66      1.13  0.87
//	step 3, lookup      0.61      0.91  0.57
//	step 4, prefixes    0.60      0.94  0.57
//
// The made-up hosts have many rules that match, so step 4 saves little here. bench's
// BenchmarkEngine has public URLs, and most of these match no rule.
//
// # A URL's way, function by function
//
// In a job for one agent and without times, a URL passes these functions between Evaluate and
// its bit:
//
//	 1  Evaluate, evaluateBlock, evaluateRows   evaluator.go         a block
//	 2  groupRows, groupPart                    groups.go            step 2
//	 3  Scratch.SplitAuthority                  matcher/urls
//	 4  number, addRows                         groups.go
//	 5  PrefixRun                               matcher/internal/kernels
//	 6  lookup                                  evaluator.go         step 3
//	 7  LookupAll                               io/rules/rulepack
//	 8  evaluateGroup                           evaluator.go         step 4, a group
//	 9  DecideRows                              matcher/decider.go   a run of its rows
//	10  PrefixRun                               matcher/internal/kernels
//	11  decideRow, decidePrefix                 matcher/decider.go   a row with another prefix
//	12  prefixVerdict, literalMatch, walk       matcher/match.go
//	13  setVerdicts; Finish                     matcher/decider.go   its bit; the block's end
//	14  prepare                                 matcher/paths.go     undecided paths
//	15  Sign                                    matcher/internal/kernels
//	16  resolve                                 matcher/decider.go
//	17  skipUnaffected                          matcher/paths.go
//	18  FirstFit                                matcher/internal/kernels
//	19  Trie.resolve                            matcher/match.go
//	20  bestSuffix                              matcher/suffixes.go
//	21  matchSuffix                             matcher/suffixes.go
//	22  mustStayAllowed                         matcher/decider.go   no: its bit again
//
// Most rows end at 10 or 13. matcher/DESIGN.md explains 10 to 22 in this order.
//
// # Many agents
//
// Agents that obey the same groups have the same verdicts. So a job for many agents decides
// a row once for each distinct trie (compiled group) of its authority (spread.go), and keeps
// the bits of a block by trie. When the block ends, all agents get the bits of the trie that
// most agents of a row's authority obey, a block at a time. Then agents that obey other tries
// get the bits of these instead, a run of rows at a time. If there is one combined verdict, it
// is made from the bits of all tries, eight rows at a time, and only denied rows look up which
// agents are denied. On a public list, a job for 166 agents from Arrow to Arrow takes 1.1
// times the CPU time of a job for one, with one verdict or with a column for each agent. With
// 100,000 hosts that name most of the agents, it takes 1.6 to 1.7 times
// (bench/record/agents-2026-11-24.txt).
//
// # Times
//
// With [Options].Timelines each row has a time, and an authority has spans, each with the
// rules that held during it. Say a.test had no robots.txt before noon, rows 0, 3 and 4 are
// from the morning, and rows 1 and 6 from the afternoon. Then the groups of step 2 are cut
// by span (history.go):
//
//	https://a.test  until noon    rows 0, 3–4
//	https://a.test  from noon on  rows 1, 6
//	https://b.test  always        row 2
//
// Spans are taken and opened 64 authorities at a time, as in step 3. From there on, such a group
// is a group like any other. Rows whose robots.txt was too old are counted before the cut (outdated.go), while
// the rows of an authority still follow each other. A list with 200 URLs per host takes 1.12
// times the CPU time that it takes without times if all times are from one crawl, and 1.26 times
// if they are from two years in any order, because these rows need three robots.txt instead of
// one (bench/record/times-2026-11-24.txt).
//
// # What is not in the loop
//
// Authorities without rules to match (none known, unreachable) need no walk: their rows
// have one outcome, except /robots.txt. An explained row is matched alone, because its rule
// is needed. A dictionary column is copied into a plain one, a block at a time. Facts are
// added once per group.
//
// # Bounds
//
// Each row takes the matcher's time, plus a constant per row and byte. Memory is a few bytes
// for each of the 4,096 rows of a block, and the bytes of a dictionary's block. Nothing
// refers to a batch after Evaluate has returned.
package evaluate
