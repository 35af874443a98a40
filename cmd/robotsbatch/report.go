package main

import (
	"context"
	"fmt"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/tally"
	"robotsbatch/io/blob"
	"robotsbatch/io/report"
)

// htmlReport is what -report needs: its file, and the counts of each worker. A nil one is
// for a job without a report.
type htmlReport struct {
	file    blob.Writer
	agents  int
	tallies []*tally.Tally
	used    int // of the tallies, by the evaluators of the current output
	pace    *report.Pace
	before  int64 // rows of the outputs that are done
}

// openReport creates the file, so that a name that cannot be written shows at once.
func (j *job) openReport(ctx context.Context) error {
	if j.reportFile == "" {
		return nil
	}
	file, err := blob.Create(ctx, j.reportFile)
	if err != nil {
		return fmt.Errorf("-report: %w", err)
	}
	_ = blob.SweepFile(j.reportFile) // what killed runs left
	j.html = &htmlReport{file: file, agents: len(j.agents), pace: report.NewPace(time.Now())}
	if j.combined() != batch.CombineNone {
		j.html.agents = 1
	}
	return nil
}

// abort gives the report up, unless it is complete.
func (r *htmlReport) abort() {
	if r != nil {
		r.file.Abort()
	}
}

// count returns an evaluator that counts what e finds. Outputs are written one after
// another, so those of the next one go on with the tallies of those before.
func (r *htmlReport) count(e batch.Evaluator) batch.Evaluator {
	if r == nil {
		return e
	}
	if r.used == len(r.tallies) {
		r.tallies = append(r.tallies, tally.New(r.agents))
	}
	r.used++
	return tally.Wrap(e, r.tallies[r.used-1])
}

// progress takes down how many rows of an output are done.
func (r *htmlReport) progress(rows int64) {
	if r != nil {
		r.pace.Add(time.Now(), r.before+rows)
	}
}

// next goes on with the next output.
func (r *htmlReport) next(rows int64) {
	if r != nil {
		r.used = 0
		r.before += rows
	}
}

// write writes the report.
func (r *htmlReport) write(s *report.Summary, now time.Time) error {
	if r == nil {
		return nil
	}
	counts := tally.New(r.agents)
	for _, t := range r.tallies {
		counts.Merge(t)
	}
	err := report.HTML(s, counts, r.pace, now).Write(r.file)
	if err == nil {
		err = r.file.Close()
	}
	if err != nil {
		return fmt.Errorf("-report: %w", err)
	}
	return nil
}
