package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/format"
	"robotsbatch/io/report"
	"robotsbatch/io/verify"
)

// runVerify says whether outputs still are what was written.
func runVerify(ctx context.Context, args []string, s streams) int {
	c := newConfig()
	names, err := cli.ParseMixed(program.FlagSet(program.Command("verify"), c), args)
	if errors.Is(err, flag.ErrHelp) {
		return printCommandHelp(s, program.Command("verify"))
	}
	log := newConsole(s.err, false, c.quiet).of("verify")
	if err == nil && len(names) == 0 {
		err = usageErrorf("verify needs an output: a file, a folder of outputs, a manifest or a rule pack")
	}
	if err != nil {
		return log.fail(err)
	}
	ctx = blob.WithTimeout(ctx, c.storeTimeout)
	v := verify.New()
	checked, damaged := 0, 0
	for _, name := range names {
		err := v.Check(ctx, name, func(f verify.Finding) {
			checked++
			if len(f.Damage) > 0 {
				damaged++
			} else if !c.quiet {
				fmt.Fprintln(s.out, report.Printable(f.Name+": "+intact(&f)))
			}
			for _, err := range f.Damage {
				log.warn(report.Message(err))
			}
		})
		if err != nil {
			return log.fail(fmt.Errorf("stopped (%w)", err))
		}
	}
	switch {
	case damaged == 1:
		return log.fail(fmt.Errorf("1 of %s is damaged", report.Count(int64(checked), "file", "files")))
	case damaged > 1:
		return log.fail(fmt.Errorf("%s of %s are damaged", report.Number(int64(damaged)), report.Count(int64(checked), "file", "files")))
	}
	return exitDone
}

// intact says what was checked of a file that is not damaged.
func intact(f *verify.Finding) string {
	switch o := f.Output; {
	case f.Format == format.RulePack:
		return "intact: every checksum is right, and everything is in its place"
	case o != nil:
		return fmt.Sprintf("intact: %s, %s in %s", report.Count(o.Counts.Written, "row", "rows"),
			report.Count(o.Output.Size, "byte", "bytes"), report.Count(int64(len(o.Parts)), "part", "parts"))
	case f.IsTable:
		return fmt.Sprintf("readable to its end, %s; there is no manifest to compare it with", report.Count(f.Rows, "row", "rows"))
	}
	return "readable to its end; there is no manifest to compare it with"
}
