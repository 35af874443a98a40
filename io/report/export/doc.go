// Package export makes tables of what rule sources know, for people who study it with
// SQL: authorities, agents, rules, sitemaps, other records and captures.
//
//	listing, err := found.List(ctx)
//	source := tableio.NewRecords("rules", export.Rows(listing, export.Rules, options))
//	batch.Run(ctx, source, sink, ...)
//
// Rows come in the order of surt_host_name, then of authority, then of lines. A table
// has a row for each user-agent line and one for each rule line, which share the number
// of their group, and none for each pair of them: a robots.txt of half a megabyte has
// fifteen thousand of either.
//
// # Surveys
//
// [Survey] has a row for each authority and agent, [SurveyChanges] one for each change of
// what an agent is denied. They go through the spans of an authority, oldest first, read
// each body once, and keep for each agent what held last: a history takes no more memory
// than one time.
//
// # What a rule pack has
//
// Rule packs have rules as they were compiled. A group is then what all rules for one
// agent were merged into, and the other records are sitemaps and crawl-delays alone, of
// which no line is known.
//
// # Bounds
//
// A record has at most Options.Rows rows and about 8 MiB; one body is in memory at a
// time.
package export
