package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
)

// plan says what the job would do, and does nothing of it.
func (j *job) plan(ctx context.Context, inputs []frontier.Input, planned []outputs.Output, written []option.Given) error {
	found, err := j.find(ctx, &j.Rules, j.ruleUse(), written...)
	if err != nil {
		return err
	}
	line := func(what, format string, args ...any) {
		fmt.Fprintf(j.s.out, "%-8s %s\n", what, fmt.Sprintf(format, args...))
	}
	var names []string
	bytes := int64(0)
	for _, in := range inputs {
		info, err := blob.Stat(ctx, in.Path)
		if err != nil {
			return err
		}
		names, bytes = append(names, in.Name()), bytes+info.Size
	}
	line("inputs", "%s, %s bytes: %s", report.Count(int64(len(inputs)), "file", "files"), report.Number(bytes), ruleset.SomeOf(names))
	if err := j.planOutputs(ctx, planned, line); err != nil {
		return err
	}
	rules, err := found.Plan(ctx)
	if err != nil {
		return err
	}
	for _, p := range rules {
		text := p.Name + ": " + p.Kind
		if p.Files > 0 {
			text += fmt.Sprintf(", %s, %s bytes", report.Count(int64(p.Files), "file", "files"), report.Number(p.Bytes))
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
func (j *job) planOutputs(ctx context.Context, planned []outputs.Output, line func(what, format string, args ...any)) error {
	if len(planned) == 0 {
		line("outputs", "none: no input falls to this shard")
		return nil
	}
	out := planned[0]
	if first := out.Inputs[0]; first.Path == blob.Stdio {
		line("format", "known when stdin is read")
		line("outputs", "%s", blob.Shown(out.Path))
		return nil
	}
	j.inputs.Memory, j.inputs.Piece = j.BatchMemory(), j.PieceMemory()
	src, err := j.openInputs(ctx, out)
	if err != nil {
		return err
	}
	defer src.Close()
	first := src.First()
	t, err := j.writing().Target(out, first)
	if err == nil {
		err = j.checkFormat(t)
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
