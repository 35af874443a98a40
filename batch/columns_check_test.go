package batch

import (
	"strings"
	"testing"
)

func TestCheckNames(t *testing.T) {
	verdicts := []VerdictColumn{{Name: "allowed"}, {Name: "reason", Kind: ReasonColumn}}
	tests := []struct {
		name  string
		input []string
		clash string
	}{
		{"no input columns", nil, ""},
		{"other names", []string{"url", "host"}, ""},
		{"case tells names apart", []string{"Allowed"}, ""},
		{"first verdict column", []string{"url", "allowed"}, `"allowed"`},
		{"later verdict column", []string{"reason"}, `"reason"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := CheckNames(test.input, verdicts)
			if test.clash == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.clash) || !strings.Contains(err.Error(), "-prefix") {
				t.Fatalf("error %v, want one that names %s and -prefix", err, test.clash)
			}
		})
	}
}
