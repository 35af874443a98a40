// Package meter counts how far a step of work has come, for whoever shows progress.
//
// Work that may take long starts a step with what its context carries, and adds to it:
//
//	step := meter.Start(ctx, "reading captures", meter.Bytes, total)
//	step.Add(n)
//
// Without [With] nobody looks, and a step costs nothing.
package meter
