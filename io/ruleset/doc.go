// Package ruleset opens rule sources by name and makes one [matcher.Origins] of them.
//
// A source is a folder of robots.txt files, a rule pack, WARC files, tables of
// captures, or a single robots.txt; any of them may be in an object store. [Find]
// looks at each name and finds out which it is; [Found.Open] then gives a [Set] to
// look authorities up in, and [Found.AddTo] adds all sources to a rule pack.
//
//	found, err := ruleset.Find(ctx, ruleset.Options{Sources: []string{"overrides/", "crawl.warc.gz"}})
//	set, err := found.Open(ctx)
//
// # Which source decides
//
// The first source that knows an authority decides. All captures are one set, in which
// redirects lead from any source into any other; it is made into a temporary rule pack
// first. An authority that a source before the captures knows is left out of that pack,
// so the pack can stand at the place of the first captures.
//
// # Rules that match nothing
//
// Rules for no authority would allow everything in silence. So it is an error when no
// source has any, unless Options.AllowNone is set; see [Set.Misspelt] for agents that
// no robots.txt names.
package ruleset
