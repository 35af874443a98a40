// Package urls splits URLs into the key of their authority and their path, and gives
// paths the spelling under which RFC 9309 compares them.
package urls
