package main

import (
	"errors"

	"robotsbatch/batch/manifest"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/frontier"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/io/store/blob"
)

// usageErrorf is a mistake on the command line itself: exit status 2. Anything else
// that goes wrong has exit status 1.
func usageErrorf(format string, args ...any) error { return cli.Usagef(format, args...) }

// statusOf is the one that an error asks for.
func statusOf(err error) int {
	var signal console.Stopped
	switch {
	case errors.As(err, &signal):
		return signal.Status()
	case isUsage(err):
		return exitUsage
	case blob.Temporary(err), errors.Is(err, manifest.ErrIncomplete), errors.Is(err, rulepack.ErrChanged), errors.Is(err, rulepack.ErrUnreadable):
		return exitRetry
	}
	return exitFailed
}

func isUsage(err error) bool {
	var usage cli.UsageError
	var rules *ruleset.UsageError
	var input *frontier.UsageError
	return errors.As(err, &usage) || errors.As(err, &rules) || errors.As(err, &input)
}
