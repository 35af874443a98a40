// Package stats counts, from a survey, how many sites block which agents.
//
// A [Tally] takes the survey's records. Sites are its authorities or their registered
// domains. A site is counted for each agent by how much it denies the agent, and by whose
// rules. With [Ranks] it is counted again among the first hundred, thousand and so on of
// a list of domains. [Tally.Tables] returns the sums, one [Count] for each rank and
// agent, which can be written as text, csv or JSON.
//
// A registered domain may have several authorities. It denies all if all of them do,
// none if none denies anything, and some otherwise.
//
// Memory is a few bytes for each rank and agent; for registered domains a byte for each
// domain and agent and the domain's name.
package stats
