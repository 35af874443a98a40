package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"time"

	"robotsbatch/io/blob"
	"robotsbatch/io/outputs"
	"robotsbatch/io/rulepack"
	"robotsbatch/io/ruleset"
)

// compileConfig is the command line of compile.
type compileConfig struct{ *jobConfig }

// compiled is what is said of a pack that was made.
type compiled struct {
	Version      string  `json:"version"`
	Profile      string  `json:"profile"`
	RobotsLimit  int     `json:"robots_limit"`
	Authorities  int64   `json:"authorities"`
	WithRules    int64   `json:"authorities_with_rules"`
	Unavailable  int64   `json:"authorities_unavailable"`
	Unreachable  int64   `json:"authorities_unreachable"`
	Bodies       int64   `json:"distinct_bodies"`
	Limited      int64   `json:"authorities_limited"`
	HTML         int64   `json:"authorities_html"`
	Ignored      int64   `json:"names_ignored"`
	SourceOctets int64   `json:"source_octets"`
	PackOctets   int64   `json:"pack_octets"`
	Seconds      float64 `json:"seconds"`
}

// runCompile makes a rule pack of folders and captures.
func runCompile(ctx context.Context, args []string, s streams) int {
	c, err := parseCompile(args)
	if errors.Is(err, flag.ErrHelp) {
		return printHelp(s, commandOf("compile").help)
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
	made, err := c.compile(ctx, s, log)
	switch {
	case errors.Is(err, syscall.EPIPE):
		return exitDone // its reader has what it wanted
	case err != nil && ctx.Err() != nil:
		return log.fail(fmt.Errorf("stopped (%w); nothing half-written is left", context.Cause(ctx)))
	case err != nil:
		return log.fail(err)
	}
	made.Seconds = time.Since(started).Seconds()
	log.info(made.text(blob.Shown(c.out)), "done", "summary", made)
	return exitDone
}

// parseCompile reads the arguments. The flags before a mistake are set.
func parseCompile(args []string) (*compileConfig, error) {
	c := &compileConfig{newConfig()}
	c.out, c.memory, c.workers = "", rulepack.DefaultBuildMemory, runtime.GOMAXPROCS(0)
	fs := newFlagSet(commandOf("compile"), c.jobConfig)
	if err := parseFlags(fs, args); err != nil {
		return c, err
	}
	switch {
	case fs.NArg() > 0:
		return c, usageErrorf("unexpected argument %q: each source takes a -rules of its own", fs.Arg(0))
	case len(c.folders) == 0:
		return c, usageErrorf("-rules is missing: name a folder of robots.txt files, or captures")
	case c.out == "":
		return c, usageErrorf("-out is missing: name the rule pack to write, such as site.rules")
	}
	c.workers = min(c.workers, mostWorkers*runtime.GOMAXPROCS(0))
	return c, c.rulesConfig.check()
}

// compile makes the pack.
func (c *compileConfig) compile(ctx context.Context, s streams, log *console) (*compiled, error) {
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
			Profile: c.profile, Limit: int(c.limit), Memory: c.memory - c.memory/ruleset.CapturesShare, Maker: "robotsbatch " + version(),
		})
		if err != nil {
			err = fmt.Errorf("-out: %w", err)
		}
		return b, err
	})
	if err != nil {
		return nil, err
	}
	if added.Captured != nil {
		tellCaptured(added.Captured, log)
	}
	info, err := b.Finish()
	if err != nil {
		return nil, err
	}
	return &compiled{
		Version: version(), Profile: profileName(info.Profile), RobotsLimit: info.Limit,
		Authorities: info.Authorities, WithRules: info.Rules, Unavailable: info.AllowAll, Unreachable: info.DisallowAll,
		Bodies: info.Bodies, Limited: info.Limited, HTML: info.HTML, Ignored: added.Ignored,
		SourceOctets: info.SourceBytes, PackOctets: info.Size,
	}, nil
}

// text is the summary in one line.
func (m *compiled) text(out string) string {
	var b strings.Builder
	b.WriteString(counted(m.Authorities, "authority", "authorities"))
	if m.WithRules < m.Authorities {
		fmt.Fprintf(&b, " (%s with rules, %s unavailable, %s unreachable)", grouped(m.WithRules), grouped(m.Unavailable), grouped(m.Unreachable))
	}
	fmt.Fprintf(&b, ", %s of %s",
		counted(m.Bodies, "distinct robots.txt", "distinct robots.txt"), counted(m.SourceOctets, "octet", "octets"))
	for _, odd := range []struct {
		count int64
		what  string
	}{{m.Limited, "cut by the size limit or the crawler"}, {m.HTML, "with HTML instead of robots.txt"}} {
		if odd.count > 0 {
			fmt.Fprintf(&b, "; %s %s", counted(odd.count, "authority", "authorities"), odd.what)
		}
	}
	if m.Ignored > 0 {
		fmt.Fprintf(&b, "; %s", counted(m.Ignored, "name ignored", "names ignored"))
	}
	if out == "-" {
		out = "the pack"
	}
	fmt.Fprintf(&b, "; %s has %s; %.3g s", out, counted(m.PackOctets, "octet", "octets"), m.Seconds)
	return b.String()
}
