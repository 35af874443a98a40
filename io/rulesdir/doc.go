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
//	https/example.com_8443  https on that port alone, likewise
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
// Two files for one authority that none of these rules puts in order are an
// error that names both. Names that no host has are ignored and reported: a
// robots.txt that does not say whose it is, README.md, https___example.com, endings
// such as .html that are no top-level domain.
//
// # What it costs
//
// Open lists the names, once, and opens no file. An authority without a file
// then costs one look into a map, and one with a file is read and compiled when
// it is first looked up, unless another file has the same body; [Dir.Walk] reads
// them all. The folder must not change
// while it is open: a file that appears later is not seen, and one that
// disappears is an error when it is needed.
//
// # What may be in the folder
//
// Names come from the listing and never from a URL, so no authority, however it
// is written, leads to another file. Symbolic links are followed where they are
// relative and stay inside the folder. A file that is listed but cannot be read
// (for want of permission, because it is a named pipe or a link that leads
// nowhere, because it is not compressed as its name says) is an error that names
// it: taking it for a missing one would allow everything.
package rulesdir
