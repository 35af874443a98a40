package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/batch/tally"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher"
)

// job is one run of the main job.
type job struct {
	call
	config.Job
	inputs  []frontier.Input // of the shard, if there are shards
	planned []outputs.Output
	blanks  lines.Blanks            // the lines of lists that have a blank within the URL
	opened  *frontier.Concatenation // the inputs of the first output, opened before the rules; nil once startAll took it
	found   *ruleset.Found          // what each -rules is
	rules   *ruleset.Set
	// timelines are the rules by time; nil where all rows have the same.
	timelines matcher.Historical
	firstTime evaluate.FirstTime // that of a row
	misses    evaluate.Misses    // a sample of the authorities that the rules do not have
	html      *report.Page       // of -report; nil without it
	summary   *report.Summary
	record    *outputs.Record // the manifest; nil if there is none
	pool      *batch.Pool     // while outputs are written
	atOnce    int             // how many outputs are written at once
	// versions are those of the rules before they were opened; nil without record.
	versions *ruleset.Versions
	// stopped says that an earlier run of the shard did not end, and may have left temporary files.
	stopped bool
}

// newJob returns the main job as it is without flags.
func newJob() *job {
	return &job{call: newCall(), Job: config.Job{Rules: config.NewRules(), Output: config.NewOutput()}}
}

// Flags implements cli.Config.
func (j *job) Flags() cli.Flags { return j.Job.Flags(&j.Running) }

// failureTime bounds how long a store may take to get the summary of a job that failed.
const failureTime = 15 * time.Second

// failed writes the summary of a job that failed to -summary-json, so that an earlier job's
// summary is not taken for this one's. It does not replace a file that is no summary.
func (j *job) failed(ctx context.Context, err error, status int) {
	if j.SummaryJSON == "" || j.SummaryJSON == blob.Stdio {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failureTime)
	defer cancel()
	earlier, unreadable := report.IsSummary(ctx, j.SummaryJSON)
	if !earlier && !errors.Is(unreadable, fs.ErrNotExist) {
		return
	}
	s := j.summary
	if s == nil {
		s = j.NewSummary(nil)
	}
	s.Complete, s.ExitStatus, s.Error = false, status, j.log.Message(err)
	s.SetTimes(j.started)
	file, failed := blob.Create(ctx, j.SummaryJSON)
	if failed == nil {
		failed = s.Write(file)
	}
	if failed != nil && earlier {
		j.log.Warn(option.Messagef("%s is still that of an earlier run: %w", option.SummaryJSON.With(blob.Shown(j.SummaryJSON)), failed))
	}
}

// left implements command. It also says that -resume goes on, if the job has a manifest.
func (j *job) left() option.Message {
	m := leftText(j.Out)
	if j.record != nil {
		m = option.Messagef("%s, and %s goes on from here", m, option.Resume)
	}
	return m
}

// check adds the operands to -in, or stdin if there is no input and it is a pipe or a file, and returns an
// error for flags that do not go together.
func (j *job) check(ctx context.Context) error {
	j.In = append(j.In, j.operands...)
	if !j.HasInputs() && !slices.ContainsFunc(j.Sources, config.IsStdin) && console.IsPiped(j.s.in) {
		j.In, j.Reading.Unnamed = []string{blob.Stdio}, true
	}
	if err := refuseWebsites(j.In, "for one URL use robotsbatch explain -rules RULES %s; fetch a list first"); err != nil {
		return err
	}
	return j.Check(ctx, &j.Running, j.given)
}

// execute passes the flags on to what reads inputs and writes outputs, and does the job.
func (j *job) execute(ctx context.Context) (status int, err error) {
	j.limitMemory(j.Sources)
	ctx = blob.WithMemory(ctx, j.Memory)
	r, text := &j.Reading, j.WantsText()
	r.BatchRows, r.Blanks, r.Columns, r.Verdicts, r.Keep = j.BatchRows, &j.blanks, !text, j.Verdicts, j.Keep
	r.Extra = batch.ExtraColumns{Weight: j.Weight, Time: j.AsOfColumn}
	if text { // which has URLs alone
		r.Keep = batch.KeepURL
	}
	o := &j.Output.Options
	o.Keep, o.Verdicts, o.AllRows = j.Keep, j.Verdicts, j.Emit == batch.EmitAll && j.First == 0
	err = j.judge(j.showProgress(ctx, j.Out == blob.Stdio))
	if err != nil || j.DryRun {
		return exitDone, err
	}
	return j.summary.ExitStatus, nil
}

// setWanted sets what the rules are read for, which the columns decide, and warns of odd values of -use.
func (j *job) setWanted() {
	o := &j.Rules.Options
	o.Verdicts, o.Explain, o.Digests, o.Usage = true, j.Columns.Explain || j.ReportFile != "", slices.Contains(j.With, batch.BodyDigest), batch.UsageOf(j.Columns.Verdicts)
	o.Records = slices.ContainsFunc(j.With, func(kind *batch.ColumnKind) bool { return kind.Records })
	j.warnUses(j.Uses)
}

// judge does the whole job, from the inputs to the summary. All that can fail early is done before the
// rules are read, which may take long.
func (j *job) judge(ctx context.Context) error {
	if err := j.planOutputs(ctx); err != nil {
		return err
	}
	release, err := j.claimOut()
	if err != nil {
		return err
	}
	defer release()
	if j.First == 0 && !j.DryRun {
		j.record = outputs.NewRecord(ctx, j.Out, j.Manifest || j.Resume,
			manifest.Job{Manifest: manifest.Version, Program: "robotsbatch " + cli.Version(), Options: j.given, Shard: j.Shard})
		if j.record != nil {
			j.Used = j.record.AddRuleFile
		}
	}
	j.setWanted()
	if j.found, err = j.find(ctx, &j.Rules, j.written()...); err != nil {
		return err
	}
	if j.DryRun {
		return j.dryRun(ctx)
	}
	if j.record != nil {
		j.versions = j.found.Versions(ctx)
	}
	if err := j.openFirst(ctx); err != nil {
		return err
	}
	defer func() {
		if j.opened != nil { // startAll did not take it: the job ended before, or an earlier run completed that output
			_ = j.opened.Close() // it was only read from
		}
	}()
	if err := j.checkOutputs(); err != nil {
		return err
	}
	if err := j.showPlan(ctx); err != nil {
		return err
	}
	if j.rules, err = j.openRules(ctx, &j.Rules, j.found); err != nil {
		return err
	}
	defer j.rules.Close()
	if err := j.openTimelines(); err != nil {
		return err
	}
	return j.write(ctx)
}

// claimOut locks -out, so that no other run writes it, and returns what unlocks it. A dry run locks nothing, and
// only checks that the folder of -out exists.
func (j *job) claimOut() (release func(), err error) {
	if j.DryRun {
		release, err = func() {}, outputs.CheckFolder(j.Out)
	} else {
		release, err = outputs.Claim(j.Out, j.Shard)
	}
	if missing, ok := errors.AsType[*blob.MissingFolderError](err); ok {
		err = option.Errorf("%w, or write %s for an output for each input", err, option.Out.With(missing.Folder+"/"))
	}
	return release, err
}

// write creates the files of the summary and the report, so that an error shows before the work that
// takes long, writes all outputs, and then these files.
func (j *job) write(ctx context.Context) error {
	summary, err := create(ctx, option.SummaryJSON.With(j.SummaryJSON))
	if err != nil {
		return err
	}
	if summary != nil {
		defer summary.Abort()
	}
	page, err := create(ctx, option.Report.With(j.ReportFile))
	if err != nil {
		return err
	}
	if page != nil {
		defer page.Abort()
		agents := len(j.Chains)
		if j.Combined() != batch.CombineNone { // which have one verdict
			agents = 1
		}
		j.html = report.NewPage(page, agents)
	}
	j.summary = j.NewSummary(j.inputs)
	if err := j.convertAll(ctx); err != nil {
		return err
	}
	return j.finish(summary)
}

// create creates the file that an option names, and removes what killed runs left of it. It
// returns nil if the option is not given.
func create(ctx context.Context, file option.Given) (blob.Writer, error) {
	if file.Value == "" {
		return nil, nil
	}
	w, err := blob.Create(ctx, file.Value)
	if err != nil {
		return nil, option.Errorf("%s: %w", file.Name, err)
	}
	_ = blob.SweepFile(file.Value)
	return w, nil
}

// planOutputs finds the inputs of the job or shard, decides which outputs they go to, and
// divides the memory. It checks the inputs and outputs of all shards, so that each shard reports a
// mistake that concerns another.
func (j *job) planOutputs(ctx context.Context) error {
	all, err := j.Resolve(ctx, j.s.in, j.written()...)
	if err != nil {
		return err
	}
	if _, err := j.Output.Plan(all); err != nil {
		return err
	}
	if j.inputs, j.Reading.Part, err = j.Deal(all); err != nil {
		return err
	}
	if j.Reading.Part.Count > 0 {
		j.Output.Part = "-" + j.Shard.String()
	}
	if j.planned, err = j.Output.Plan(j.inputs); err != nil {
		return err
	}
	if err := j.reserveMemory(j.inputs, len(j.planned)); err != nil {
		return err
	}
	j.Reading.Memory, j.Reading.Piece = j.BatchMemory(), j.PieceMemory()
	return nil
}

// written returns what the job writes, by the options that name it; a value is empty if the option is not
// given.
func (j *job) written() []option.Given {
	return []option.Given{option.Out.With(j.Out), option.Report.With(j.ReportFile), option.SummaryJSON.With(j.SummaryJSON)}
}

// openTimelines sets j.timelines, if -as-of names a column with the time of each row. It returns an
// error for rules without times.
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

// newEvaluator returns the evaluator of a worker, as the flags ask for it. It also counts verdicts for
// -report, and notes the time of the first row that has one.
func (j *job) newEvaluator() batch.Evaluator {
	o := evaluate.Options{Agents: len(j.Chains), Combine: j.Combined(), ListMemory: j.BatchMemory(), Profile: j.Profile, Missing: j.Missing}
	o.Explain = j.Explain || j.html != nil
	o.Columns = j.Verdicts
	if j.html != nil {
		o.Columns = slices.Concat(j.Verdicts, tally.Columns)
	}
	o.AsOf, o.MaxAge = j.AsOfSeconds(), int64(j.MaxAge/time.Second)
	o.Timelines, o.BeforeFirst, o.EverDenied = j.timelines, j.BeforeFirst, j.EverDenied
	o.AllowUnreadable, o.Misses = j.AllowUnreadable, &j.misses
	var e batch.Evaluator = evaluate.New(j.rules.Origins(), o)
	if j.timelines != nil {
		e = j.firstTime.Watch(e)
	}
	return j.html.Counting(e)
}

// checkLimits returns a message for each limit that the rows counted in s exceed. If there is one, it
// sets the exit status of s.
func checkLimits(l *config.Limits, s *report.Summary) (exceeded []option.Message) {
	for _, limit := range []struct {
		permitted cli.Allowance
		count     int64
		what      string
		flag      option.Name
	}{
		{l.MaxInvalid, s.Unknown(), "have no verdict", option.MaxInvalid},
		{l.MaxNoRobots, s.OfNothing(), "are of hosts of which nothing is known", option.MaxNoRobots},
	} {
		if !limit.permitted.Permits(limit.count, s.Rows) {
			s.ExitStatus = exitExceeded
			exceeded = append(exceeded, option.Messagef("%s of %s rows %s, more than %s permits; the output is complete",
				report.Number(limit.count), report.Number(s.Rows), limit.what, limit.flag.With(limit.permitted.String())))
		}
	}
	return exceeded
}

// finish completes the summary, writes the report, writes the summary to file unless that is nil, and
// prints warnings and the summary.
func (j *job) finish(file blob.Writer) error {
	s := j.summary
	s.CountOdd(j.rules.Odd(), j.rules.Captured())
	if s.Limit > s.Rows {
		s.Limit = 0 // there were fewer
	}
	s.SetTimes(j.started)
	exceeded := checkLimits(&j.Limits, s)
	if err := j.html.Write(s, time.Now()); err != nil {
		return option.Errorf("%s: %w", option.Report, err)
	}
	if file != nil {
		if err := s.Write(file); err != nil {
			return err
		}
	}
	j.shown.End()
	j.log.WarnAll(exceeded)
	j.warnDoubts()
	j.noteOdd(j.rules.Odd(), whenRead)
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

// warnDoubts warns of what was likely not meant: counts that point to wrong rules or columns, blanks
// within URLs, hosts that may be allowed only because WARC files have no record of a failed fetch,
// misspelt agents, and hosts that the rules have under another name.
func (j *job) warnDoubts() {
	d := report.Doubts{TimeColumn: j.AsOfColumn, Schemeless: j.schemeless, KnownMissing: j.AllowNone}
	if t, ok := j.firstTime.Time(); ok {
		d.FirstTime = &t
	}
	j.log.WarnAll(d.Of(j.summary))
	if count, line := j.blanks.Count(); count > 0 {
		j.log.Notice(report.WithBlanks(count, line))
	}
	if c := j.rules.Captured(); c != nil && c.WARC && j.Asked == "" && j.AsOfColumn == "" {
		if m := j.summary.Unlisted(); !m.Empty() {
			j.log.Notice(m)
		}
	}
	j.log.WarnAll(j.rules.Misspelt())
	j.noteOtherNames()
}

// noteOtherNames says that the rules have hosts of the inputs by another name alone, such as with www.
func (j *job) noteOtherNames() {
	missing := j.misses.Authorities()
	renamed := slices.DeleteFunc(slices.Clone(missing), func(authority string) bool { return j.rules.Near(authority) == "" })
	if len(renamed) > 0 {
		j.log.Notice(report.OtherNames(len(renamed), len(missing), renamed[0], j.rules.Near(renamed[0])))
	}
}

// longFrom is the size of all inputs in bytes from which a job prints its plan on a terminal before it
// begins. It is a variable for tests.
var longFrom = int64(1 << 30)

// dryRun checks inputs and outputs as far as that is quick, and prints the plan of the job. j.found
// must be set.
func (j *job) dryRun(ctx context.Context) error {
	bytes, err := j.inputBytes(ctx, true) // with objects
	if err != nil {
		return err
	}
	if err := j.checkOutputs(); err != nil {
		return err
	}
	var first *frontier.Source
	for i, out := range j.planned {
		isObject := blob.IsURL(out.Inputs[0].Path)
		isPipe := !isObject && !areFiles(out.Inputs[:1])
		if isObject && i > 0 || isPipe {
			continue // each object takes a request, so one is checked; a pipe waits for its writer
		}
		source, err := j.checkOutput(ctx, out)
		if err != nil {
			return err
		}
		if i == 0 {
			first = source
		}
	}
	return j.printPlan(ctx, j.s.out, first, bytes, true)
}

// inputBytes returns the size of all inputs in bytes, or unless objects is set of all but objects, because each
// of these takes a request.
func (j *job) inputBytes(ctx context.Context, objects bool) (bytes int64, err error) {
	for _, in := range j.inputs {
		if blob.IsURL(in.Path) && !objects {
			continue
		}
		info, err := blob.Stat(ctx, in.Path)
		if err != nil {
			return 0, err
		}
		bytes += info.Size
	}
	return bytes, nil
}

// checkOutput returns the error that an output would have when it begins: it opens the inputs, and the writer of
// their format with nowhere to write. It returns the first input, now closed, for its format and columns.
func (j *job) checkOutput(ctx context.Context, out outputs.Output) (*frontier.Source, error) {
	src, err := j.openInputs(ctx, out)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if areFiles(out.Inputs) {
		if err := src.OpenOthers(); err != nil {
			return nil, err
		}
	}
	first := src.First()
	t, err := j.targetOf(out, first)
	if err != nil {
		return nil, err
	}
	nowhere, _ := outputs.Target{Path: blob.Stdio}.Create(ctx, io.Discard) // no file is created, so nothing fails
	sink, err := j.Output.NewSink(t, first, j.BatchMemory(), nowhere)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", first.Input.Name(), err)
	}
	sink.Abort()
	return first, nil
}

// showPlan prints the plan of a job with large inputs on a terminal. It does not look up what
// takes long: the sizes of objects, and how many hosts a folder has.
func (j *job) showPlan(ctx context.Context) error {
	if !j.shown.OnTerminal() || j.opened == nil {
		return nil
	}
	bytes, err := j.inputBytes(ctx, false) // without objects
	if err != nil || bytes < longFrom {
		return err
	}
	return j.printPlan(ctx, j.s.err, j.opened.First(), bytes, false)
}

// printPlan prints what the job would do, a line each for inputs, outputs, rules, agents and memory.
// first is the first input, nil if it could not be opened yet; bytes is the size of all, 0 if it is
// not known. whole is as for [ruleset.Found.Plan].
func (j *job) printPlan(ctx context.Context, w io.Writer, first *frontier.Source, bytes int64, whole bool) error {
	rules, err := j.found.Plan(ctx, whole)
	if err != nil {
		return err
	}
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%-8s %s\n", what, fmt.Sprintf(format, args...))
	}
	names := cli.Map(j.inputs, frontier.Input.Name)
	// A size that is not known is left out, and so are the names if there are none.
	size := strings.TrimSuffix(", "+report.Count(bytes, "byte", "bytes"), ", 0 bytes")
	line("inputs", "%s", strings.TrimSuffix(report.Count(int64(len(names)), "file", "files")+size+": "+ruleset.SomeOf(names), ": "))
	if err := j.planOutput(line, first); err != nil {
		return err
	}
	for i := range rules {
		line("rules", "%s", plannedText(&rules[i]))
	}
	agents := cli.Map(j.Chains, func(chain matcher.Chain) string { return strings.Join(chain, ", else ") })
	line("agents", "%s", strings.Join(agents, "; "))
	line("memory", "%s, %s", cli.SizeText(j.Memory), report.Count(int64(j.Workers), "worker", "workers"))
	return nil
}

// planOutput prints, by line, the format and columns of the first input, and the outputs. first is nil
// if it could not be opened yet.
func (j *job) planOutput(line func(what, format string, args ...any), first *frontier.Source) error {
	switch {
	case len(j.planned) == 0:
		line("outputs", "none: no input falls to this shard")
		return nil
	case first == nil:
		line("format", "known when %s is read", j.planned[0].Inputs[0].Name())
		line("outputs", "%s", report.OutputName(j.planned[0].Path))
		return nil
	}
	t, err := j.targetOf(j.planned[0], first)
	if err != nil {
		return err
	}
	line("format", "%s", strings.TrimSuffix(fmt.Sprintf("%s, %s", first.Format, first.Codec), ", none"))
	if first.Schema != nil {
		columns := cli.Map(first.Schema.Fields(), func(field arrow.Field) string { return field.Name })
		line("columns", "%s; URLs in %s", strings.Join(columns, ", "), first.URLColumn)
	}
	with := ""
	if t.Format != format.Text { // which has URLs alone
		verdicts := cli.Map(j.Verdicts, func(v batch.VerdictColumn) string { return v.Name })
		with = ", with " + strings.Join(verdicts, ", ")
	}
	line("outputs", "%s, the first is %s: %s%s", report.Count(int64(len(j.planned)), "file", "files"), report.OutputName(t.Path), t.Format, with)
	return nil
}

// plannedText describes a source of rules for the plan. It leaves out what is not known.
func plannedText(p *ruleset.Planned) string {
	text := p.Name + ": " + p.Kind
	if p.Files > 0 {
		text += ", " + report.Count(int64(p.Files), "file", "files")
	}
	if p.Bytes > 0 {
		text += ", " + report.Number(p.Bytes) + " bytes"
	}
	if p.Hosts >= 0 {
		text += ", " + report.Count(p.Hosts, "host", "hosts")
	}
	if p.History {
		text += ", with a history"
	}
	if !p.Newest.IsZero() {
		text += ", as of " + p.Newest.Format(time.RFC3339)
	}
	return text
}

// jobHelp is what the program does without a command.
var jobHelp = &cli.Command{
	Name: "robotsbatch", New: func() cli.Config { return newJob() },
	Usage: []string{"-in FILE -rules RULES [-agent NAME] [-out FILE] [flags]"},
	About: "checks every URL of a list or table against robots.txt (RFC 9309): may this crawler fetch it? It reads files, " +
		"contacts no website, and keeps the order of the rows.",
	Examples: []string{
		"-in frontier.arrow -rules robots -agent CCBot -out verdicts.arrow",
		"-in urls.txt.zst -rules robots -emit allowed -out ok.txt.zst",
		`-in "*.arrow" -rules my.rules -agent GPTBot -agent CCBot -out o/`,
	},
	Exits: []cli.Exit{
		doneExit, failedExit, usageExit, {Status: "3", Meaning: "done, but -max-invalid or -max-no-robots was exceeded"}, retryExit, stoppedExit,
	},
}
