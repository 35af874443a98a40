// Package manifest records what a job has done: which inputs, rules and options
// gave which output, with how many rows, and with checksums of the output and of
// each batch in it. A job that was interrupted goes on from it, and outputs can
// be checked against it.
//
// # The file
//
// A manifest is UTF-8 text, a JSON object a line. The last key of each is a
// checksum of the line's octets before it:
//
//	{"job":{"manifest":1,"program":…,"options":{…},"rules":[…]},"crc32c":"0a1b2c3d"}
//	{"rule_files":[{"source":0,"name":"example.com","size":120,"modified":…},…],"crc32c":…}
//	{"output":{"inputs":[…],"output":{…},"xxh3_128":…,"parts":[…],"counts":{…}},"crc32c":…}
//	{"end":{"outputs":64},"crc32c":…}
//
// The first line says what the job was, the last that it came to its end.
// Between them is a line for each output that is complete, in the order in which
// they were completed, and before it the files of a rules folder that were read
// for the first time then.
//
// Lines are only ever added. So a job of a million inputs writes each line once,
// and what a killed one leaves is a manifest that says a little less, with at
// worst a last line that is cut: its checksum or its LF is missing, and readers
// drop it. A broken line anywhere else is an error, and so is a manifest of a
// newer version. Unknown keys are ignored.
//
// Checksums of outputs are XXH3 with 128 bits, as xxhsum -H2 prints them. They
// find what disks and networks do, and are no protection against somebody who
// changes output and manifest together.
package manifest
