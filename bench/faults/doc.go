//go:build linux

// Faults measures what only a whole process shows of hostile inputs: time and memory. It
// runs the program on small inputs that expand to large ones, with limited memory, and prints
// how that ended. scripts/measure.sh faults runs it and records its table.
//
//	go run ./bench/faults -robotsbatch PROGRAM
//
// Each run has one of these outcomes:
//
//	success   exit status 0
//	refused   an error, and exit status 1
//	panics    a stack trace, or an internal error
//	kills     out of memory under the limit, or a signal
//	hangs     not done after two minutes
//
// It fails with any panic, kill or hang, with a success that cannot be right, and if a run took
// more memory than it was given.
//
// Hostile robots.txt and URLs are tested in bench, by TestHostileShapes and its benchmark.
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
