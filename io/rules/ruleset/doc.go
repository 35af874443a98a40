// Package ruleset opens rule sources by name and makes one [matcher.Origins] of them.
//
// A source is a folder of robots.txt files, a rule pack, WARC files, tables of
// captures, or a single robots.txt; any of them may be in an object store. [Find] finds
// out what each name is. [Found.Open] then returns a [Set] to look authorities up in,
// and [Found.Compile] writes a rule pack of all sources.
//
//	found, err := ruleset.Find(ctx, ruleset.Options{Sources: []string{"overrides/", "crawl.warc.gz"}})
//	set, err := found.Open(ctx)
//
// # Which source decides
//
// The first source that knows an authority decides. All captures form one set, because
// redirects may lead from any source into any other. The set becomes a temporary rule
// pack in place of the first captures. That pack leaves out authorities that a source
// before it knows.
//
// # Rules that match nothing
//
// Sources without any rules would silently allow everything. So they are an error
// unless Options.AllowNone is set. See [Set.Misspelt] for agents that no robots.txt
// names.
package ruleset
