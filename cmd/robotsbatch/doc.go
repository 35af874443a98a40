// Command robotsbatch says of every URL of a crawl frontier whether robots.txt
// (RFC 9309) lets a crawler fetch it: offline, in batches, in the order of the
// input.
//
// A run is one way through the files of this folder:
//
//	main.go      signals, then run, which picks the subcommand
//	options.go   every flag: name, text, where its value goes
//	commands.go  every command's help;  parse.go  the command line
//	flags.go     what the main job's flags mean together
//	inputs.go    names → inputs;  open.go  an input → a batch.Source
//	rules.go     folders of robots.txt files, rule packs, captures (captures.go)
//	             → a matcher.Origins
//	stores.go    object stores: URLs, memory;  storerules.go  rules in them
//	outputs.go   names → outputs; the sink of one output
//	job.go       batch.Run for each output, exit status
//	console.go, message.go  messages; progress.go, summary.go  what a run says of itself
//	compile.go, inspect.go           rule packs
//	explain.go, verify.go, version.go  the other subcommands
//	help.go, completion.go  what comes from the tables; manual/ the pages
package main
