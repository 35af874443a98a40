//go:build linux

// Faults measures how robotsbatch handles broken and hostile inputs. Each section breaks
// something thousands of times, runs the program on it with limited memory, and counts the
// outcomes. scripts/faults.sh runs it and records its tables.
//
//	go run ./bench/faults -robotsbatch PROGRAM [-n 1] [-seed 1] [SECTION...]
//
// The same seed breaks the same bytes. Each run has one of these outcomes:
//
//	same      the output is that of the intact input, byte for byte
//	refused   an error, and exit status 1
//	silent    success, with another output
//	panics    a stack trace, or an internal error
//	kills     out of memory under the limit, or a signal
//	hangs     not done after half a minute
//
// Silent is right only if the changed byte leaves another valid file: a letter of a string,
// an offset that is still in order. So outputs are compared: another value in one column
// may be right, but lost rows or changes in several columns never are. Faults are counted
// by format and by kind of difference. Some samples also tell which part of the file a byte
// belongs to, and whether that part may have another valid value. The program fails if
// another outcome was silent, and with any panic, kill or hang.
//
// The section fields runs with -memory 64MiB. There a run that takes 100 MiB more is a
// kill, and one of over ten seconds a hang.
//
// The section passed is about columns that are copied without decoding. A changed byte in
// them must appear as the same changed byte in the output, which is silent, with no other
// change.
//
// The sections process and kills are about a job's environment rather than its input. Their
// tables have the result of each fault, and they fail if a result is not the expected one.
package main
