package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
)

// longFrom is the size of inputs from which a job shows its plan on a terminal, in bytes. It is
// a variable for tests.
var longFrom = int64(1 << 30)

// dryRun prints the plan and does nothing of it.
func (j *job) dryRun(ctx context.Context, inputs []frontier.Input, planned []outputs.Output, written []option.Given) error {
	if err := outputs.CheckFolder(j.Out); err != nil {
		return withFolder(err)
	}
	found, err := j.find(ctx, &j.Rules, j.ruleUse(), written...)
	if err != nil {
		return err
	}
	j.found = found
	bytes := int64(0)
	for _, in := range inputs {
		info, err := blob.Stat(ctx, in.Path)
		if err != nil {
			return err
		}
		bytes += info.Size
	}
	var src *frontier.Concatenation
	if len(planned) > 0 && planned[0].Inputs[0].Path != blob.Stdio {
		if src, err = j.openInputs(ctx, planned[0]); err != nil {
			return err
		}
		defer src.Close()
		if !readsObjects(inputs) { // each takes a request
			if err := src.OpenOthers(); err != nil {
				return err
			}
		}
	}
	rules, err := found.Plan(ctx, true)
	if err != nil {
		return err
	}
	return j.plan(j.s.out, inputs, bytes, planned, src, rules)
}

// showPlan prints the plan of a job with large inputs on a terminal. It looks up nothing that
// takes long: neither sizes of objects nor how many hosts a folder has.
func (j *job) showPlan(ctx context.Context, inputs []frontier.Input, planned []outputs.Output) error {
	if !j.shown.OnTerminal() || j.first.src == nil {
		return nil
	}
	bytes := int64(0)
	for _, in := range inputs {
		if info, err := os.Stat(in.Path); err == nil {
			bytes += info.Size()
		}
	}
	if bytes < longFrom {
		return nil
	}
	rules, err := j.found.Plan(ctx, false)
	if err != nil {
		return err
	}
	return j.plan(j.s.err, inputs, bytes, planned, j.first.src, rules)
}

// plan prints what the job does. src is the source of the first output; nil if it is not known.
func (j *job) plan(w io.Writer, inputs []frontier.Input, bytes int64, planned []outputs.Output, src *frontier.Concatenation, rules []ruleset.Planned) error {
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%-8s %s\n", what, fmt.Sprintf(format, args...))
	}
	var names []string
	for _, in := range inputs {
		names = append(names, in.Name())
	}
	line("inputs", "%s, %s bytes: %s", report.Count(int64(len(inputs)), "file", "files"), report.Number(bytes), ruleset.SomeOf(names))
	if err := j.planOutputs(planned, src, line); err != nil {
		return err
	}
	for _, p := range rules {
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
		line("rules", "%s", text)
	}
	var agents []string
	for _, chain := range j.Chains {
		agents = append(agents, strings.Join(chain, ", else "))
	}
	line("agents", "%s", strings.Join(agents, "; "))
	line("memory", "%s, %s", cli.SizeText(j.Memory), report.Count(int64(j.Workers), "worker", "workers"))
	return nil
}

// planOutputs says how the first input is read, and what is written.
func (j *job) planOutputs(planned []outputs.Output, src *frontier.Concatenation, line func(what, format string, args ...any)) error {
	if len(planned) == 0 {
		line("outputs", "none: no input falls to this shard")
		return nil
	}
	out := planned[0]
	if src == nil {
		line("format", "known when stdin is read")
		line("outputs", "%s", blob.Shown(out.Path))
		return nil
	}
	first := src.First()
	t, err := j.Output.Target(out, first)
	if err == nil {
		err = j.checkFormat(t)
	}
	if err == nil {
		err = j.spare(out.Inputs, t.Path)
	}
	if err == nil {
		err = j.checkColumns(t, first)
	}
	if err != nil {
		return err
	}
	line("format", "%s", strings.TrimSuffix(fmt.Sprintf("%s, %s", first.Format, first.Codec), ", none"))
	var columns, verdicts []string
	if first.Schema != nil {
		for _, field := range first.Schema.Fields() {
			columns = append(columns, field.Name)
		}
		line("columns", "%s; URLs in %s", strings.Join(columns, ", "), first.URLColumn)
	}
	for _, column := range j.Verdicts {
		verdicts = append(verdicts, column.Name)
	}
	line("outputs", "%s: %s, the first is %s, with %s", report.Count(int64(len(planned)), "file", "files"), t.Format, t.Name(), strings.Join(verdicts, ", "))
	return nil
}

// checkColumns finds that an input has a column of the output's already.
func (j *job) checkColumns(t outputs.Target, first *frontier.Source) error {
	if first.Schema == nil || t.Format == format.Text {
		return nil
	}
	var kept []string
	for _, field := range first.Schema.Fields() {
		if j.Keep == batch.KeepAll || j.Keep == batch.KeepURL && field.Name == first.URLColumn {
			kept = append(kept, field.Name)
		}
	}
	if err := batch.CheckNames(kept, j.Verdicts); err != nil {
		return fmt.Errorf("%s: %w", first.Input.Name(), err)
	}
	return nil
}
