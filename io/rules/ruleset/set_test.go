package ruleset

import (
	"testing"

	"robotsbatch/matcher"
)

// TestSinglePackIsAskedForMany: many authorities are looked up at once in a pack that is
// the only source, and not in several sources.
func TestSinglePackIsAskedForMany(t *testing.T) {
	pack := &packSource{}
	if _, ok := (&Set{openSources: openSources{sources: list{pack}}}).Origins().(matcher.BulkOrigins); !ok {
		t.Error("a single pack is asked for one authority after the other")
	}
	several := &Set{openSources: openSources{sources: list{pack, pack}}}
	if got := several.Origins(); got != several {
		t.Error("of two packs not both are asked")
	}
}
