package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/blob"
)

// reading is how inputs are read, as the flags say.
func (c *call) reading(named *config.Input) frontier.Options {
	o := named.Reading(c.BatchRows)
	o.Stdin = c.s.in
	return o
}

// reserveMemory subtracts what open objects need from -memory.
func (j *job) reserveMemory(inputs []frontier.Input) error {
	isObject := func(in frontier.Input) bool { return blob.IsURL(in.Path) }
	reads := slices.ContainsFunc(inputs, isObject) || slices.ContainsFunc(j.Sources, blob.IsURL)
	return j.ReserveObjects(reads, blob.IsURL(j.Out))
}

// writing is how outputs are written, as the flags say.
func (j *job) writing() *outputs.Options {
	o := j.Outputs()
	o.Keep, o.Verdicts, o.Part = j.Keep, j.Verdicts, j.PartName()
	return o
}

// firstSource is the source of the first output, which is opened before the rules; nil
// from when the output is written.
type firstSource struct {
	path string
	src  *frontier.Concatenation
}

// close closes the source if its output was not written.
func (f *firstSource) close() {
	if f.src != nil {
		_ = f.src.Close() // it was only read from
	}
}

// openFirst opens the first input, so that its errors show before captures are read,
// which may take long. It skips inputs that wait for somebody to write them.
func (j *job) openFirst(ctx context.Context, planned []outputs.Output) (err error) {
	if len(planned) == 0 || len(planned[0].Inputs) == 0 {
		return nil // a shard to which none falls
	}
	if info, err := os.Stat(planned[0].Inputs[0].Path); err != nil || !info.Mode().IsRegular() {
		return nil // stdin, a pipe, or an object, which was looked up
	}
	j.first.path = planned[0].Path
	j.first.src, err = j.openInputs(ctx, planned[0])
	return err
}

// openInputs opens the inputs of an output.
func (j *job) openInputs(ctx context.Context, out outputs.Output) (*frontier.Concatenation, error) {
	if src := j.first.src; src != nil && j.first.path == out.Path {
		j.first.src = nil
		return src, nil
	}
	inputs := j.inputs
	inputs.Passage = j.writing().Passage(out)
	return frontier.Concatenate(ctx, out.Inputs, inputs)
}

// convertAll writes all outputs, except those that an earlier run has written.
func (j *job) convertAll(ctx context.Context, planned []outputs.Output) error {
	done, err := j.startRecord(ctx, planned)
	if err != nil {
		return err
	}
	var inputs []frontier.Input
	for _, out := range planned {
		inputs = append(inputs, out.Inputs...)
	}
	j.shown.Plan(inputs)
	defer j.record.Close()
	defer j.publish.Wait() // also when a later output fails
	j.pool = batch.NewPool(j.newEvaluator, batch.Options{Emit: j.Emit, Workers: j.Workers, Memory: j.FlightMemory()})
	defer j.pool.Close()
	for i, out := range planned {
		if done != nil && done[i] != nil {
			j.summary.Keep(j.record.PathOf(done[i]), done[i])
			j.shown.Skip(out)
			continue
		}
		if err := j.convert(ctx, out); err != nil {
			return err
		}
	}
	if err := j.publish.Wait(); err != nil {
		return err
	}
	return j.record.End()
}

// shownRedo is how many outputs are named that are done again.
const shownRedo = 10

// startRecord starts the job's manifest. With -resume it returns the outputs that
// are done already, by the index of the planned one.
func (j *job) startRecord(ctx context.Context, planned []outputs.Output) ([]*manifest.Output, error) {
	if j.record == nil {
		return nil, nil
	}
	rules, err := j.versions.Identify(j.rules)
	if err != nil {
		return nil, err
	}
	if !j.Resume {
		return nil, j.record.Start(rules)
	}
	resumed, err := j.record.Resume(ctx, planned, rules, j.versions, len(j.summary.Agents), j.AcceptTruncated)
	if err != nil {
		return nil, err
	}
	j.stopped = resumed.Stopped
	if resumed.Kept < len(planned) && j.Shard != nil {
		if err := outputs.ForgetWhole(j.Out); err != nil {
			return nil, err
		}
	}
	j.sayLeft(resumed.Left)
	switch {
	case resumed.First && j.Shard != nil:
		return nil, nil
	case resumed.First:
		j.log.Info("first run on "+blob.Shown(j.Out)+": nothing to resume", "resume", "done", 0, "reason", "first run")
		return nil, nil
	case !resumed.Anew.Empty():
		why := j.log.Say(resumed.Anew)
		j.log.Info(why+" since the last run: redoing all outputs", "resume", "done", 0, "reason", why)
		return nil, nil
	}
	for _, redo := range resumed.Redo[:min(len(resumed.Redo), shownRedo)] {
		why := j.log.Say(redo)
		j.log.Info(why+": it is done again", "redo", "reason", why)
	}
	j.log.Info(fmt.Sprintf("resuming: %d of %s done already", resumed.Kept, report.Count(int64(len(planned)), "output", "outputs")),
		"resume", "done", resumed.Kept, "outputs", len(planned))
	return resumed.Done, nil
}

// sayLeft names outputs that belong to none of this run's inputs. A reader of the folder
// would also read their rows.
func (j *job) sayLeft(left []outputs.Left) {
	for _, l := range left[:min(len(left), shownRedo)] {
		j.log.WarnOf(l.Message())
	}
	if more := len(left) - shownRedo; more > 0 {
		j.log.Warn(fmt.Sprintf("and %s more with inputs that are gone or no longer named", report.Count(int64(more), "output", "outputs")))
	}
}

// convert writes one output.
func (j *job) convert(ctx context.Context, out outputs.Output) error {
	src, err := j.openInputs(ctx, out)
	if err != nil {
		return err
	}
	defer src.Close()
	j.schemeless = cmp.Or(j.schemeless, src.First().Schemeless)
	t, err := j.target(out, src.First())
	if err == nil {
		err = j.Spare(out.Inputs, option.Out.With(t.Path))
	}
	if err == nil {
		err = spareRules(j.found, &j.Rules, option.Out.With(t.Path))
	}
	if err != nil {
		return err
	}
	unlock := func() {}
	defer func() { unlock() }()
	if out.InFolder { // another run may write this file alone
		lock, err := blob.LockFile(t.Path)
		if err != nil {
			return option.Errorf("%s: %w", option.Out, err)
		}
		unlock = lock.Unlock
	}
	if j.Shard != nil && j.stopped { // a folder is not swept: other shards may be live
		if err := outputs.SweepBegun(t.Path); err != nil {
			return err
		}
	}
	w, err := j.create(ctx, t)
	if err != nil {
		return err
	}
	var late *outputs.LateWriter
	if out.InFolder && !blob.IsURL(t.Path) {
		late = &outputs.LateWriter{Writer: w}
		w = late
	}
	stats, sums, err := j.evaluate(ctx, t, src, w)
	if err != nil {
		return err
	}
	j.shown.Next(out, stats)
	j.html.Next(stats.Rows)
	enter := func() error { return j.record.Enter(src, t.Path, sums, stats) }
	if late == nil {
		if err := enter(); err != nil {
			return err
		}
		return j.record.Save()
	}
	release := unlock
	unlock = func() {} // the goroutine that completes the output does that
	return j.publish.Start(func() error {
		defer release()
		if err := late.Complete(); err != nil {
			return option.Errorf("%s: %w", option.Out, err)
		}
		return nil
	}, enter, j.record.Save)
}

// evaluate writes the rows of src with their verdicts to w. The checksums are nil
// when no manifest wants them.
func (j *job) evaluate(ctx context.Context, t outputs.Target, src *frontier.Concatenation, w blob.Writer) (*batch.Stats, *manifest.Sums, error) {
	sink, sums, err := j.newSink(t, src, w)
	if err != nil {
		return nil, nil, err
	}
	lane := j.pool.Lane(ctx)
	defer lane.Close()
	stats, err := lane.Run(src, sink, func(s batch.Stats) {
		j.shown.Report(&s, src)
		j.html.Progress(s.Rows)
	})
	if errors.Is(err, syscall.EPIPE) {
		j.summary.Complete = false // the output's reader has what it wanted
	} else if err != nil {
		return nil, nil, j.because(ctx, err, src)
	}
	j.summary.Add(t.Name(), &stats)
	j.reportTruncated(src)
	return &stats, sums, nil
}

// unchanged returns an error when an input or a source of rules is not what it was
// when it was opened.
func (j *job) unchanged(src *frontier.Concatenation) error {
	if err := src.Unchanged(); err != nil {
		return err
	}
	return j.rules.Unchanged()
}

// because adds the likely cause to an error: a file that was written to while it was
// read.
func (j *job) because(ctx context.Context, err error, src *frontier.Concatenation) error {
	if ctx.Err() != nil || errors.Is(err, blob.ErrChanged) || errors.Is(err, rulepack.ErrChanged) {
		return err
	}
	if changed := j.unchanged(src); changed != nil {
		return fmt.Errorf("%w (it showed as: %w)", changed, err)
	}
	return err
}

// reportTruncated says which inputs of an output that is done were cut.
func (j *job) reportTruncated(src *frontier.Concatenation) {
	for _, t := range src.Truncated() {
		j.log.Warn(fmt.Sprintf("%s is cut, and its first %s taken: %v", t.Input, report.Count(t.Rows, "row was", "rows were"), t.Err))
		j.summary.Truncated = append(j.summary.Truncated, report.Truncated{Input: t.Input, Rows: t.Rows})
	}
}

// target decides how an output is written, now that its first input is known.
func (c *job) target(out outputs.Output, first *frontier.Source) (outputs.Target, error) {
	t, err := c.writing().Target(out, first)
	if err == nil {
		err = c.checkFormat(t)
	}
	if err != nil {
		return outputs.Target{}, err
	}
	if out.InFolder {
		if err := t.MakeFolder(); err != nil {
			return outputs.Target{}, option.Errorf("%s: %w", option.Out, err)
		}
	}
	return t, nil
}

// checkFormat finds flags that do not go with the output's format.
func (c *job) checkFormat(t outputs.Target) error {
	if t.Format == format.Text && c.Emit == batch.EmitAll {
		return option.Usagef("%s: text has URLs only, no verdicts: choose which with %s allowed, denied or unknown, or write csv", option.Out.With(t.Name()), option.Emit)
	}
	return c.Flags().CheckFormat(c.given, config.OfOutputs, t.Format.String())
}

// create starts an output.
func (c *call) create(ctx context.Context, t outputs.Target) (blob.Writer, error) {
	if err := c.refuseTerminal(t); err != nil {
		return nil, err
	}
	w, err := t.Create(ctx, c.s.out)
	if err != nil {
		return nil, option.Errorf("%s: %w", option.Out, err)
	}
	return w, nil
}

// refuseTerminal is the error for a binary format on a terminal.
func (c *call) refuseTerminal(t outputs.Target) error {
	if t.Path == blob.Stdio && t.Format.IsBinary() && console.IsTerminal(c.s.out) {
		return option.Usagef("Arrow or Parquet on a terminal is unreadable: name a file with %s, or use %s", option.Out, option.OutFormat.With("csv"))
	}
	return nil
}

// newSink encodes to w. The checksums are nil without a manifest.
func (j *job) newSink(t outputs.Target, src *frontier.Concatenation, w blob.Writer) (batch.Sink, *manifest.Sums, error) {
	w, sums := j.record.Sums(w)
	sink, err := j.writing().NewSink(t, src.First(), j.BatchMemory(), w)
	if err != nil {
		w.Abort()
		return nil, nil, fmt.Errorf("%s: %w", src.First().Input.Name(), err)
	}
	if t.Format.IsBinary() { // text has no types
		j.summary.Note(src.First().Source, sink)
	}
	if sums != nil {
		sink = sums.Around(sink)
	}
	return outputs.Checked(sink, func() error {
		if err := j.unchanged(src); err != nil {
			return err
		}
		if err := src.Complete(); err != nil {
			return err
		}
		return outputs.Forget(t.Path)
	}), sums, nil
}
