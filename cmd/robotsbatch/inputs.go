package main

import (
	"context"
	"fmt"
	"slices"

	"robotsbatch/batch/option"
	"robotsbatch/io/frontier"
	"robotsbatch/io/store/blob"
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

// resolveNames turns file:// URLs into names of local files, and refuses URLs that
// cannot be opened. Its errors do not show a URL, which may have credentials.
func resolveNames(flag string, names ...*string) error {
	for _, name := range names {
		local, err := blob.LocalName(*name)
		if err == nil && blob.IsURL(local) {
			_, err = blob.ParseURL(local)
		}
		if err != nil {
			return option.Usagef("-%s: %w", flag, err)
		}
		*name = local
	}
	return nil
}

// pointers are those to the strings of a list.
func pointers(list []string) []*string {
	all := make([]*string, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// reserveMemory subtracts what open objects need from -memory.
func (c *jobConfig) reserveMemory(inputs []frontier.Input) error {
	isObject := func(in frontier.Input) bool { return blob.IsURL(in.Path) }
	if slices.ContainsFunc(inputs, isObject) || slices.ContainsFunc(c.folders, blob.IsURL) {
		c.memory -= blob.ReadMemory
	}
	if blob.IsURL(c.out) {
		c.memory -= blob.WriteMemory
	}
	if c.memory < leastMemory {
		return option.Usagef("-memory is too small: an object that is read takes %d MiB, one that is written %d MiB, and all else %d MiB",
			blob.ReadMemory>>20, blob.WriteMemory>>20, leastMemory>>20)
	}
	return nil
}
