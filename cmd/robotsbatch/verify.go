package main

import (
	"context"
	"fmt"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/io/report"
	"robotsbatch/io/report/verify"
)

// verifyHelp is the command verify.
var verifyHelp = &cli.Command{
	Name: "verify", New: func() cli.Config { return newVerify() },
	Usage: []string{"verify [-quiet|-verbose] FILE|FOLDER..."},
	About: "checks that outputs are still, byte for byte, what was written, and that they can be read to their end.",
	Details: "A FOLDER of outputs is checked against the manifest in it, a FILE against its own (-manifest) or that of its folder: size and " +
		"checksum of the whole, and of each batch or row group, so that it says which one is damaged and where. A folder of an object " +
		"store has one once its shards are merged. A FILE without a manifest, and a single object, is read to its end, which finds what Arrow, Parquet, gzip and zstd know of themselves. Of a rule pack " +
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
		c.ProgressFlag(),
		c.MessageFlags().Only("log")[0],
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
	ctx = c.showProgress(ctx, c.Verbose)
	v := verify.New()
	v.Measure(ctx, c.operands)
	var total verify.Total
	unlisted := 0
	for _, name := range c.operands {
		err := v.Check(ctx, name, func(f verify.Finding) {
			if f.Unlisted {
				unlisted++
				c.log.Warn(report.Printable(f.Name) + ": the manifest does not list it")
				return
			}
			total.Add(&f)
			if c.Verbose && f.State() == verify.Intact {
				fmt.Fprintln(c.s.out, report.Printable(f.Name+": "+f.Text()))
			}
			for _, err := range f.Damage {
				c.log.Warn(c.log.Message(err))
			}
		})
		if err != nil {
			return 0, err
		}
	}
	c.shown.End()
	if unlisted > 0 {
		c.log.Warn(report.Count(int64(unlisted), "file is", "files are") + " not in the manifest of their folder: the inputs of these outputs are gone, or another program wrote them")
	}
	if !c.Quiet {
		total.Write(c.s.out, c.Verbose)
	}
	return exitDone, total.Err()
}
