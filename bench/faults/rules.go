//go:build linux

package main

import (
	"os"

	"robotsbatch/bench/corpus"
	"robotsbatch/bench/corpus/export"
)

// writeRules writes the rules of the sample corpus, once.
func (b *bench) writeRules() error {
	folder := b.path("rules")
	if _, err := os.Stat(folder); err == nil {
		return nil
	}
	return export.Rules(folder, corpus.New(corpus.SampleOptions()))
}
