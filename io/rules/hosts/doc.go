// Package hosts finds out which robots.txt a crawler must fetch before a frontier can be
// evaluated: those missing in its rules, and those that are too old.
//
//	waiting := hosts.NewWaiting(memory, folder)   // counts a frontier's rows by authority
//	batch.Run(ctx, frontier, batch.Discard, waiting.NewEvaluator, ...)
//	wanted, err := hosts.Find(waiting, rules.Fetch, options)
//	tableio.NewRecords("hosts", wanted.Rows(...))  // most wanted first
//
// # Bounds
//
// Memory is bounded for any frontier. Counts that do not fit go to temporary files,
// about 50 bytes for each authority of a batch of rows, and are added up by merging.
// Sixty million authorities take about 3 GB of disk.
package hosts
