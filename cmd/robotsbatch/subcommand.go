package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/cmd/robotsbatch/internal/heap"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/budget"
	"robotsbatch/matcher/spelling"
	"robotsbatch/matcher/usage"
)

// Exit statuses, the same in every help text. A program that a signal stops ends
// with 128 and the signal's number.
const (
	exitDone, exitExceeded           = 0, 3
	exitFailed, exitUsage, exitRetry = console.ExitFailed, console.ExitUsage, console.ExitRetry
)

// Exit statuses that several commands have.
var (
	doneExit    = cli.Exit{Status: "0", Meaning: "done, even if the reader of a pipe closed it early"}
	failedExit  = cli.Exit{Status: "1", Meaning: "failed; no file is left half-written"}
	usageExit   = cli.Exit{Status: "2", Meaning: "wrong use"}
	retryExit   = cli.Exit{Status: "75", Meaning: "failed, but try again: a store or disk failed, or a file is being written"}
	stoppedExit = cli.Exit{Status: "129, 130, 143", Meaning: "stopped by SIGHUP, Ctrl-C or SIGTERM; no file is left half-written"}

	// tableExits are those of commands that write a table.
	tableExits = []cli.Exit{doneExit, failedExit, usageExit, retryExit, stoppedExit}
)

// streams are the standard streams of one run.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// command is a command, or the main job, with its configuration.
type command interface {
	cli.Config
	// common is what all commands have.
	common() *call
	// check returns an error for flags and operands that do not go together. It also sets what follows
	// from them, such as defaults.
	check(ctx context.Context) error
	// execute does what flags and operands ask for. status is the exit status, if err is nil.
	execute(ctx context.Context) (status int, err error)
	// left returns the end of the message that a signal stopped the command, from the semicolon on: what
	// is left of its outputs.
	left() option.Message
	// failed is called when the command has failed, after the error was reported. status is the exit
	// status.
	failed(ctx context.Context, err error, status int)
}

// call is what all commands have: one run of a command.
type call struct {
	config.Running
	s        streams
	started  time.Time
	operands []string
	log      *console.Console
	shown    *console.Progress // nil before showProgress
	// given has, by name, the values of the flags on the command line that are not
	// cli.Flag.Unrecorded.
	given map[string][]string
	// schemeless is a line of the inputs that would be a URL if it had a scheme; empty for none. A warning
	// quotes it.
	schemeless string
	budget     *budget.Budget // nil before sharedBudget
	// leastFailed is the least exit status of a failure. It is 2 for commands that end with 1 when they
	// have a result, such as that a URL is denied.
	leastFailed int
	words       option.Words // how messages spell options, such as with a dash
}

// sharedBudget returns the account of memory from which batches and the compiling of
// robots.txt take.
func (c *call) sharedBudget() *budget.Budget {
	if c.budget == nil {
		c.budget = budget.New(c.FlightMemory())
	}
	return c.budget
}

// newCall returns what a command has without flags.
func newCall() call {
	return call{Running: config.NewRunning(), given: make(map[string][]string), words: cli.Words}
}

func (c *call) common() *call { return c }

func (c *call) left() option.Message { return leftText("") }

func (c *call) check(context.Context) error { return nil }

func (c *call) failed(context.Context, error, int) {}

// recordFlag adds the value of a flag to c.given, if the flag is recorded.
func (c *call) recordFlag(o *cli.Flag, value string) {
	if !o.Unrecorded {
		c.given[o.Name] = append(c.given[o.Name], value)
	}
}

// limitMemory lowers the default of -memory to what the program's control group leaves beside the rule
// packs among these names of rules, and has the garbage collector keep the program within it.
func (c *call) limitMemory(rules []string) {
	c.fitMemory(rules)
	heap.Limit(c.Memory)
}

// fitMemory lowers the default of -memory to what the program's control group permits, and
// says so. A rule pack is mapped, and the group counts what is mapped. None of the rules is open yet, so
// each file is taken for a pack.
func (c *call) fitMemory(rules []string) {
	group, limited := heap.GroupLimit()
	if !limited {
		return
	}
	packs := int64(0)
	for _, name := range rules {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			packs += info.Size()
		}
	}
	if c.FitMemory(group, packs) {
		c.log.Note(option.Messagef("%s: the control group permits %d MiB", option.Memory.With(cli.SizeText(c.Memory)), group>>20))
	}
}

// leftText returns what left says of an output with this name; nothing for no name.
func leftText(output string) option.Message {
	switch output {
	case "":
		return option.Message{}
	case blob.Stdio:
		return option.Messagef("; what was written to standard output is incomplete")
	}
	return option.Messagef("; no file is left half-written")
}

// showProgress begins to show progress, if the flags ask for it, and returns the context for
// the work, through which that reports its steps. toStdout says that rows go to stdout.
func (c *call) showProgress(ctx context.Context, toStdout bool) context.Context {
	c.shown = console.NewProgress(c.log, c.Progress, toStdout && console.IsTerminal(c.s.out), c.started)
	return c.shown.Watch(ctx)
}

// seconds returns the seconds since the command began.
func (c *call) seconds() float64 { return time.Since(c.started).Seconds() }

// failAsText writes an error of no command, for which no flag such as -log can be given, and returns
// its exit status.
func failAsText(stderr io.Writer, err error) int {
	return console.New(stderr, console.Options{Words: cli.Words}).Fail(err)
}

// refuseTerminal returns an error for an output that would write a binary format to a
// terminal.
func (c *call) refuseTerminal(t outputs.Target) error {
	if t.Path == blob.Stdio && t.Format.IsBinary() && console.IsTerminal(c.s.out) {
		return option.Usagef("Arrow or Parquet on a terminal is unreadable: name a file with %s, or use %s", option.Out, option.OutFormat.With("csv"))
	}
	return nil
}

// find looks up what each -rules is, and opens none. It returns an error if one of outputs would
// replace rules. Making a rule pack of captures may take all of -memory, because nothing else runs
// meanwhile.
func (c *call) find(ctx context.Context, r *config.Rules, outputs ...option.Given) (*ruleset.Found, error) {
	if !r.SingleElsewhere { // else it is a side of diff, which has warned for both
		r.Fallbacks(c.log.Notice)
	}
	o := r.Options
	o.Memory = cmp.Or(o.Memory, c.Memory)
	o.Budget, o.Workers, o.Maker = c.sharedBudget(), c.Workers, "robotsbatch "+cli.Version()
	o.HoldHeap = func() func() { return heap.Hold(o.Memory) }
	o.Warn, o.Note, o.MoreIgnored = c.log.Warn, c.log.Note, c.log.JSON()
	o.Stdin = c.stdin(ctx, r.Sources)
	found, err := ruleset.Find(ctx, o)
	if err == nil {
		err = checkSparedRules(found, r, outputs...)
	}
	return found, err
}

// stdin returns the standard input if a source is read from it, else nil. It reads ahead, so
// that ctx can end a wait.
func (c *call) stdin(ctx context.Context, sources []string) io.Reader {
	if !slices.Contains(sources, blob.Stdio) {
		return nil
	}
	return frontier.Interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(c.s.in), nil })
}

// checkSparedRules returns an error if an output would replace what rules are read from, or
// the list of agents.
func checkSparedRules(found *ruleset.Found, r *config.Rules, outputs ...option.Given) error {
	for _, o := range outputs {
		if source := found.Replaces(o.Value); source != "" {
			return option.Usagef("%s would replace the rules, which are read from %s: choose another name", o.Name.With(blob.Shown(o.Value)), source)
		}
		if r.AgentsFile != "" && blob.Replaced(r.AgentsFile)(o.Value) != "" {
			return option.Usagef("%s would replace the list of %s: choose another name", o.Name.With(blob.Shown(o.Value)), option.Agents)
		}
	}
	return nil
}

// warnUses warns of uses that no vocabulary defines: they may be misspelt.
func (c *call) warnUses(uses []usage.Use) {
	keys := cli.Map(usage.Vocabulary(usage.ContentUsage), func(use usage.Use) string { return use.Key })
	for _, use := range uses {
		if use.Defined() {
			continue
		}
		advice := "few sites will state it, if any"
		if near := spelling.Nearest(use.Key, keys); near != "" {
			advice = fmt.Sprintf("did you mean %s?", near)
		}
		c.log.Notice(option.Messagef("%s is not a key of draft-ietf-aipref-vocab-08: %s", option.Use.With(use.String()), advice))
	}
}

// openRules opens the rules that were found and reports what was read. It sets r.AsOf to the
// time that decides: that of -as-of, or of the newest fetch.
func (c *call) openRules(ctx context.Context, r *config.Rules, found *ruleset.Found) (*ruleset.Set, error) {
	set, err := found.Open(ctx)
	if err != nil {
		return nil, err
	}
	c.noteOpened(set.Captured(), set.Odd())
	r.AsOf = set.AsOf()
	return set, nil
}

// findRules finds and opens rules.
func (c *call) findRules(ctx context.Context, r *config.Rules) (*ruleset.Set, error) {
	found, err := c.find(ctx, r)
	if err != nil {
		return nil, err
	}
	return c.openRules(ctx, r, found)
}

// checkTimeless returns an error if none of the rules has times, which the option asked needs. If
// only some have none, it says which.
func (c *call) checkTimeless(asked option.Given, t ruleset.Timeless) error {
	if t.All {
		return option.Usagef("%s needs rules with times, and %s has none: captures have them in WARC files, or in a column fetched_at; "+
			"rule packs where they were compiled of these (robotsbatch help history)", asked, ruleset.SomeOf(t.Names))
	}
	if len(t.Names) > 0 {
		c.log.Info(t.String(), "timeless", "rules", t.Names)
	}
	return nil
}

// noteOpened says, of rules that were just opened, what was read of captures, and how many bodies of
// rule packs are no text.
func (c *call) noteOpened(captured *ruleset.Captured, odd []ruleset.OddBodies) {
	c.sayCaptured(captured)
	c.noteOdd(odd, whenOpened)
}

// Values of [ruleset.OddBodies.Read]: when it is known how many bodies of a source are HTML or binary.
const whenOpened, whenRead = false, true

// noteOdd says how many bodies are HTML or binary, for the sources whose numbers are known when they
// are opened, or only when they were read: when is whenOpened or whenRead.
func (c *call) noteOdd(odd []ruleset.OddBodies, when bool) {
	for i := range odd {
		if source := &odd[i]; source.Read == when {
			c.log.Info(report.OddBodies(source), "bodies", "rules", source.Name, "html", source.HTML, "binary", source.Binary)
		}
	}
}

// sayCaptured says what was read of captures, if there are any.
func (c *call) sayCaptured(captured *ruleset.Captured) {
	if captured != nil {
		counts := report.CapturesOf(captured)
		c.log.Info(counts.String(), "rules", "captures", counts)
	}
}
