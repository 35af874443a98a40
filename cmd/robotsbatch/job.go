package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/batch/tally"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/heap"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
)

// job is one run of the main job.
type job struct {
	call
	config.Job
	inputs frontier.Options
	first  firstSource
	found  *ruleset.Found // what the rules are
	rules  *ruleset.Set
	// timelines are the rules by time; nil where all rows have the same.
	timelines matcher.Historical
	firstTime evaluate.FirstTime
	html      *report.Page
	summary   *report.Summary
	record    *outputs.Record // nil for none
	publish   outputs.Publisher
	// versions are those of the rules when they were opened.
	versions *ruleset.Versions
	// stopped says that an earlier run of the shard did not come to its end.
	stopped bool
}

func newJob() *job { return &job{call: newCall(), Job: config.NewJob()} }

// Flags implements cli.Config.
func (j *job) Flags() cli.Flags { return j.Job.Flags(&j.Running) }

// runJob is the main job: URLs in, verdicts out.
func runJob(ctx context.Context, args []string, s streams) int {
	j := newJob()
	j.s = s
	err := j.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		if cli.WantsAllHelp(args) {
			program.Help(program.Main, s.out)
		} else {
			program.ShortHelp(s.out)
		}
		return exitDone
	}
	j.open(program.Main)
	if err != nil {
		return j.log.Fail(err)
	}
	ctx = blob.WithTimeout(ctx, j.StoreTimeout)
	blob.SweepScratch()
	status, err := j.run(ctx)
	switch {
	case err == nil:
		return status
	case ctx.Err() != nil:
		err = fmt.Errorf("stopped (%w)%s", context.Cause(ctx), nothingLeft)
		if j.record != nil {
			err = option.Errorf("%w, and %s goes on from here", err, option.Resume)
		}
	}
	return j.log.Fail(heap.WithMemory(err, j.Memory))
}

// parse reads the arguments. The error is flag.ErrHelp when help was asked for, else a usage
// error; the flags before the mistake are set.
func (j *job) parse(args []string) error {
	fs := j.Flags().Set(program.Main.Name, j.give)
	if err := cli.Parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return option.Usagef("unexpected argument %q: write %s if it is an input, and quote a pattern: %s", blob.Shown(fs.Arg(0)), option.In.With(strconv.Quote(blob.Shown(fs.Arg(0)))), option.In.With(`"*.arrow"`))
	}
	return j.Check(&j.Running, j.given)
}

// run implements command.
func (j *job) run(ctx context.Context) (status int, err error) {
	started := time.Now()
	heap.Limit(j.Memory)
	j.inputs = j.reading(&j.Input)
	text := j.writing().WantsText()
	j.inputs.Columns, j.inputs.Verdicts, j.inputs.Keep = !text, j.Verdicts, j.Keep
	j.inputs.Beside = batch.Beside{Weight: j.Weight, Time: j.AsOfColumn}
	if text {
		j.inputs.Keep = batch.KeepURL
	}
	ctx = j.showProgress(ctx, j.Out == blob.Stdio)
	err = j.judge(ctx, started)
	j.shown.End()
	if err != nil {
		return 0, err
	}
	return j.summary.ExitStatus, nil
}

// ruleUse is what the columns need of the rules.
func (j *job) ruleUse() ruleUse {
	records := slices.ContainsFunc(j.With, func(kind *batch.ColumnKind) bool { return kind.Records })
	use := ruleUse{verdicts: true, uses: j.Uses, explain: j.Explain || j.ReportFile != "", records: records, usage: batch.UsageOf(j.Verdicts)}
	if j.record != nil {
		use.used = j.record.Used
	}
	return use
}

// judge does the job and says what it did.
func (j *job) judge(ctx context.Context, started time.Time) error {
	inputs, err := j.Resolve(ctx, j.s.in)
	if err != nil {
		return err
	}
	if inputs, err = j.Deal(inputs); err != nil {
		return err
	}
	j.inputs.Part = j.Part()
	planned, err := j.writing().Plan(inputs)
	if err != nil {
		return err
	}
	if err := j.reserveMemory(inputs); err != nil {
		return err
	}
	j.inputs.Memory = j.BatchMemory()
	release, err := outputs.Claim(j.Out, j.Shard)
	if missing := (*outputs.MissingFolderError)(nil); errors.As(err, &missing) {
		return option.Errorf("%w, or write %s for an output for each input", err, option.Out.With(missing.Folder+"/"))
	}
	if err != nil {
		return err
	}
	defer release()
	j.record = outputs.NewRecord(ctx, j.Out, j.Manifest || j.Resume,
		manifest.Job{Manifest: manifest.Version, Program: "robotsbatch " + cli.Version(), Options: j.given, Shard: j.Shard})
	found, err := j.find(ctx, &j.Rules, j.ruleUse(), option.Out.With(j.Out), option.Report.With(j.ReportFile), option.SummaryJSON.With(j.SummaryJSON))
	if err != nil {
		return err
	}
	j.found = found
	if j.record != nil {
		j.versions = found.Versions(ctx)
	}
	if err := j.openFirst(ctx, planned); err != nil {
		return err
	}
	defer j.first.close()
	if j.rules, err = j.openRules(ctx, &j.Rules, found); err != nil {
		return err
	}
	defer j.rules.Close()
	if err := j.openTimelines(); err != nil {
		return err
	}
	var file blob.Writer // early: a name that cannot be written shows at once
	if j.SummaryJSON != "" {
		if file, err = blob.Create(ctx, j.SummaryJSON); err != nil {
			return option.Errorf("%s: %w", option.SummaryJSON, err)
		}
		_ = blob.SweepFile(j.SummaryJSON) // what killed runs left
		defer file.Abort()
	}
	if err := j.openReport(ctx); err != nil {
		return err
	}
	defer j.html.Abort()
	j.summary = j.NewSummary(inputs)
	if err := j.convertAll(ctx, planned); err != nil {
		return err
	}
	return j.finish(started, file)
}

// openTimelines looks the rules up by time, if rows have times.
func (j *job) openTimelines() (err error) {
	if j.AsOfColumn == "" {
		return nil
	}
	if err := j.checkTimeless(option.AsOf.With("column:"+j.AsOfColumn), j.rules.Timeless()); err != nil {
		return err
	}
	j.timelines, err = j.rules.Historical()
	return err
}

// openReport creates the page that -report asks for.
func (j *job) openReport(ctx context.Context) (err error) {
	if j.ReportFile == "" {
		return nil
	}
	agents := len(j.Chains)
	if j.Combined() != batch.CombineNone {
		agents = 1
	}
	if j.html, err = report.CreatePage(ctx, j.ReportFile, agents); err != nil {
		return option.Errorf("%s: %w", option.Report, err)
	}
	return nil
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
	resumed, err := j.record.Resume(ctx, planned, rules, j.versions, j.AcceptTruncated)
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

// newEvaluator returns an evaluator for a worker.
func (j *job) newEvaluator() batch.Evaluator {
	o := evaluate.Options{Agents: len(j.Chains), Combine: j.Combined(), ListMemory: j.BatchMemory(), Profile: j.Profile, Missing: j.Missing}
	newest := o
	o.Explain = j.Explain || j.html != nil
	o.Columns = j.Verdicts
	if j.html != nil {
		o.Columns = slices.Concat(j.Verdicts, tally.Columns)
	}
	o.AsOf, o.MaxAge = j.AsOfSeconds(), int64(j.MaxAge/time.Second)
	o.Timelines, o.BeforeFirst, o.EverDenied = j.timelines, j.BeforeFirst, j.EverDenied
	var e batch.Evaluator = evaluate.New(j.rules.Origins(), o)
	if j.CompareNewest {
		e = evaluate.WithNewest(e, evaluate.New(j.rules.Origins(), newest))
	}
	if j.timelines != nil {
		e = j.firstTime.Watch(e)
	}
	return j.html.Count(e)
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
		err = spareRules(j.found, option.Out.With(t.Path))
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
	stats, err := batch.Run(ctx, src, sink, j.newEvaluator, batch.Options{
		Emit: j.Emit, Workers: j.Workers, Memory: j.FlightMemory(),
		Progress: func(s batch.Stats) {
			j.shown.Report(&s, src)
			j.html.Progress(s.Rows)
		},
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

// finish writes the summary, and decides between success and too many rows
// without a verdict.
func (j *job) finish(started time.Time, file blob.Writer) error {
	s := j.summary
	s.Finish(started)
	tooMany := !j.MaxInvalid.Permits(s.Unknown(), s.Rows)
	if tooMany {
		s.ExitStatus = exitInvalid
	}
	if err := j.html.Write(s, time.Now()); err != nil {
		return option.Errorf("%s: %w", option.Report, err)
	}
	if file != nil {
		if err := s.Write(file); err != nil {
			return err
		}
	}
	j.shown.End()
	if tooMany {
		j.log.WarnOf(option.Messagef("%s of %s rows have no verdict, more than %s permits; the output is complete",
			report.Number(s.Unknown()), report.Number(s.Rows), option.MaxInvalid.With(j.MaxInvalid.String())))
	}
	j.warnRules()
	text := s.String()
	if !s.Complete {
		text = "the reader closed the output early, after " + report.Count(s.Rows, "row", "rows")
	}
	for _, note := range s.ShownNotes() {
		j.log.Info(note, "note", "note", note)
	}
	j.log.Info(text, "done", "summary", s)
	if s.Complete {
		j.log.Lines(s.Lines())
	}
	return nil
}

// warnRules warns of rules that decided nothing, and of times that are none, which are
// likely not those that were meant.
func (j *job) warnRules() {
	d := report.Doubts{TimeColumn: j.AsOfColumn, Schemeless: j.schemeless, KnownMissing: j.AllowNone}
	if t, ok := j.firstTime.Time(); ok {
		d.FirstTime = &t
	}
	for _, m := range d.Of(j.summary) {
		j.log.WarnOf(m)
	}
	for _, m := range j.rules.Misspelt() {
		j.log.WarnOf(m)
	}
}

// reportTruncated says which inputs of an output that is done were cut.
func (j *job) reportTruncated(src *frontier.Concatenation) {
	for _, t := range src.Truncated() {
		j.log.Warn(fmt.Sprintf("%s is cut, and its first %s taken: %v", t.Input, report.Count(t.Rows, "row was", "rows were"), t.Err))
		j.summary.Truncated = append(j.summary.Truncated, report.Truncated{Input: t.Input, Rows: t.Rows})
	}
}
