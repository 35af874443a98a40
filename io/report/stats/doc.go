// Package stats counts, from a survey, how many sites block which agents.
//
// A [SiteCounter] takes the survey's records. Sites are registered domains, hosts or authorities.
// A site is counted for each agent by how much it denies the agent, and by whose rules; one
// that was unreachable is counted as that. With [Ranks] it is counted again among the first
// hundred, thousand and so on of a list of domains, and in each month of a history.
// [SiteCounter.Table] returns the sums, one [Count] for each month, rank and agent, which can be
// written as text, csv or JSON. With [Options.Uses] it counts what sites state of uses instead.
//
// A site may have several authorities. It denies all if all of them do, none if none denies
// anything, and some otherwise; those that were unreachable count only if all were.
//
// Memory is a few bytes for each rank and agent, and a byte for each site, agent and month,
// with the site's name, until [SiteCounter.Flush].
package stats
