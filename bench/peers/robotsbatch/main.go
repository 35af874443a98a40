//go:build unix

// Robotsbatch is the runner of this project's engine. It always does the whole job from the
// URL, so it has a single time.
package main

import (
	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/bench/peers/gorunner"
	"robotsbatch/bench/ruletable"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

var version = "unknown" // the linker sets it

func main() {
	job := gorunner.FromArgs()
	origins := make([]matcher.Origin, len(job.Bodies))
	parse := gorunner.Time(func() {
		for i, body := range job.Bodies {
			parsed := robotstxt.Parse(body, robotstxt.Options{})
			origins[i] = matcher.Origin{Access: access.Rules, Tries: matcher.Compile(parsed, []matcher.Chain{{job.Agent}})}
		}
	})
	batches, table := load(job.Rows, origins)
	evaluator, columns := evaluate.New(table, evaluate.Options{}), make([]batch.Verdicts, len(batches))
	times := job.Measure(func() {
		for i := range batches {
			gorunner.Must(0, evaluator.Evaluate(&batches[i], &columns[i]))
		}
	})
	var verdicts []byte
	for _, c := range columns {
		for i := range c.Rows {
			verdicts = append(verdicts, c.Agents[0].Allowed[i>>3]>>(i&7)&1)
		}
	}
	job.Report(version, parse, times, times, verdicts, verdicts)
}

// load puts the URLs into batches and adds the rules of their hosts to a table.
func load(rows []gorunner.Row, origins []matcher.Origin) (batches []batch.Batch, table *ruletable.Table) {
	table = new(ruletable.Table)
	var scratch urls.Scratch
	for i, row := range rows {
		if i%batch.DefaultRows == 0 {
			batches = append(batches, batch.Batch{URLs: batch.Column{Offsets32: []int32{0}}})
		}
		c := &batches[len(batches)-1].URLs
		c.Data = append(c.Data, row.URL...)
		c.Offsets32 = append(c.Offsets32, int32(len(c.Data)))
		key, _, _ := scratch.Split([]byte(row.URL))
		table.Add(key, origins[row.Body])
	}
	return batches, table
}
