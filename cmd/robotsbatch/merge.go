package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/store/blob"
)

// mergeHelp ends an array of jobs.
var mergeHelp = &cli.Command{
	Name: "merge", New: func() cli.Config { return newMerge() },
	Usage: []string{"merge FOLDER"},
	About: "joins the shards of a job: it checks that all are done, adds up their counts, and writes one manifest.",
	Details: "FOLDER is the -out of jobs with -shard, on this machine or in an object store. Missing shards are named in the form that schedulers take, such as " +
		"sbatch --array=3,7-9. The outputs stay where they are, and must be unchanged.",
	Examples: []string{"merge verdicts/", "merge s3://crawl/verdicts/"},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "the job is complete"},
		{Status: "3", Meaning: "the job is complete, but -max-invalid or -max-no-robots was exceeded"},
		{Status: "1", Meaning: "an output is missing or changed, or the shards do not belong together"},
		usageExit,
		{Status: "75", Meaning: "shards are missing, or have not ended: run those and try again; or a store or disk failed"},
		stoppedExit,
	},
}

// mergeCommand is its configuration.
type mergeCommand struct {
	call
	config.Limits
}

func newMerge() *mergeCommand { return &mergeCommand{newCall(), config.NewLimits()} }

// Flags implements cli.Config.
func (c *mergeCommand) Flags() cli.Flags {
	return append(append(c.Limits.Flags(), c.Running.Flags().Only("store-timeout")...), c.MessageFlags()...)
}

// run merges shards.
func (c *mergeCommand) run(ctx context.Context) (status int, err error) {
	if len(c.operands) != 1 {
		return 0, option.Usagef("merge takes one folder of outputs, the %s of the shards", option.Out)
	}
	folder := c.operands[0]
	if err := config.ResolveNames(option.Out, &folder); err != nil {
		return 0, err
	}
	if !outputs.IsFolder(folder) && !isMissing(folder) {
		return 0, option.Usagef("%s is not a folder: name the %s of the shards", blob.Shown(folder), option.Out)
	}
	whole, shards, err := outputs.Merge(ctx, folder)
	if err != nil {
		return 0, err
	}
	summary := report.Merged(whole, func(name string) string { return outputs.Below(folder, name) })
	summary.Version, summary.MaxAgeSeconds = cli.Version(), int64(maxAge(&whole.Job)/time.Second)
	exceeded := exceeded(&c.Limits, summary)
	c.log.Info(fmt.Sprintf("%s make a whole: %s", report.Count(int64(shards), "shard", "shards"), summary), "merged", "shards", shards, "summary", summary)
	c.log.Lines(summary.Lines())
	for _, m := range exceeded {
		c.log.WarnOf(m)
	}
	return summary.ExitStatus, nil
}

// maxAge is the -max-age of a job.
func maxAge(j *manifest.Job) time.Duration {
	age := config.NewRules().MaxAge
	for _, given := range j.Options["max-age"] {
		_ = cli.Age(&age)(given) // it was one when the job ran
	}
	return age
}

// isMissing tells whether a local name is that of nothing.
func isMissing(name string) bool {
	_, err := os.Stat(name)
	return !blob.IsURL(name) && errors.Is(err, fs.ErrNotExist)
}
