// Package manifest records what a job has done: which inputs, rules and options
// gave which output, with how many rows, and with checksums of the output and of each
// batch in it. An interrupted job resumes from it, and outputs are verified with it.
//
// # The file
//
// A manifest is UTF-8 text, a JSON object a line. The last key of each is a
// checksum of the line's bytes before it:
//
//	{"job":{"manifest":2,"program":…,"options":{…},"rules":[…]},"crc32c":"0a1b2c3d"}
//	{"rule_files":[{"source":0,"name":"example.com","size":120,"modified":…},…],"crc32c":…}
//	{"output":{"inputs":[…],"output":{…},"xxh3_128":…,"parts":[…],"counts":{…}},"crc32c":…}
//	{"end":{"outputs":64},"crc32c":…}
//
// The first line says what the job was, and the last that it ended. Between them each
// complete output has a line, in the order of completion. Before it come the files of
// rules folders that were read for the first time since the output before.
//
// Lines are only appended, so a job of a million inputs writes each line once. A killed
// job leaves a shorter manifest, whose last line may be cut: its checksum or its LF is
// missing, and readers drop it. A damaged line anywhere else is an error, and so is a
// manifest of a newer version. Unknown keys are ignored.
//
// Checksums of outputs are XXH3 with 128 bits, as xxhsum -H2 prints them. They find
// errors of disks and networks. They do not protect against somebody who changes output
// and manifest together.
package manifest
