package main

import (
	"context"
	"fmt"
	"slices"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/io/frontier"
	"robotsbatch/io/store/blob"
)

// resolveInputs turns what -in and -files-from say into the job's inputs, in
// the order in which they were named; those of a folder or a pattern by name.
func (c *call) resolveInputs(ctx context.Context, named *config.Input) ([]frontier.Input, error) {
	names := named.In
	if named.FilesFrom != "" {
		listed, err := frontier.ReadNames(ctx, named.FilesFrom, c.s.in)
		if err == nil {
			err = config.ResolveNames("files-from", config.Pointers(listed)...)
		}
		if err != nil {
			return nil, fmt.Errorf("-files-from: %w", err)
		}
		names = append(names[:len(names):len(names)], listed...)
	}
	var inputs []frontier.Input
	fromStdin := named.FilesFrom == blob.Stdio
	for _, name := range names {
		if name == blob.Stdio {
			if fromStdin {
				return nil, option.Usagef("stdin is read twice: name - only once")
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
		return nil, fmt.Errorf("-files-from %s names no input", named.FilesFrom)
	}
	return inputs, nil
}

// reading is how inputs are read, as the flags say.
func (c *call) reading(named *config.Input) frontier.Options {
	o := named.Reading(c.BatchRows)
	o.Stdin = c.s.in
	return o
}

// reserveMemory subtracts what open objects need from -memory.
func (c *job) reserveMemory(inputs []frontier.Input) error {
	isObject := func(in frontier.Input) bool { return blob.IsURL(in.Path) }
	if slices.ContainsFunc(inputs, isObject) || slices.ContainsFunc(c.Sources, blob.IsURL) {
		c.Memory -= blob.ReadMemory
	}
	if blob.IsURL(c.Out) {
		c.Memory -= blob.WriteMemory
	}
	if c.Memory < config.LeastMemory {
		return option.Usagef("-memory is too small: an object that is read takes %d MiB, one that is written %d MiB, and all else %d MiB",
			blob.ReadMemory>>20, blob.WriteMemory>>20, config.LeastMemory>>20)
	}
	return nil
}
