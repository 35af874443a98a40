package main

import (
	"errors"

	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/blob"
)

// statusOf is the one that an error asks for: 2 for a mistake on the command line, 75 for what
// may go well another time, 1 for all else.
func statusOf(err error) int {
	var signal console.Stopped
	switch {
	case errors.As(err, &signal):
		return signal.Status()
	case errors.As(err, new(*option.UsageError)):
		return exitUsage
	case blob.Temporary(err), errors.Is(err, manifest.ErrIncomplete), errors.Is(err, rulepack.ErrChanged), errors.Is(err, rulepack.ErrUnreadable):
		return exitRetry
	}
	return exitFailed
}
