// Package hosts finds out which robots.txt a crawler must fetch before a frontier can be
// judged: those that are missing in its rules, and those that are too old.
//
//	waiting := hosts.NewWaiting(memory, folder)   // counts a frontier's rows by authority
//	batch.Run(ctx, frontier, batch.Discard, waiting.NewEvaluator, ...)
//	wanted, err := hosts.Find(waiting, rules, options)
//	tables.NewRecords("hosts", wanted.Rows(...))  // most wanted first
//
// # Bounds
//
// Memory is bounded whatever the frontier: authorities that it does not hold go to
// temporary files, some 50 bytes for each authority of a batch of rows, and are added up
// by merging. Sixty million authorities take some 3 GB of disk.
package hosts
