//go:build linux

// Faults measures what only a whole process shows of hostile inputs: time and memory. Each
// section runs the program thousands of times, with limited memory, and counts the outcomes.
// scripts/measure.sh faults runs it and records its tables.
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
// What is about a job's environment rather than its input is tested in cmd/robotsbatch: what
// fails in the system, such as a full disk, and jobs that are killed and resumed, by
// TestEveryCallFails, files that change under a job by TestChangedMeanwhile; changed packs also in
// rulepack.
//
// Changed and cut bytes are tested where the formats are: TestDamage of
// io/frontier/outputs for inputs of all formats, the hostile tests of arrowipc, parquetio,
// rulepack and compress, and those of io/report/verify for outputs.
package main
