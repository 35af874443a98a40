package lint_test

import (
	"fmt"

	"robotsbatch/matcher/lint"
)

func ExampleBody() {
	report := lint.Body([]byte("User-agent: *\nDisallow: private/\nDisallow: /a\nAllow: /a\n"), lint.Options{})
	for _, f := range report.Findings {
		fmt.Printf("%d:%d: %s: %s [%s]\n", f.Line, f.Column, f.Severity, f.Message, f.Code)
	}
	// Output:
	// 2:11: error: a pattern must start with / or *: "private/" matches nothing [missing-slash]
	// 3:1: warning: the rule never decides: "Allow: /a", in line 4, beats it on every path that it matches [dead-rule]
}
