package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
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

// reserveMemory subtracts from -memory what objects need, and sets how many of the outputs are
// written at once.
func (j *job) reserveMemory(inputs []frontier.Input, outputs int) error {
	reads, writes := readsObjects(inputs), blob.IsURL(j.Out)
	// Sources of rules need memory as well, but no more of it for each output.
	if err := j.ReserveObjects(reads || slices.ContainsFunc(j.Sources, blob.IsURL), writes); err != nil {
		return err
	}
	j.atOnce = j.ReserveAtOnce(outputs, reads, writes)
	return nil
}

// readsObjects reports whether an input is an object.
func readsObjects(inputs []frontier.Input) bool {
	return slices.ContainsFunc(inputs, func(in frontier.Input) bool { return blob.IsURL(in.Path) })
}

// openFirst opens the inputs of the first output before the rules, because captures take long
// to read and errors should show before. It does nothing if the shard has no inputs, or if the first is
// stdin, a pipe, or an object, which was looked up.
func (j *job) openFirst(ctx context.Context) (err error) {
	if len(j.planned) == 0 || !areFiles(j.planned[0].Inputs[:1]) {
		return nil
	}
	j.opened, err = j.openInputs(ctx, j.planned[0])
	return err
}

// areFiles reports whether all inputs are regular files on this machine.
func areFiles(inputs []frontier.Input) bool {
	return !slices.ContainsFunc(inputs, func(in frontier.Input) bool {
		info, err := os.Stat(in.Path)
		return err != nil || !info.Mode().IsRegular()
	})
}

// openInputs opens the inputs of an output.
func (j *job) openInputs(ctx context.Context, out outputs.Output) (*frontier.Concatenation, error) {
	return frontier.Concatenate(ctx, out.Inputs, j.Output.ReadOptions(out, j.Reading))
}

// convertAll writes all outputs, except those that an earlier run completed. Several are
// written at once, but each is completed, entered in the manifest and counted only after those before
// it. If one fails, nothing is left of those after it.
func (j *job) convertAll(ctx context.Context) error {
	done, err := j.startRecord(ctx)
	if err != nil {
		return err
	}
	j.shown.Plan(j.inputs)
	defer j.record.Close()
	j.pool = batch.NewPool(j.newEvaluator, batch.Options{Emit: j.Emit, Workers: j.Workers, Budget: j.sharedBudget(), Limit: j.First})
	defer j.pool.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	chain := outputs.NewChain(mostUnderWay, stop)
	err = j.startAll(ctx, done, chain)
	if err = cmp.Or(chain.Wait(), err); err != nil {
		return err
	}
	return j.record.End()
}

// mostUnderWay is the most outputs that are begun and not durable yet: they are written, wait for an
// older one, or are flushed to the disk. Each has an open file and a lock. There are many because one
// flush of the disk serves several.
const mostUnderWay = 96

// conversion is an output that is being written.
type conversion struct {
	outputs.Output
	progress *console.OutputProgress
	lane     *batch.Lane

	// What convert sets:
	path, name string // of what is written, and for people
	stats      batch.Stats
	sums       *manifest.Sums // nil if there is no manifest
	read       outputs.Read
	schemeless string // as in call
	notes      []string
	readerLeft bool        // the output is a pipe whose reader has closed it
	late       blob.Writer // what has to be closed to complete the output; nil if it is complete
	unlock     func()
}

// startAll starts the outputs in order, and at most j.atOnce are written at once: each takes a slot until it needs
// no more memory. done has, by index in j.planned, the outputs that an earlier run completed, which are only
// counted; nil for none. It returns early if ctx ends, or once the rows of -limit are judged.
func (j *job) startAll(ctx context.Context, done []*manifest.Output, chain *outputs.Chain) error {
	slots := make(chan struct{}, j.atOnce)
	for i, out := range j.planned {
		c := &conversion{Output: out, progress: j.shown.Output(len(out.Inputs)), unlock: func() {}}
		if done != nil && done[i] != nil {
			chain.Start(outputs.Steps{Complete: func() error { return j.keep(done[i], c.progress) }})
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if j.pool.Full() { // -limit is reached; with it one output is under way at a time, and that ended
			return nil
		}
		freeSlot := sync.OnceFunc(func() { <-slots })
		c.lane = j.pool.Lane(ctx)
		var src *frontier.Concatenation // the inputs, if they are open: those of the first output are, mostly
		if i == 0 {
			src, j.opened = j.opened, nil
		}
		chain.Start(outputs.Steps{
			Work: func() error {
				defer c.lane.Close()
				err := j.convert(ctx, c, src)
				if c.late == nil || !blob.IsURL(c.path) { // an object takes memory until it is complete
					freeSlot()
				}
				return err
			},
			Complete: func() error { return j.complete(c) },
			Publish:  func() error { defer freeSlot(); return c.publish() },
			Enter:    func() error { return j.record.Enter(c.read, c.path, c.sums, &c.stats) },
			Save:     j.record.Save,
			GiveUp:   func() { defer freeSlot(); c.giveUp() },
		})
	}
	return nil
}

// giveUp removes what was written of an output, and unlocks it.
func (c *conversion) giveUp() {
	if c.late != nil {
		c.late.Abort()
	}
	c.unlock()
}

// publish completes the output, which gives it its name, and unlocks it.
func (c *conversion) publish() error {
	defer c.unlock()
	if c.late != nil {
		if err := c.late.Close(); err != nil {
			return option.Errorf("%s: %w", option.Out, err)
		}
	}
	return nil
}

// keep counts an output that an earlier run completed. It returns an error if the summary or the report
// would replace it.
func (j *job) keep(o *manifest.Output, progress *console.OutputProgress) error {
	path := j.record.PathOf(o)
	if err := j.checkSparedOutput(path); err != nil {
		return err
	}
	j.summary.Keep(path, o)
	progress.Skip()
	return nil
}

// complete counts an output that was written, and says which of its inputs were cut. It is called for
// one output after the other.
func (j *job) complete(c *conversion) error {
	j.schemeless = cmp.Or(j.schemeless, c.schemeless)
	j.summary.AddNotes(c.notes)
	if c.readerLeft {
		j.summary.Complete = false // the output's reader has what it wanted
	}
	j.summary.Add(c.name, &c.stats)
	for _, t := range c.read.Truncated {
		j.log.Warn(option.Messagef("%w; the first %s taken", t.Err, report.Count(t.Rows(), "row was", "rows were")))
		j.summary.Truncated = append(j.summary.Truncated, manifest.Truncated{Input: t.Input, Rows: t.Rows()})
	}
	c.progress.End()
	return nil
}

// mostNamed is the most outputs of an earlier run that messages name.
const mostNamed = 10

// startRecord starts the job's manifest, if it has one. With -resume it returns, for each of j.planned,
// the output that an earlier run completed, or nil. It returns no list if all outputs are to be made.
func (j *job) startRecord(ctx context.Context) ([]*manifest.Output, error) {
	if j.record == nil {
		return nil, nil
	}
	rules, err := j.versions.Identify(j.rules)
	if err != nil {
		return nil, err
	}
	if j.Resume {
		return j.resume(ctx, rules)
	}
	left, unreadable, err := j.record.Start(j.planned, rules)
	if unreadable != nil {
		j.log.Warn(option.Messagef("%s: it is replaced, and which other outputs an earlier run left is not known", unreadable))
	}
	j.warnLeft(left)
	return nil, err
}

// resume reads the manifest of an earlier run, and returns for each of j.planned the output that it
// completed, or nil; no list if all are to be made. It says which are made again, and why.
func (j *job) resume(ctx context.Context, rules []manifest.Rules) ([]*manifest.Output, error) {
	if j.Shard != nil {
		if other := outputs.OtherCount(ctx, j.Out, j.Shard.Count); other > 0 {
			j.log.Warn(option.Messagef("%s also has manifests of %d shards: remove them and their outputs if their rows are not wanted", j.Out, other))
		}
	}
	resumed, err := j.record.Resume(j.planned, rules, j.versions, len(j.summary.Agents), j.Reading.AcceptTruncated)
	if err != nil {
		return nil, err
	}
	j.stopped = resumed.Stopped
	if resumed.Kept < len(j.planned) && j.Shard != nil { // the manifest of all shards together is no longer right
		if err := outputs.ForgetWhole(j.Out); err != nil {
			return nil, err
		}
	}
	j.warnLeft(resumed.Left)
	switch {
	case resumed.First && j.Shard != nil: // a task of an array, which always has -resume
		return nil, nil
	case resumed.First:
		j.log.Info("first run on "+blob.Shown(j.Out)+": nothing to resume", "resume", "done", 0, "reason", "first run")
		return nil, nil
	case !resumed.RedoAll.Empty():
		why := j.log.Say(resumed.RedoAll)
		j.log.Info(why+" since the last run: redoing all outputs", "resume", "done", 0, "reason", why)
		return nil, nil
	}
	for _, redo := range resumed.Redo[:min(len(resumed.Redo), mostNamed)] {
		why := j.log.Say(redo)
		j.log.Info(why+": it is done again", "redo", "reason", why)
	}
	j.log.Info(fmt.Sprintf("resuming: %d of %s done already", resumed.Kept, report.Count(int64(len(j.planned)), "output", "outputs")),
		"resume", "done", resumed.Kept, "outputs", len(j.planned))
	return resumed.Done, nil
}

// warnLeft warns of outputs of an earlier run that are not outputs of this one, because whoever reads
// the folder would also read them.
func (j *job) warnLeft(left []option.Message) {
	for _, warning := range left[:min(len(left), mostNamed)] {
		j.log.Warn(warning)
	}
	if more := len(left) - mostNamed; more > 0 {
		j.log.Warn(option.Messagef("and %s more that this run does not write", report.Count(int64(more), "output", "outputs")))
	}
}

// convert writes an output from src, its inputs, or opens these if src is nil. It closes them. An output in a
// folder has its name only after publish.
func (j *job) convert(ctx context.Context, c *conversion, src *frontier.Concatenation) (err error) {
	if src == nil {
		if src, err = j.openInputs(ctx, c.Output); err != nil {
			return err
		}
	}
	defer src.Close()
	c.schemeless = src.First().Schemeless
	t, err := j.targetOf(c.Output, src.First())
	if err != nil {
		return err
	}
	c.path, c.name = t.Path, t.Name()
	if c.InFolder {
		unlock, err := t.ClaimBelow(j.Shard != nil && j.stopped) // the folder was not swept: other shards may be live
		if err != nil {
			return err
		}
		c.unlock = unlock
	}
	if err := j.refuseTerminal(t); err != nil {
		return err
	}
	w, err := t.Create(ctx, j.s.out)
	if err != nil {
		return err
	}
	if !c.InFolder {
		return j.evaluate(ctx, c, t, src, w)
	}
	if err = j.evaluate(ctx, c, t, src, outputs.LateWriter{Writer: w}); err == nil {
		c.late = w
	}
	return err
}

// checkSpared returns an error if an output at path would replace something that the job
// reads, or the file of the summary or report.
func (j *job) checkSpared(path string) error {
	out := option.Out.With(path)
	return cmp.Or(j.CheckSpared(out), checkSparedRules(j.found, &j.Rules, out), j.checkSparedOutput(path))
}

// checkSparedOutput returns an error if the summary or the report would replace the output at
// path.
func (j *job) checkSparedOutput(path string) error {
	out, _ := filepath.Abs(path)
	for _, o := range []option.Given{option.Report.With(j.ReportFile), option.SummaryJSON.With(j.SummaryJSON)} {
		own, _ := filepath.Abs(o.Value)
		if o.Value != "" && (own == out || blob.Replaced(path)(o.Value) != "") {
			return option.Usagef("%s would replace an output: choose another name", o.Name.With(blob.Shown(o.Value)))
		}
	}
	return nil
}

// evaluate judges the rows of src and writes them to w, with checksums if the job has a manifest. It
// returns an error if inputs or rules have changed since they were opened.
func (j *job) evaluate(ctx context.Context, c *conversion, t outputs.Target, src *frontier.Concatenation, w blob.Writer) error {
	first := src.First()
	w, c.sums = j.record.Sums(w)
	sink, err := j.Output.NewSink(t, first, j.BatchMemory(), w)
	if err != nil {
		w.Abort()
		return fmt.Errorf("%s: %w", first.Input.Name(), err)
	}
	notable := []any{src, sink} // for [report.Notes], once all is written
	if t.Format.IsBinary() {    // those of the first input are about types, which text has not
		notable = []any{src, first.Source, sink}
	}
	if c.sums != nil {
		sink = c.sums.Around(sink)
	}
	sink = outputs.Checked(sink, func() error {
		if err := cmp.Or(j.unchanged(src), src.Complete()); err != nil {
			return err
		}
		return t.Forget()
	})
	c.stats, err = c.lane.Run(src, sink, func(s batch.Stats) { c.progress.Report(&s, src) })
	c.notes = report.Notes(notable...)
	c.readerLeft = errors.Is(err, syscall.EPIPE)
	if err != nil && !c.readerLeft {
		return j.withCause(ctx, err, src)
	}
	c.read = outputs.Read{Versions: src.Versions(), Truncated: src.Truncated()}
	return nil
}

// unchanged returns an error when an input or a source of rules is not what it was
// when it was opened.
func (j *job) unchanged(src *frontier.Concatenation) error {
	return cmp.Or(src.Unchanged(), j.rules.Unchanged())
}

// withCause returns an error about an input or rules that changed while src was read, which likely caused
// err; err itself if none has changed.
func (j *job) withCause(ctx context.Context, err error, src *frontier.Concatenation) error {
	if ctx.Err() != nil || errors.Is(err, blob.ErrChanged) || errors.Is(err, rulepack.ErrChanged) {
		return err
	}
	if changed := j.unchanged(src); changed != nil {
		return fmt.Errorf("%w (it showed as: %w)", changed, err)
	}
	return err
}

// checkOutputs returns an error if an output would replace something that the job reads. It is called
// before the first output is begun, goes by names alone, and opens no input.
func (j *job) checkOutputs() error {
	for _, out := range j.planned {
		for _, path := range j.Output.Paths(out, j.Reading.Format) {
			if err := j.checkSpared(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// targetOf decides how an output is written, by its first input. It returns an error if it
// would replace something that the job reads, or if flags do not go with its format.
func (j *job) targetOf(out outputs.Output, first *frontier.Source) (outputs.Target, error) {
	t, err := j.Output.Target(out, first)
	switch {
	case err != nil:
	case t.Format == format.Text && j.Emit == batch.EmitAll:
		err = option.Usagef("%s: text has URLs only, no verdicts: choose which with %s allowed, denied or unknown, or write csv", option.Out.With(t.Name()), option.Emit)
	default:
		err = cmp.Or(j.Flags().CheckFormat(j.given, config.OfOutputs, t.Format.String()), j.checkSpared(t.Path))
	}
	return t, err
}
