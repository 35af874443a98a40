// Package config holds the parts of which the configurations of commands are made: what a
// command line says of inputs, rules, columns, outputs, and of what a command may use. Each
// part has its flags, checks and words.
package config

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
)

// Parts of a help text that flags are in.
const (
	InputTopic   = "Input"
	RulesTopic   = "Rules"
	OutputTopic  = "Output"
	RunningTopic = "Running"
)

// Topics are these parts, in order.
var Topics = []string{InputTopic, RulesTopic, OutputTopic, RunningTopic}

// OfOutputs is [cli.Formats.Of] for formats of outputs.
const OfOutputs = "outputs"

// Formats for which flags hold.
var (
	delimitedInputs = &cli.Formats{Names: []string{"csv", "tsv"}, Of: "inputs"}
	textInputs      = &cli.Formats{Names: format.Names(format.Format.IsLines), Of: "inputs"}
	namedInputs     = &cli.Formats{Names: format.Names(isTable), Of: "inputs"}
	binaryOutputs   = &cli.Formats{Names: format.Names(format.Format.IsBinary), Of: OfOutputs}
	packedOutputs   = &cli.Formats{Names: binaryOutputs.Names, Of: OfOutputs, Else: option.Messagef("text is compressed when the name of %s ends in .zst or .gz", option.Out)}
	tableOutputs    = &cli.Formats{Names: format.Names(isTable), Of: OfOutputs, Else: option.Messagef("text has URLs only")}
	captureRules    = &cli.Formats{Names: []string{"captures"}, Of: "and what is compiled of them"}
)

// ResolveNames replaces file:// URLs by the paths of local files, and returns an error for
// URLs that cannot be opened. name is the option that has them. Errors show it without its value,
// because a URL may have credentials.
func ResolveNames(name option.Name, paths ...*string) error {
	for _, path := range paths {
		local, err := blob.LocalName(*path)
		if err == nil && blob.IsURL(local) {
			_, err = blob.ParseURL(local)
		}
		if err != nil {
			return option.Usagef("%s: %w", name, err)
		}
		*path = local
	}
	return nil
}

// pointers returns pointers to the elements of a list.
func pointers(list []string) []*string {
	all := make([]*string, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// oneFormat returns the value of a flag that takes the name of a format and sets dst to the format.
// available reports whether a format may be given.
func oneFormat(dst *format.Format, available func(format.Format) bool) cli.Choice {
	names := format.Names(available)
	return cli.Choice{Words: names, Set: func(s string) error {
		f, ok := format.Parse(s, available)
		if !ok {
			return fmt.Errorf("want one of %s", strings.Join(names, ", "))
		}
		*dst = f
		return nil
	}}
}

// isTable reports whether a format has columns and can be written.
func isTable(f format.Format) bool { return f.Writable() && f != format.Text }

// addEach returns the function for a flag that takes names separated by commas. It adds the values
// of each name, which parse returns, to dst, unless they are there already.
func addEach[T comparable](dst *[]T, parse func(string) ([]T, error)) func(string) error {
	return func(s string) error {
		for _, name := range strings.Split(s, ",") {
			values, err := parse(name)
			if err != nil {
				return err
			}
			for _, value := range values {
				if !slices.Contains(*dst, value) {
					*dst = append(*dst, value)
				}
			}
		}
		return nil
	}
}

// Defaults and least values of what a command may use.
const (
	DefaultMemory = 512 << 20
	workerMemory  = 64 << 20 // the default is this for each worker that has a processor, if it is more
	leastMemory   = 16 << 20
	DefaultRows   = 65536
	// mostWorkers is the most workers that a processor can keep busy: some wait for objects
	// of a store while others compute.
	mostWorkers = 32
)

// Running is what a command line says of what a command may use, and of its messages.
type Running struct {
	Workers   int
	BatchRows int
	Memory    int64
	sized     bool // Memory is no default: it was asked for, or FitMemory has set it
	// StoreTimeout is how long an object store may make no progress; 0 is the default.
	StoreTimeout time.Duration

	LogJSON, Quiet, Verbose bool
	Progress                console.When
	// OneLine leaves stderr to the line that says why a command fails, unless Verbose.
	OneLine bool
}

// NewRunning is what a command may use without flags.
func NewRunning() Running { return Running{Memory: DefaultMemory} }

// FitMemory lowers the default of -memory to fit a control group that permits group bytes, of
// which mapped rule packs take packs bytes, and reports whether it did. -memory gets half of
// what the packs leave, and at least an eighth of the group, because a pack may be larger than
// the group's memory. The rest is for the program and what it reads. Call it after SetWork.
func (c *Running) FitMemory(group, packs int64) bool {
	const mib = 1 << 20
	fit := max(leastMemory, (max(group-packs, group/4)/2)&^(mib-1))
	if c.sized || fit >= c.Memory {
		return false
	}
	c.Memory, c.sized = fit, true
	return true
}

// Flags returns the flags for workers, rows, memory, timeouts, progress and messages.
func (c *Running) Flags() cli.Flags {
	return cli.Flags{{
		Name: "workers", Argument: "N", Topic: RunningTopic, Standard: "the number of processors", Unrecorded: true, Value: cli.Count(&c.Workers),
		Short: "batches to work on at once",
		More:  "At most 32 for each processor.",
	}, {
		Name: "batch-rows", Rare: true, Argument: "N", Topic: RunningTopic, Standard: "65536", Value: cli.Count(&c.BatchRows),
		Short: "most rows in a batch",
	}, {
		Name: "memory", Argument: "SIZE", Topic: RunningTopic, Common: true, Standard: "512MiB, from 9 workers on 64MiB each; less in a small cgroup", Unrecorded: true,
		Short: "for batches in flight and compiled rules",
		More:  "What compile cannot hold goes to temporary files (robotsbatch help memory).",
		Value: func(text string) error {
			c.sized = true
			return cli.Size(&c.Memory, leastMemory)(text)
		},
	}, {
		Name: "store-timeout", Rare: true, Argument: "SPAN", Topic: RunningTopic, Standard: "2m", Unrecorded: true, Value: cli.Age(&c.StoreTimeout),
		Short: "give up when an object store has been silent this long",
		More:  "This covers all attempts together.",
	}, {
		Name: "progress", Rare: true, Argument: "WHEN", Topic: RunningTopic, Unrecorded: true,
		Short: "show progress: auto, always or never", Standard: "auto: when stderr is a terminal",
		More: "With -log json, a line every 10 seconds wherever stderr goes (robotsbatch help progress).",
		Value: cli.OneOf(&c.Progress, cli.Word[console.When]{Name: "auto", Value: console.Auto},
			cli.Word[console.When]{Name: "always", Value: console.Always}, cli.Word[console.When]{Name: "never", Value: console.Never}),
	}, {
		Name: "log", Rare: true, Argument: "FORMAT", Topic: RunningTopic, Standard: "text", Unrecorded: true, Value: cli.OneOf(&c.LogJSON, cli.Word[bool]{Name: "text", Value: false}, cli.Word[bool]{Name: "json", Value: true}),
		Short: "messages on stderr as text or json",
	}, {
		Name: "quiet", Topic: RunningTopic, Common: true, Unrecorded: true, Value: &c.Quiet,
		Short: "show neither progress nor summary",
	}}
}

// VerboseFlag returns the flag -verbose. short says what the command says more with it.
func (c *Running) VerboseFlag(short string) cli.Flag {
	return cli.Flag{Name: "verbose", Topic: RunningTopic, Unrecorded: true, Short: short, Value: &c.Verbose}
}

// SetWork sets the defaults of workers, memory and rows of a batch that were not asked for, and limits
// the workers.
func (c *Running) SetWork() {
	if c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	c.LimitWorkers()
	if !c.sized {
		c.Memory = max(c.Memory, workerMemory*int64(min(c.Workers, runtime.GOMAXPROCS(0))))
	}
	if c.BatchRows == 0 {
		c.BatchRows = DefaultRows
	}
}

// LimitWorkers lowers the workers to the most that the processors can keep busy.
func (c *Running) LimitWorkers() { c.Workers = min(c.Workers, mostWorkers*runtime.GOMAXPROCS(0)) }

// FlightMemory returns the bytes that all batches in flight may take together: what compiled rules
// leave of -memory.
func (c *Running) FlightMemory() int64 { return c.Memory - c.Memory/ruleset.RulesShare }

// BatchMemory returns the most bytes that one batch may take while it is read and decoded, and again
// while it is written.
func (c *Running) BatchMemory() int64 { return c.FlightMemory() / 2 }

// PieceMemory returns the most bytes that a batch may take whose reader can cut it anywhere: smaller
// batches keep more workers busy. With more than two workers, two batches of each must fit into the
// quarter of the memory in which batches begin. Each counts twice, as it is read and as it is decoded.
func (c *Running) PieceMemory() int64 {
	const least = 512 << 10 // smaller batches cost more than other workers gain
	size := c.BatchMemory() / 8
	if c.Workers > 2 {
		size = min(size, max(least, c.FlightMemory()/16/int64(c.Workers)))
	}
	return size
}

// objectMemory returns the bytes of the buffers for an object that is read, if one is, and for one
// that is written, if one is.
func objectMemory(reads, writes bool) (bytes int64) {
	if reads {
		bytes += blob.ReadMemory
	}
	if writes {
		bytes += blob.WriteMemory
	}
	return bytes
}

// ReserveObjects subtracts from -memory what an object takes that is read, if one is, and one that is
// written, if one is. It returns an error if too little is left.
func (c *Running) ReserveObjects(reads, writes bool) error {
	c.Memory -= objectMemory(reads, writes)
	if c.Memory < leastMemory {
		return option.Usagef("%s is too small: an object that is read takes %d MiB, one that is written %d MiB, and all else %d MiB", option.Memory, blob.ReadMemory>>20, blob.WriteMemory>>20, leastMemory>>20)
	}
	return nil
}

// ReserveAtOnce returns how many of n inputs or outputs are processed at once: one more than there are
// workers, so that these have work while one begins or ends, but one alone with a single worker, so that
// batches come in order. If each reads or writes an object, it subtracts what these take from -memory,
// for all but the first, for which ReserveObjects did. They get at most a quarter of -memory, which
// may make them fewer.
func (c *Running) ReserveAtOnce(n int, reads, writes bool) int {
	if c.Workers == 1 {
		return 1
	}
	more := min(c.Workers, max(0, n-1))
	if each := objectMemory(reads, writes); each > 0 {
		more = int(min(int64(more), c.Memory/4/each))
		c.Memory -= int64(more) * each
	}
	return 1 + more
}
