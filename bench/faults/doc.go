//go:build linux

// Faults measures what robotsbatch does with broken and hostile inputs: each
// section breaks something thousands of times, runs the program on it under a
// limit of memory, and counts what came of it. scripts/faults.sh runs it and
// records its tables.
//
//	go run ./bench/faults -robotsbatch PROGRAM [-n 1] [-seed 1] [SECTION...]
//
// The same seed breaks the same bytes. Every run ends in one of these:
//
//	same      the output is that of the sound input, byte for byte
//	refused   an error, and the exit status of one
//	silent    success, with another output
//	panics    a stack trace, or an internal error
//	kills     out of memory under the limit, or a signal
//	hangs     not done after half a minute
//
// Silent is right only if the broken byte leaves another valid file: a letter of a
// string, an offset that is still in order. So outputs are compared: another value of one
// column may be right, lost rows and values of several columns never are. Faults are
// counted by format and by what became different; some samples also say what part of the
// file a byte is, and whether that part may have another valid value. The program fails
// when anything else was silent, and with any panic, kill or hang.
//
// The section fields runs under -memory 64MiB: there a run that takes 100 MiB more
// is a kill, and one of over ten seconds a hang.
//
// The section passed is about columns that are copied as they lie: a broken byte of
// theirs must come out as the same broken byte, which is silent, and nothing else.
//
// The sections process and kills are about what happens to a job rather than to
// what it reads: they say in their tables what came of each fault, and fail when
// it is not what should.
package main
