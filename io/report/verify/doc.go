// Package verify checks whether outputs and rule packs are still as they were written.
//
// An output with a manifest is compared with its checksums, part by part, so that a finding
// names the damaged batch or row group. Every output is also read to its end, which finds
// what the checks in Arrow, Parquet, gzip and zstd find.
package verify
