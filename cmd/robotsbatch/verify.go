package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/report/verify"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher/urls"
)

// verifyHelp is the command verify.
var verifyHelp = &cli.Command{
	Name: "verify", New: func() cli.Config { return &verifyCommand{call: newCall()} },
	Usage: []string{"verify [-quiet|-verbose] FILE|FOLDER...", "verify -for HOST PACK...", "verify -merge FOLDER"},
	About: "says what outputs and rule packs are, and checks that they are whole: still, byte for byte, what was written, and readable to their end.",
	Details: "A FOLDER of outputs is checked against the manifest in it, a FILE against its own (-manifest) or that of its folder: size and " +
		"checksum of the whole, and of each batch or row group, so that it says which one is damaged and where. Without one, a FOLDER of shards is checked against " +
		"theirs, and missing shards are named in the form that schedulers take, such as sbatch --array=3,7-9. A FILE without a manifest, and a single object, is read " +
		"to its end, which finds what Arrow, Parquet, gzip and zstd know of themselves. Of a rule PACK everything is checked, and what it has is said. " +
		"Each problem is a line on stderr; a total on stdout says how much is intact.",
	Examples: []string{"verify verdicts/", "verify verdicts.parquet site.rules", "verify -for example.com site.rules", "verify -merge s3://crawl/verdicts/"},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "nothing is damaged; with -for, even if the pack does not have the host"},
		{Status: "1", Meaning: "something is damaged, changed, missing or a rule pack of another version, the job that wrote the folder is unfinished, or its shards do not belong together"},
		usageExit,
		{Status: "3", Meaning: "merged, but -max-invalid or -max-no-robots was exceeded"},
		{Status: "75", Meaning: "shards are missing, or have not ended: run those and try again; or a store or disk failed"},
		stoppedExit,
	},
}

// verifyCommand is its configuration.
type verifyCommand struct {
	call
	config.Limits
	hosts [][]byte // authorities for which packs are asked for their rules
	merge bool

	total    verify.Total
	unlisted int // the number of files that no manifest lists
}

// Flags implements cli.Config.
func (c *verifyCommand) Flags() cli.Flags {
	running := c.Running.Flags().Only("store-timeout", "progress", "log", "quiet").Saying("quiet", "name only what is damaged, missing or unfinished")
	return slices.Concat(c.Limits.Flags(), cli.Flags{{
		Name: "for", Argument: "HOST", Topic: config.RulesTopic, Repeat: true, Unrecorded: true, Value: c.addHost,
		Short: "print what rule packs hold for a host, which stands for https, or a URL",
		More:  "The outcome of the fetch, the agents named in its robots.txt, their rules by line, sitemaps and crawl-delays. Nothing is checked.",
	}, {
		Name: "merge", Topic: config.RunningTopic, Unrecorded: true, Value: &c.merge,
		Short: "join the shards in a folder: check that all are done, and write one manifest",
		More:  "FOLDER is the -out of jobs with -shard. Their counts are added up; the outputs stay where they are, and must be unchanged.",
	}}, running.Before("quiet", c.VerboseFlag("also a line for each intact file")))
}

// addHost adds the host of a value of -for, which is a host or a URL, to those whose rules are printed.
func (c *verifyCommand) addHost(s string) error {
	authority, err := urls.Authority(s)
	if err != nil {
		return errors.New("neither a host nor a URL: write example.com, or https://example.com")
	}
	c.hosts = append(c.hosts, authority)
	return nil
}

// execute verifies outputs and packs, merges shards, or prints what packs have about hosts.
func (c *verifyCommand) execute(ctx context.Context) (status int, err error) {
	switch {
	case len(c.operands) == 0:
		return 0, option.Usagef("verify needs an output: a file, a folder of outputs, a manifest or a rule pack")
	case slices.Contains(c.operands, blob.Stdio):
		return 0, option.Usagef("verify may read an output several times, and stdin cannot be: name a file")
	case c.merge:
		return c.mergeShards(ctx)
	case c.Limits != config.Limits{}:
		return 0, option.Usagef("%s and %s are about the rows of all shards: give %s", option.MaxInvalid, option.MaxNoRobots, option.Merge)
	case len(c.hosts) > 0:
		return exitDone, c.printHosts(ctx)
	}
	ctx = c.showProgress(ctx, c.Verbose)
	v := verify.New()
	v.StartProgress(ctx, c.operands)
	for _, name := range c.operands {
		if err := v.Check(ctx, name, c.reportFinding); err != nil {
			return 0, err
		}
	}
	c.shown.End()
	if c.unlisted > 0 {
		c.log.Warn(option.Messagef("%s not in the manifest: outputs of inputs that are gone, or files of another program", report.Count(int64(c.unlisted), "file is", "files are")))
	}
	if !c.Quiet {
		c.total.Write(c.s.out, c.Verbose)
	}
	return exitDone, c.total.Err()
}

// reportFinding says what was found out about a file, and counts it.
func (c *verifyCommand) reportFinding(f verify.Finding) {
	switch {
	case f.Unlisted:
		c.unlisted++
		c.log.Warn(option.Messagef("%s: the manifest does not list it", report.Printable(f.Name)))
		return
	case f.Shards > 0:
		c.log.Note(option.Messagef("%s: %s done; %s makes one manifest of theirs", report.Printable(f.Name), report.Count(int64(f.Shards), "shard is", "shards are"), option.Merge))
		return
	}
	c.total.Add(&f)
	if c.Verbose && f.State() == verify.Intact {
		fmt.Fprintln(c.s.out, report.Printable(f.Name+": "+f.Text()))
	}
	if f.Pack != nil && !c.Quiet {
		report.Pack(c.s.out, f.Name, f.Pack)
	}
	for _, err := range f.Damage {
		c.log.Warn(option.Messagef("%w", err))
	}
}

// printHosts prints what each pack has about each host.
func (c *verifyCommand) printHosts(ctx context.Context) error {
	between := ""
	for _, name := range c.operands {
		err := ruleset.Inspect(ctx, name, func(p *rulepack.Pack) error {
			for _, authority := range c.hosts {
				fmt.Fprint(c.s.out, between)
				between = "\n"
				if err := report.Authority(c.s.out, p, authority); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mergeShards writes one manifest for the outputs of all shards, and returns the exit status.
func (c *verifyCommand) mergeShards(ctx context.Context) (status int, err error) {
	if len(c.operands) != 1 {
		return 0, option.Usagef("%s takes one folder of outputs, the %s of the shards", option.Merge, option.Out)
	}
	folder := c.operands[0]
	if err := config.ResolveNames(option.Out, &folder); err != nil {
		return 0, err
	}
	if _, missing := os.Stat(folder); !outputs.IsFolder(folder) && (blob.IsURL(folder) || missing == nil) { // Merge says what is missing
		return 0, option.Usagef("%s is not a folder: name the %s of the shards", blob.Shown(folder), option.Out)
	}
	whole, shards, err := outputs.Merge(ctx, folder)
	if err != nil {
		return 0, err
	}
	summary := report.Merged(whole, func(name string) string { return blob.Join(folder, name) })
	age := config.NewRules().MaxAge
	for _, given := range whole.Job.Options["max-age"] {
		_ = cli.Age(&age)(given) // it was one when the job ran
	}
	summary.Version, summary.MaxAgeSeconds = cli.Version(), int64(age/time.Second)
	exceeded := checkLimits(&c.Limits, summary)
	c.log.Info(fmt.Sprintf("%s a whole: %s", report.Count(int64(shards), "shard makes", "shards make"), summary), "merged", "shards", shards, "summary", summary)
	c.log.Lines(summary.Lines())
	c.log.WarnAll(exceeded)
	return summary.ExitStatus, nil
}
