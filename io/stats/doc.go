// Package stats counts a survey of who blocks whom: the tables that studies publish.
//
// A [Tally] takes the survey's records. Sites are its authorities, or the registered
// domains that these are of; a site is counted for each agent by how much that is denied,
// and by whose rules. With [Ranks] it is counted again among the first hundred, thousand
// and so on of a list of domains. [Tally.Tables] has the sums, one [Count] for each rank
// and agent, and they are written as text, csv or JSON.
//
// A registered domain has several authorities. It is denied all when all of these are,
// none when none is, else some.
//
// Memory is a few bytes for each rank and agent; for registered domains a byte for each
// domain and agent and the domain's name.
package stats
