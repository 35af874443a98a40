package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/report"
	"robotsbatch/io/report/verify"
)

// verifyHelp is the command verify.
var verifyHelp = &cli.Command{
	Name: "verify", New: func() cli.Config { return newVerify() },
	Usage: []string{"verify [-quiet|-verbose] FILE|FOLDER..."},
	About: "checks that outputs are still, byte for byte, what was written, and that they can be read to their end.",
	Details: "A FOLDER of outputs is checked against the manifest in it, a FILE against its own (-manifest) or that of its folder: size and " +
		"checksum of the whole, and of each batch or row group, so that it says which one is damaged and where. A FILE without a manifest, or " +
		"in an object store, is read to its end, which finds what Arrow, Parquet, gzip and zstd know of themselves. Of a rule pack " +
		"everything is checked. Each problem is a line on stderr; a total on stdout says how much is intact.",
	Examples: []string{"verify verdicts/", "verify verdicts.parquet site.rules"},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "nothing is damaged"},
		{Status: "1", Meaning: "something is damaged or missing, or the job that wrote the folder is unfinished"},
		usageExit,
		stoppedExit,
	},
}

// verifyCommand is its configuration.
type verifyCommand struct{ call }

func newVerify() *verifyCommand { return &verifyCommand{newCall()} }

// Flags implements cli.Config.
func (c *verifyCommand) Flags() cli.Flags {
	return append(c.Running.Flags().Only("store-timeout"),
		cli.Flag{
			Name: "verbose", Topic: config.RunningTopic, Indifferent: true,
			Short: "also a line for each intact file",
			Value: &c.Verbose,
		},
		cli.Flag{
			Name: "quiet", Topic: config.RunningTopic, Indifferent: true,
			Short: "name only what is damaged, missing or unfinished",
			Value: &c.Quiet,
		},
	)
}

// run says whether outputs still are what was written.
func (c *verifyCommand) run(ctx context.Context) (status int, err error) {
	if len(c.operands) == 0 {
		return 0, option.Usagef("verify needs an output: a file, a folder of outputs, a manifest or a rule pack")
	}
	v := verify.New()
	var total verifyTotal
	unlisted := 0
	for _, name := range c.operands {
		err := v.Check(ctx, name, func(f verify.Finding) {
			if f.Unlisted {
				unlisted++
				c.log.Warn(report.Printable(f.Name) + ": the manifest does not list it")
				return
			}
			total.add(&f)
			if c.Verbose && f.State() == verify.Intact {
				fmt.Fprintln(c.s.out, report.Printable(f.Name+": "+intact(&f)))
			}
			for _, err := range f.Damage {
				c.log.Warn(c.log.Message(err))
			}
		})
		if err != nil {
			return 0, err
		}
	}
	if unlisted > 0 {
		c.log.Warn(report.Count(int64(unlisted), "file is", "files are") + " not in the manifest of their folder: outputs whose inputs are gone, or written by something else")
	}
	if !c.Quiet {
		total.print(c.s.out, c.Verbose)
	}
	return exitDone, total.err()
}

// verifyTotal sums up what was checked.
type verifyTotal struct {
	states verify.States
	tables int // intact ones
	rows   int64
	only   string // about the only intact one
}

// add adds a finding.
func (t *verifyTotal) add(f *verify.Finding) {
	if t.states[f.State()]++; f.State() != verify.Intact {
		return
	}
	switch {
	case f.Output != nil:
		t.tables, t.rows = t.tables+1, t.rows+f.Output.Counts.Selected
	case f.IsTable:
		t.tables, t.rows = t.tables+1, t.rows+f.Rows
	}
	t.only = f.Name + ": " + intact(f)
}

// print says how much is intact; of a single file more, unless that was said.
func (t *verifyTotal) print(w io.Writer, said bool) {
	switch n := t.states[verify.Intact]; {
	case n == 1 && !said:
		fmt.Fprintln(w, report.Printable(t.only))
	case n > 1:
		text := report.Count(int64(n), "file", "files") + " intact"
		if t.tables > 0 {
			text += ", " + report.Count(t.rows, "row", "rows")
		}
		fmt.Fprintln(w, text)
	}
}

// err says how many files are damaged and missing, and whether jobs are unfinished.
func (t *verifyTotal) err() error {
	files := t.states[verify.Intact] + t.states[verify.Damaged] + t.states[verify.Missing]
	var parts []string
	for _, state := range []struct {
		of   verify.State
		name string
	}{{verify.Damaged, "damaged"}, {verify.Missing, "missing"}} {
		n := t.states[state.of]
		if n == 0 {
			continue
		}
		text := report.Number(int64(n))
		if len(parts) == 0 {
			text += " of " + report.Count(int64(files), "file", "files")
		}
		if n == 1 {
			text += " is "
		} else {
			text += " are "
		}
		parts = append(parts, text+state.name)
	}
	if n := t.states[verify.Unfinished]; n > 0 {
		parts = append(parts, report.Count(int64(n), "job is", "jobs are")+" unfinished")
	}
	if len(parts) == 0 {
		return nil
	}
	return errors.New(strings.Join(parts, ", "))
}

// intact says what was checked of a file that is not damaged.
func intact(f *verify.Finding) string {
	switch o := f.Output; {
	case f.Format == format.RulePack:
		return "intact: every checksum is right, and everything is in its place"
	case o != nil:
		return fmt.Sprintf("intact: %s, %s in %s", report.Count(o.Counts.Selected, "row", "rows"),
			report.Count(o.Output.Size, "byte", "bytes"), report.Count(int64(len(o.Parts)), "part", "parts"))
	case f.IsTable:
		return fmt.Sprintf("readable to its end, %s; there is no manifest to compare it with", report.Count(f.Rows, "row", "rows"))
	}
	return "readable to its end; there is no manifest to compare it with"
}
