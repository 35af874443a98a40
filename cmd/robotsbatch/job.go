package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/io/blob"
	"robotsbatch/io/frontier"
	"robotsbatch/io/ruleset"
)

// job is one run of the main job.
type job struct {
	*jobConfig
	s       streams
	log     *console
	reading frontier.Options
	rules   *ruleset.Set
	shown   *progress
	summary *summary
	record  *record // nil for none
	publish publisher
	// versions are those of the rules when they were opened.
	versions *ruleset.Versions
}

// runJob is the main job: URLs in, verdicts out.
func runJob(ctx context.Context, args []string, s streams) int {
	c, err := parseJob(args)
	if errors.Is(err, flag.ErrHelp) {
		return printJobHelp(s, args)
	}
	log := newConsole(s.err, c.logJSON, c.quiet)
	if err != nil {
		return log.fail(err)
	}
	ctx = blob.WithTimeout(ctx, c.storeTimeout)
	started := time.Now()
	limitHeap(c.memory)
	j := &job{jobConfig: c, s: s, log: log}
	j.reading = frontier.Options{
		Stdin: s.in, Format: c.inFormat, URLColumn: c.urlColumn, BatchRows: c.batchRows, MaxLine: int(c.maxLine), Separator: c.separator,
		AcceptTruncated: c.acceptTruncated, Columns: !c.wantsText(), Verdicts: c.columns, Keep: c.keep,
	}
	if c.wantsText() {
		j.reading.Keep = batch.KeepURL
	}
	j.shown = newProgress(c, s, j.log, started)
	err = j.run(ctx, started)
	j.shown.end()
	switch {
	case err == nil:
		return j.summary.ExitStatus
	case ctx.Err() != nil:
		what := "nothing half-written is left"
		if j.record != nil {
			what += ", and -resume goes on from here"
		}
		return j.log.fail(fmt.Errorf("stopped (%w); %s", context.Cause(ctx), what))
	}
	return j.log.fail(err)
}

// flightMemory is what all batches in flight may take together: what compiled rules
// leave.
func (c *jobConfig) flightMemory() int64 { return c.memory - c.memory/ruleset.RulesShare }

// batchMemory is how many octets one batch may have as it is read and decoded,
// and, apart from that, what it may have as it is written.
func (c *jobConfig) batchMemory() int64 { return c.flightMemory() / 2 }

// ruleUse is what the columns need of the rules.
func (j *job) ruleUse() ruleUse {
	records := slices.Contains(j.with, batch.CrawlDelayColumn) || slices.Contains(j.with, batch.SitemapsColumn)
	use := ruleUse{memory: j.memory, workers: j.workers, explain: j.explain, records: records, stdin: j.s.in}
	if j.record != nil {
		use.used = j.record.used
	}
	return use
}

// ownMemory is what the program takes besides what -memory bounds: tables of
// its own and of compressors, stacks, and what the garbage collector needs.
const ownMemory = 16 << 20

// limitHeap lets the garbage collector work harder before the program has more
// memory than -memory says: left alone, it lets garbage take as much again as is
// in use. A GOMEMLIMIT in the environment goes first.
func limitHeap(memory int64) {
	if os.Getenv("GOMEMLIMIT") == "" && memory < math.MaxInt64/2 {
		debug.SetMemoryLimit(memory + ownMemory)
	}
}

// leastHeap is what the heap may always take: with less there would be nothing
// but garbage collection.
const leastHeap = 64 << 20

// holdHeap keeps the heap within what -memory allows while a rule pack is made,
// but for a part for the program itself, and returns what ends that. What waits
// for the pack's end is written away long before, so that there is room.
func holdHeap(memory int64) (end func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(max(memory-memory/8, leastHeap))
	return func() { debug.SetMemoryLimit(before) }
}

// run does the job and says what it did.
func (j *job) run(ctx context.Context, started time.Time) error {
	inputs, err := resolveInputs(ctx, j.jobConfig, j.s.in)
	if err != nil {
		return err
	}
	outputs, err := planOutputs(j.jobConfig, inputs)
	if err != nil {
		return err
	}
	if err := j.reserveMemory(inputs); err != nil {
		return err
	}
	j.reading.Memory = j.batchMemory()
	release, err := j.claim()
	if err != nil {
		return err
	}
	defer release()
	j.record = j.newRecord()
	found, err := j.find(ctx, j.ruleUse(), j.log)
	if err != nil {
		return err
	}
	if j.record != nil {
		j.versions = found.Versions(ctx)
	}
	if err := j.tryInput(ctx, inputs[0]); err != nil {
		return err
	}
	if j.rules, err = j.openRules(ctx, found, j.log); err != nil {
		return err
	}
	defer j.rules.Close()
	var file blob.Writer // early: a name that cannot be written shows at once
	if j.summaryJSON != "" {
		if file, err = blob.Create(ctx, j.summaryJSON); err != nil {
			return fmt.Errorf("-summary-json: %w", err)
		}
		_ = blob.SweepFile(j.summaryJSON) // what killed runs left
		defer file.Abort()
	}
	j.summary = newSummary(j.jobConfig, inputs)
	if err := j.convertAll(ctx, outputs); err != nil {
		return err
	}
	return j.finish(started, file)
}

// tryInput opens the first input and closes it again: what is wrong with it shows
// before captures are read, which may take long. What can be read only once is left
// alone.
func (j *job) tryInput(ctx context.Context, in frontier.Input) error {
	if info, err := os.Stat(in.Path); err != nil || !info.Mode().IsRegular() {
		return nil // stdin, a pipe, or an object, which was looked up
	}
	opened, err := frontier.Open(ctx, in, j.reading)
	if err != nil {
		return err
	}
	_ = opened.Close() // it was only read from
	return nil
}

// convertAll writes all outputs, but for those that an earlier run has written.
func (j *job) convertAll(ctx context.Context, outputs []output) error {
	done, err := j.startRecord(ctx, outputs)
	if err != nil {
		return err
	}
	defer j.record.close()
	defer j.publish.wait() // also when a later output fails
	for _, out := range outputs {
		if o := done[keyOf(out.inputs)]; o != nil {
			j.summary.keep(j.record.pathOf(o), o)
			continue
		}
		if err := j.convert(ctx, out); err != nil {
			return err
		}
	}
	if err := j.publish.wait(); err != nil {
		return err
	}
	return j.record.end()
}

// newEvaluator returns an evaluator for a worker.
func (j *job) newEvaluator() batch.Evaluator {
	return evaluate.New(j.rules.Origins(), evaluate.Options{
		Agents: len(j.agents), Profile: j.profile, Missing: j.missing, Explain: j.explain,
		Facts: len(j.with) > 0, AsOf: j.asOfSeconds(), MaxAge: int64(j.maxAge / time.Second),
	})
}

// convert writes one output.
func (j *job) convert(ctx context.Context, out output) error {
	src, err := frontier.Concatenate(ctx, out.inputs, j.reading)
	if err != nil {
		return err
	}
	defer src.Close()
	t, err := j.target(out, src.First())
	if err != nil {
		return err
	}
	unlock := func() {}
	defer func() { unlock() }()
	if out.inFolder { // somebody may write this file alone
		lock, err := blob.LockFile(t.path)
		if err != nil {
			return fmt.Errorf("-out: %w", err)
		}
		unlock = lock.Unlock
	}
	if err := j.passThrough(t, out, src); err != nil {
		return err
	}
	w, err := j.create(ctx, t)
	if err != nil {
		return err
	}
	late := out.inFolder && !blob.IsURL(t.path)
	if late {
		w = &lateWriter{w}
	}
	sink, sums, err := j.newSink(t, src, w)
	if err != nil {
		return err
	}
	done := j.summary.Rows
	stats, err := batch.Run(ctx, src, sink, j.newEvaluator, batch.Options{
		Emit: j.emit, Workers: j.workers, Memory: j.flightMemory(),
		Progress: func(s batch.Stats) { j.shown.report(done + s.Rows) },
	})
	if errors.Is(err, syscall.EPIPE) {
		j.summary.Complete = false // the output's reader has what it wanted
	} else if err != nil {
		return j.because(ctx, err, src)
	}
	j.summary.add(t.name(), &stats)
	j.reportTruncated(src)
	if !late {
		if err := j.record.enter(src, t.path, sums, &stats); err != nil {
			return err
		}
		return j.record.save()
	}
	release := unlock
	unlock = func() {} // whoever completes the output does that
	return j.publish.start(func() error {
		defer release()
		return w.(*lateWriter).complete()
	}, func() error { return j.record.enter(src, t.path, sums, &stats) }, j.record.save)
}

// finish writes the summary, and decides between success and too many rows
// without a verdict.
func (j *job) finish(started time.Time, file blob.Writer) error {
	s := j.summary
	s.finish(started)
	tooMany := !j.maxInvalid.permits(s.unknown(), s.Rows)
	if tooMany {
		s.ExitStatus = exitInvalid
	}
	if file != nil {
		if err := s.writeTo(file); err != nil {
			return err
		}
	}
	j.shown.end()
	if tooMany {
		j.log.warn(fmt.Sprintf("%s of %s rows have no verdict, more than -max-invalid %s permits; the output is complete",
			grouped(s.unknown()), grouped(s.Rows), j.maxInvalid))
	}
	j.warnRules()
	text := s.String()
	if !s.Complete {
		text = "the reader closed the output early, after " + counted(s.Rows, "row", "rows")
	}
	for _, note := range s.notes() {
		j.log.info(note, "note", "note", note)
	}
	j.log.info(text, "done", s.attrs()...)
	return nil
}

// warnRules warns of rules that decided nothing, which are likely not those that
// were meant.
func (j *job) warnRules() {
	if s := j.summary; s.Authorities > 0 && s.AuthoritiesWithout == s.Authorities && !j.allowNoRules {
		j.log.warn("no -rules has an authority of any URL that was read: are these the right rules?")
	}
	for _, line := range j.rules.Misspelt() {
		j.log.warn(line)
	}
}
