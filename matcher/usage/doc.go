// Package usage reads what a robots.txt says of the use of what was fetched: the statements
// of Content-Usage (draft-ietf-aipref-attach-05, draft-ietf-aipref-vocab-08) and
// Content-Signal (contentsignals.org), and the licences of License (RSL 1.0). Neither draft
// has the consensus of its working group.
//
// It reads single values. Package robotstxt finds their lines, and package matcher finds
// the statement that a path selects.
package usage
