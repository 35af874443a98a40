//go:build unix

// Temoto is the runner of github.com/temoto/robotstxt.
package main

import (
	"net/url"
	"robotsbatch/bench/peers/gorunner"
	"runtime/debug"

	"github.com/temoto/robotstxt"
)

// origin is the part of a parsed URL that tells whose rules apply.
type origin struct{ scheme, host string }

func main() {
	job := gorunner.FromArgs()
	groups := make([]*robotstxt.Group, len(job.Bodies)) // nil for a file that cannot be parsed
	parse := gorunner.Time(func() {
		for i, body := range job.Bodies {
			if data, err := robotstxt.FromBytes(body); err == nil {
				groups[i] = data.FindGroup(job.Agent)
			}
		}
	})
	origins := make(map[origin]*robotstxt.Group)
	for _, row := range job.Rows {
		if u, err := url.Parse(row.URL); err == nil {
			origins[origin{u.Scheme, u.Host}] = groups[row.Body]
		}
	}
	verdicts, ofJob := make([]byte, len(job.Rows)), make([]byte, len(job.Rows))
	alone := job.Measure(func() {
		for i := range job.Rows {
			verdicts[i] = verdict(groups[job.Rows[i].Body], job.Rows[i].Path)
		}
	})
	whole := job.Measure(func() {
		for i := range job.Rows {
			ofJob[i] = 2
			if u, err := url.Parse(job.Rows[i].URL); err == nil {
				ofJob[i] = verdict(origins[origin{u.Scheme, u.Host}], u.RequestURI())
			}
		}
	})
	job.Report(version("github.com/temoto/robotstxt"), parse, alone, whole, verdicts, ofJob)
}

func verdict(group *robotstxt.Group, path string) byte {
	switch {
	case group == nil:
		return 2
	case group.Test(path):
		return 1
	}
	return 0
}

// version returns the version of a module in this program.
func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return ""
}
