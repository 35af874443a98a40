package cli

import (
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

func TestParse(t *testing.T) {
	for args, want := range map[string]string{
		"a -s x b":        "a b: s=x",
		"--s=x a":         "a: s=x",
		"-s -b":           ": s=-b",
		"-b a -s= -b2":    "there is no flag -b2",
		"-b=false - c":    "- c: b=false",
		"a -- -s -- x":    "a -s -- x:",
		"-b --":           ": b=true",
		"-s":              "flag needs an argument: -s",
		"-s x -s y":       "s y: it was given before, and can be given once",
		"-=x":             "bad flag syntax: -=x",
		"---s":            "bad flag syntax: ---s",
		"-b=maybe a -s x": `b maybe: `,
	} {
		var s string
		var b bool
		flags := Flags{{Name: "s", Argument: "TEXT", Value: &s}, {Name: "b", Value: &b}}
		given := ""
		operands, err := flags.Parse(strings.Fields(args), func(o *Flag, value string) { given += " " + o.Name + "=" + value })
		got := strings.Join(operands, " ") + ":" + given
		if err != nil {
			got = err.Error()
		}
		must.Be(t, strings.HasPrefix(got, want) && (err != nil || got == want), "%s: got %q, want %q", args, got, want)
	}
	must.Equal(t, Flags{}.errUnknown("help").Error(), "flag: help requested", "help")
}
