package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report"
	"robotsbatch/io/store/blob"
)

// hashHelp tells other programs where an authority belongs.
var hashHelp = &cli.Command{
	Name: "hash", New: func() cli.Config { return newHash() },
	Usage: []string{"hash [-partitions N] URL|HOST..."},
	About: "prints the hash that assigns an authority to a partition of rules, the same as in the column authority_hash.",
	Details: "It prints hash and authority, and with -partitions the partition between them, separated by tabs. A HOST stands for https. The hash is XXH64 with seed 42 " +
		"of the authority, such as https://example.com, as a signed number, which is Spark's xxhash64; its partition is pmod(hash, N). " +
		"- reads URLs from stdin, one a line (robotsbatch help compile).",
	Examples: []string{"hash example.com", "hash -partitions 16 https://example.com/a http://example.com:8080"},
	Exits: []cli.Exit{
		doneExit,
		{Status: "1", Meaning: "stdin cannot be read"},
		{Status: "2", Meaning: "wrong use, or no URL"},
		retryExit,
		stoppedExit,
	},
}

// hashCommand is its configuration.
type hashCommand struct {
	call
	partitions int
}

func newHash() *hashCommand { return &hashCommand{call: newCall()} }

// Flags implements cli.Config.
func (c *hashCommand) Flags() cli.Flags {
	return cli.Flags{
		{
			Name: "partitions", Argument: "N", Topic: config.RulesTopic, Indifferent: true,
			Short: "also print the partition, one of N",
			Value: cli.Count(&c.partitions),
		},
	}
}

// run prints the hashes of authorities.
func (c *hashCommand) run(ctx context.Context) (status int, err error) {
	if len(c.operands) == 0 {
		return 0, option.Usagef("hash needs a URL or a host, or - for URLs on stdin")
	}
	out := bufio.NewWriter(c.s.out)
	for i := 0; i < len(c.operands) && err == nil; i++ {
		if c.operands[i] != blob.Stdio {
			err = report.Hash(out, c.operands[i], c.partitions)
			continue
		}
		lines := bufio.NewScanner(frontier.Interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(c.s.in), nil }))
		for err == nil && lines.Scan() {
			if line := strings.TrimSpace(lines.Text()); line != "" {
				err = report.Hash(out, line, c.partitions)
			}
		}
		err = errors.Join(err, lines.Err())
	}
	return exitDone, errors.Join(err, out.Flush())
}
