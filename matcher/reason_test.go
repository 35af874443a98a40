package matcher

import "testing"

// Outputs tell reasons apart by their names, and no page shows a name where it means words.
func TestReasons(t *testing.T) {
	names := map[string]Reason{}
	for reason := AllowRule; reason < reasonCount; reason++ {
		name := reason.String()
		if other, twice := names[name]; twice || name == "" || name == reasonCount.String() {
			t.Errorf("reason %d has the name %q, and so has %d", reason, name, other)
		}
		names[name] = reason
		if words := reason.Words(); words == "" || words == name {
			t.Errorf("%s has the words %q", name, words)
		}
	}
}
