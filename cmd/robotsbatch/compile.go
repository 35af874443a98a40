package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/rulepack"
	"robotsbatch/io/ruleset"
)

// compileConfig is the command line of compile.
type compileConfig struct{ *jobConfig }

// runCompile makes a rule pack of folders and captures.
func runCompile(ctx context.Context, args []string, s streams) int {
	c, err := parseCompile(args)
	if errors.Is(err, flag.ErrHelp) {
		return printCommandHelp(s, program.Command("compile"))
	}
	log := newConsole(s.err, c.logJSON, c.quiet).of("compile")
	if err == nil && c.out == "-" && isTerminal(s.out) {
		err = usageErrorf("a rule pack on a terminal is unreadable: name a file with -out")
	}
	if err != nil {
		return log.fail(err)
	}
	ctx = blob.WithTimeout(ctx, c.storeTimeout)
	defer holdHeap(c.memory)()
	started := time.Now()
	err = c.compileAll(ctx, s, log, started)
	switch {
	case errors.Is(err, syscall.EPIPE):
		return exitDone // its reader has what it wanted
	case err != nil && ctx.Err() != nil:
		return log.fail(fmt.Errorf("stopped (%w); nothing half-written is left", context.Cause(ctx)))
	case err != nil:
		return log.fail(err)
	}
	return exitDone
}

// compileAll makes the pack, or one for each partition.
func (c *compileConfig) compileAll(ctx context.Context, s streams, log *console, started time.Time) error {
	out := c.out
	for number := range max(1, c.partitions) {
		if c.partitions > 1 {
			c.out = partitionName(out, number, c.partitions)
		}
		made, err := c.compile(ctx, s, log, number)
		if err != nil {
			return err
		}
		made.Seconds = time.Since(started).Seconds()
		log.info(made.Text(blob.Shown(c.out)), "done", "summary", made)
	}
	return nil
}

// partitionName is the name of a partition's pack: site-00003-of-00016.rules.
func partitionName(out string, number, count int) string {
	begin, parameters := out, ""
	if blob.IsURL(out) {
		begin = blob.Shown(out)
		parameters = strings.TrimPrefix(out, begin)
	}
	ending := path.Ext(begin)
	return fmt.Sprintf("%s-%05d-of-%05d%s%s", strings.TrimSuffix(begin, ending), number, count, ending, parameters)
}

// parseCompile reads the arguments. The flags before a mistake are set.
func parseCompile(args []string) (*compileConfig, error) {
	c := &compileConfig{newConfig()}
	c.out, c.memory, c.workers = "", rulepack.DefaultBuildMemory, runtime.GOMAXPROCS(0)
	fs := program.FlagSet(program.Command("compile"), c.jobConfig)
	if err := cli.Parse(fs, args); err != nil {
		return c, err
	}
	switch {
	case fs.NArg() > 0:
		return c, usageErrorf("unexpected argument %q: each source takes a -rules of its own", fs.Arg(0))
	case len(c.folders) == 0:
		return c, usageErrorf("-rules is missing: name a folder of robots.txt files, or captures")
	case c.out == "":
		return c, usageErrorf("-out is missing: name the rule pack to write, such as site.rules")
	case c.partitions > 1 && (c.out == blob.Stdio || slices.Contains(c.folders, blob.Stdio)):
		return c, usageErrorf("-partitions makes several packs of rules that are read for each: name files with -out and -rules")
	}
	c.workers = min(c.workers, mostWorkers*runtime.GOMAXPROCS(0))
	return c, c.checkOneTime()
}

// compile makes a pack; number is that of its partition.
func (c *compileConfig) compile(ctx context.Context, s streams, log *console, number int) (*report.Compiled, error) {
	found, err := c.find(ctx, ruleUse{memory: c.memory, workers: c.workers, stdin: s.in}, log)
	if err != nil {
		return nil, err
	}
	release := func() {}
	if !blob.IsURL(c.out) {
		if release, err = outputs.Claim(c.out); err != nil {
			return nil, fmt.Errorf("-out: %w", err)
		}
	} else if _, err := blob.ParseURL(c.out); err != nil {
		return nil, usageErrorf("-out: %w", err)
	}
	defer release()
	var b *rulepack.Builder
	defer func() {
		if b != nil {
			b.Abort()
		}
	}()
	added, err := found.AddTo(ctx, func() (_ *rulepack.Builder, err error) {
		b, err = rulepack.Create(ctx, c.out, rulepack.BuildOptions{
			Profile: c.profile, Limit: int(c.limit), Memory: c.memory - c.memory/ruleset.CapturesShare, Maker: "robotsbatch " + version(), History: c.history,
			Partition: number, Partitions: c.partitions,
		})
		if err != nil {
			err = fmt.Errorf("-out: %w", err)
		}
		return b, err
	})
	if err != nil {
		return nil, err
	}
	if added.Captured != nil && number == 0 {
		counts := report.CapturesOf(added.Captured)
		log.info(counts.String(), "rules", "captures", counts)
	}
	info, err := b.Finish()
	if err != nil {
		return nil, err
	}
	return &report.Compiled{
		Version: version(), Profile: profileName(info.Profile), RobotsLimit: info.Limit,
		Authorities: info.Authorities, WithRules: info.Rules, Unavailable: info.AllowAll, Unreachable: info.DisallowAll,
		Bodies: info.Bodies, Limited: info.Limited, HTML: info.HTML, Ignored: added.Ignored,
		SourceBytes: info.SourceBytes, PackBytes: info.Size,
	}, nil
}
