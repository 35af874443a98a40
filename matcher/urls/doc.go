// Package urls splits URLs into the key of their authority and their path, and normalises
// paths as RFC 9309 compares them.
package urls
