package main

import (
	"testing"

	"robotsbatch/matcher"
)

// TestSinglePackIsAskedForMany has a pack that is the only source looked up many
// authorities at once, which several sources are not.
func TestSinglePackIsAskedForMany(t *testing.T) {
	pack := &packSource{}
	if _, ok := (ruleSources{pack}).origins().(matcher.BulkOrigins); !ok {
		t.Error("a single pack is asked for one authority after the other")
	}
	if _, ok := (ruleSources{pack, pack}).origins().(ruleSources); !ok {
		t.Error("of two packs not both are asked")
	}
}
