package main

import (
	"errors"
	"fmt"
	"io/fs"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/frontier"
	"robotsbatch/io/ruleset"
)

// usageErrorf is a mistake on the command line itself: exit status 2. Anything else
// that goes wrong has exit status 1.
func usageErrorf(format string, args ...any) error { return cli.Usagef(format, args...) }

// unavailable is the error for what a later version brings.
func unavailable(what string) error {
	return usageErrorf("%s is not available in this version", what)
}

// atName says what is wrong with the file of that name, which err may name too.
func atName(name string, err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

func isUsage(err error) bool {
	var usage cli.UsageError
	var rules *ruleset.UsageError
	var input *frontier.UsageError
	return errors.As(err, &usage) || errors.As(err, &rules) || errors.As(err, &input)
}
