package config

import (
	"fmt"
	"slices"
	"strings"

	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/matcher/access"
)

// The cases of -assume.
const (
	missingCase  = "missing"
	status429    = "429"
	redirectCase = "redirect"
	beforeFirst  = "before-first"
	unreadable   = "unreadable"
)

// assumption is a case of -assume.
type assumption struct {
	name, when string
	// verdicts are those that it takes, and standard is the default.
	verdicts []string
	standard string
	// formerly is a flag that was for this case alone.
	formerly string
	// set returns what takes a verdict.
	set func(c *Rules) func(string) error
}

var (
	missings = []cli.Word[access.Missing]{
		{Name: "allow", Value: access.MissingAllow}, {Name: "deny", Value: access.MissingDeny}, {Name: "null", Value: access.MissingNull},
	}
	firsts = []cli.Word[access.BeforeFirst]{
		{Name: "use", Value: access.BeforeUse}, {Name: "allow", Value: access.BeforeAllow}, {Name: "deny", Value: access.BeforeDeny}, {Name: "null", Value: access.BeforeNull},
	}
	allowed = []cli.Word[bool]{{Name: "allow", Value: true}, {Name: "deny", Value: false}}
	denied  = []cli.Word[bool]{{Name: "allow", Value: false}, {Name: "deny", Value: true}}
)

var assumptions = []assumption{
	{
		missingCase, "no robots.txt is known for the host", cli.Names(missings), "allow", "missing",
		func(c *Rules) func(string) error { return cli.OneOf(&c.Missing, missings...) },
	},
	{
		status429, "a capture has this status", cli.Names(allowed), "deny", "on-429",
		func(c *Rules) func(string) error { return cli.OneOf(&c.Policy.Allow429, allowed...) },
	},
	{
		redirectCase, "the redirects of a capture end nowhere", cli.Names(denied), "allow", "on-unresolved-redirect",
		func(c *Rules) func(string) error { return cli.OneOf(&c.Policy.DenyUnresolved, denied...) },
	},
	{
		beforeFirst, "a row is older than the first capture of its host, which use takes; needs -as-of column:NAME", cli.Names(firsts), "as missing", "before-first",
		func(c *Rules) func(string) error { return cli.OneOf(&c.BeforeFirst, firsts...) },
	},
	{
		unreadable, "a use is stated in a form that cannot be read, for -emit permitted", cli.Names(allowed), "deny", "",
		func(c *Rules) func(string) error { return cli.OneOf(&c.AllowUnreadable, allowed...) },
	},
}

// assumeFlag is -assume of a command that meets these cases.
func (c *Rules) assumeFlag(cases ...string) cli.Flag {
	f := cli.Flag{
		Name: "assume", Argument: "CASES", Topic: RulesTopic, Repeat: true, Answers: make(map[string]string),
		Short: "the verdict where nothing is certain, such as missing=null,429=allow",
	}
	if !slices.Contains(cases, missingCase) {
		f.For, f.Short = captureRules, "what captures mean where nothing is certain, such as 429=allow"
	}
	var met []assumption
	var texts []string
	for _, a := range assumptions {
		if !slices.Contains(cases, a.name) {
			continue
		}
		met = append(met, a)
		texts = append(texts, fmt.Sprintf("%s: %s (%s; default %s)", a.name, InWords(a.verdicts, "or"), a.when, a.standard))
		if a.formerly != "" {
			f.Answers[a.formerly] = a.name + "=VERDICT"
		}
		for _, verdict := range a.verdicts {
			f.Words = append(f.Words, a.name+"="+verdict)
		}
	}
	f.More = "CASE=VERDICT, by commas. " + strings.Join(texts, ". ") + "."
	given := make(map[string]bool)
	f.Value = func(s string) error {
		for _, item := range strings.Split(s, ",") {
			if err := c.assume(met, item, given); err != nil {
				return err
			}
		}
		return nil
	}
	return f
}

// assume takes one case with its verdict. given are the cases before.
func (c *Rules) assume(met []assumption, item string, given map[string]bool) error {
	name, verdict, _ := strings.Cut(item, "=")
	at := slices.IndexFunc(met, func(a assumption) bool { return a.name == name })
	switch {
	case at < 0:
		names := make([]string, len(met))
		for i, a := range met {
			names[i] = a.name
		}
		return fmt.Errorf("want a case and its verdict, such as %s=allow; the cases are %s", names[0], InWords(names, "and"))
	case given[name]:
		return fmt.Errorf("%s has two verdicts", name)
	}
	given[name] = true
	if err := met[at].set(c)(verdict); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// OneVerdictFlag is -assume of commands whose rows have no times.
func (c *Rules) OneVerdictFlag() cli.Flag {
	return c.assumeFlag(missingCase, status429, redirectCase)
}
