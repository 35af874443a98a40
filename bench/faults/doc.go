//go:build linux

// Faults measures what only a whole process shows of hostile inputs and bad surroundings:
// time, memory, signals, full disks. Each section runs the program thousands of times, with
// limited memory, and counts the outcomes. scripts/measure.sh faults runs it and records its tables.
//
//	go run ./bench/faults -robotsbatch PROGRAM [-n 1] [-seed 1] [SECTION...]
//
// The same seed makes the same inputs. Each run has one of these outcomes:
//
//	done      success
//	refused   an error, and exit status 1
//	panics    a stack trace, or an internal error
//	kills     out of memory under the limit, or a signal
//	hangs     not done after half a minute
//
// The program fails with any panic, kill or hang.
//
// The sections process and kills are about a job's environment rather than its input. Their
// tables have the result of each fault, and they fail if a result is not the expected one.
//
// Changed and cut bytes are tested where the formats are: TestDamage of
// io/frontier/outputs for inputs of all formats, the hostile tests of arrowipc, parquetio,
// rulepack and compress, and those of io/report/verify for outputs.
package main
