// Package rulesdir finds the robots.txt files of a folder, and compiles them
// when a URL first needs them.
//
// A [Dir] is a [matcher.Origins]. What a file stands for is in its name:
//
//	example.com             http and https, each on its default port
//	example.com_8443        http and https, both on that port
//	example.com_443         https alone, before example.com
//	example.com_80          http alone, before example.com
//	https/example.com       https alone, before any of the above
//	https/example.com_8443  https on that port alone, before those
//	http/…                  as https/
//	ftp/…                   as https/; no file outside stands for ftp
//
// Each may have .txt or .robots.txt appended, or be a folder with a file
// robots.txt in it; and each file may be compressed, with .gz or .zst at the
// very end of its name. The port may follow a colon, too (example.com:8443). An
// IPv6 address is written in brackets with dashes ([2001-db8--1]), or with
// colons and with brackets or without; an IDN is written as it is or as
// A-labels; case does not matter. The three folders' names are in lower case.
//
// If two files are for one authority, their bodies differ and none of these rules gives
// precedence, that is an error that names both, and all other such pairs. Names that no host
// can have are ignored and reported: a robots.txt outside a folder HOST, README.md,
// https___example.com, endings such as .html that are not top-level domains.
//
// # What it costs
//
// Open lists the names once and opens no file. After that an authority without a file costs
// one map access. One with a file is read and compiled at its first lookup, unless another
// file has the same body; [Dir.Walk] reads all files. The folder must not change while it
// is open: a file that is added is not seen, and one that is removed is an error when it is
// needed.
//
// # What may be in the folder
//
// Names come from the listing and never from a URL, so no spelling of an authority leads to
// another file. Symbolic links are followed if they are relative and stay inside the
// folder. A file that is listed but cannot be read is an error that names it, because
// treating it as missing would allow everything. Examples are a file without read
// permission, a named pipe, a broken link, and a file that is not compressed as its name
// says. A file that is gzip or zstd is also decompressed under a plain name, because read as
// text it would allow everything; a damaged one is an error.
package rulesdir
