package main

import (
	"context"
	"fmt"

	"robotsbatch/io/blob"
	"robotsbatch/io/frontier"
)

// resolveInputs turns what -in and -files-from say into the job's inputs, in
// the order in which they were named; those of a folder or a pattern by name.
func (c *call) resolveInputs(ctx context.Context) ([]frontier.Input, error) {
	names := c.in
	if c.filesFrom != "" {
		listed, err := frontier.ReadNames(ctx, c.filesFrom, c.s.in)
		if err == nil {
			err = resolveNames("files-from", pointers(listed)...)
		}
		if err != nil {
			return nil, fmt.Errorf("-files-from: %w", err)
		}
		names = append(names[:len(names):len(names)], listed...)
	}
	var inputs []frontier.Input
	fromStdin := c.filesFrom == blob.Stdio
	for _, name := range names {
		if name == blob.Stdio {
			if fromStdin {
				return nil, usageErrorf("stdin is read twice: name - only once")
			}
			fromStdin = true
		}
		found, err := frontier.Expand(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("-in %w", err)
		}
		inputs = append(inputs, found...)
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("-files-from %s names no input", c.filesFrom)
	}
	return inputs, nil
}

// reading is how inputs are read, as the flags say.
func (c *call) reading() frontier.Options {
	return frontier.Options{
		Stdin: c.s.in, Format: c.inFormat, URLColumn: c.urlColumn, BatchRows: c.batchRows, MaxLine: int(c.maxLine), Separator: c.separator,
		AcceptTruncated: c.acceptTruncated,
	}
}
