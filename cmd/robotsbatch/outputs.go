package main

import (
	"context"
	"fmt"
	"slices"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/outputs"
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

// target decides how an output is written, now that its first input is known.
func (c *job) target(out outputs.Output, first *frontier.Source) (outputs.Target, error) {
	t, err := c.writing().Target(out, first)
	if err == nil {
		err = c.checkFormat(t)
	}
	if err == nil {
		err = t.Spare(out.Inputs)
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
