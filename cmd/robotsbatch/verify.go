package main

import (
	"context"
	"fmt"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/format"
	"robotsbatch/io/report"
	"robotsbatch/io/verify"
)

// verifyHelp is the command verify.
var verifyHelp = cli.Command{
	Name: "verify", Set: verifyCommand,
	Usage: []string{"verify [-quiet] FILE|FOLDER..."},
	About: "says whether outputs still are, byte for byte, what was written, and whether they can be read to their end.",
	Details: "A FOLDER of outputs is checked against the manifest in it, a FILE against its own (-manifest) or that of its folder: size and " +
		"checksum of the whole, and of each batch or row group, so that it says which one is damaged and where. A FILE without a manifest, or " +
		"in an object store, is read to its end, which finds what Arrow, Parquet, gzip and zstd know of themselves. Of a rule pack " +
		"everything is checked. Each damage is a line on stderr.",
	Examples: []string{"verify verdicts/", "verify verdicts.parquet site.rules"},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "nothing is damaged"},
		{Status: "1", Meaning: "something is damaged, missing or cannot be read, or the job that wrote the folder did not come to its end"},
		usageExit,
		stoppedExit,
	},
}

// verify says whether outputs still are what was written.
func (c *call) verify(ctx context.Context) (status int, err error) {
	if len(c.operands) == 0 {
		return 0, usageErrorf("verify needs an output: a file, a folder of outputs, a manifest or a rule pack")
	}
	v := verify.New()
	checked, damaged := 0, 0
	for _, name := range c.operands {
		err := v.Check(ctx, name, func(f verify.Finding) {
			checked++
			if len(f.Damage) > 0 {
				damaged++
			} else if !c.quiet {
				fmt.Fprintln(c.s.out, report.Printable(f.Name+": "+intact(&f)))
			}
			for _, err := range f.Damage {
				c.log.Warn(report.Message(err))
			}
		})
		if err != nil {
			return 0, err
		}
	}
	switch {
	case damaged == 1:
		return 0, fmt.Errorf("1 of %s is damaged", report.Count(int64(checked), "file", "files"))
	case damaged > 1:
		return 0, fmt.Errorf("%s of %s are damaged", report.Number(int64(damaged)), report.Count(int64(checked), "file", "files"))
	}
	return exitDone, nil
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
