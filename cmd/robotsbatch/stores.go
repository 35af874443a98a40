package main

import (
	"slices"

	"robotsbatch/io/blob"
	_ "robotsbatch/io/blob/stores" // s3://, gs://, azblob://
	"robotsbatch/io/frontier"
)

// resolveNames turns file:// URLs into names of local files, and refuses URLs that
// cannot be opened. Its errors do not show a URL, which may have credentials.
func resolveNames(flag string, names ...*string) error {
	for _, name := range names {
		local, err := blob.LocalName(*name)
		if err == nil && blob.IsURL(local) {
			_, err = blob.ParseURL(local)
		}
		if err != nil {
			return usageErrorf("-%s: %w", flag, err)
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
		return usageErrorf("-memory is too small: an object that is read takes %d MiB, one that is written %d MiB, and all else %d MiB",
			blob.ReadMemory>>20, blob.WriteMemory>>20, leastMemory>>20)
	}
	return nil
}
