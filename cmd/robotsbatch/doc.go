// Command robotsbatch says of every URL of a crawl frontier whether robots.txt
// (RFC 9309) lets a crawler fetch it: offline, in batches, in the order of the
// input.
//
// This folder is wiring. A run passes through its files in this order, and each uses the ones
// below it:
//
//	main.go        run, which picks the command, and start, which executes it
//	help.go        the table of commands; help texts
//	compile.go, explain.go, export.go, …  a file a command: configuration, flags, what it does
//	job.go         batch.Run for each output, which io/frontier/outputs completes; the plan
//	outputs.go     -out → outputs, of which io/frontier/outputs opens the sinks
//	subcommand.go  what all commands have, such as exit statuses; -rules → io/rules/ruleset
//
// manual holds the pages of help. internal/config holds the parts of which the commands'
// configurations are made, with their flags, checks and words. internal/cli makes parsing,
// help, man page and completions of the commands' flags, internal/console writes messages
// and progress, which io/report words, and internal/heap keeps the program within -memory.
package main
