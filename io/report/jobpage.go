package report

import (
	"context"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/tally"
	"robotsbatch/io/store/blob"
)

// Page is the page for people that a job writes at its end, and what its workers count for
// it. A nil one is for a job without a page.
type Page struct {
	file    blob.Writer
	agents  int
	tallies []*tally.Tally
}

// CreatePage creates the file, so that a name that cannot be written shows at once. The
// verdicts are those of a number of agents.
func CreatePage(ctx context.Context, name string, agents int) (*Page, error) {
	file, err := blob.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	_ = blob.SweepFile(name) // what killed runs left
	return &Page{file: file, agents: agents}, nil
}

// Abort gives the report up, unless it is complete.
func (p *Page) Abort() {
	if p != nil {
		p.file.Abort()
	}
}

// Count returns an evaluator that counts what e finds.
func (p *Page) Count(e batch.Evaluator) batch.Evaluator {
	if p == nil {
		return e
	}
	p.tallies = append(p.tallies, tally.New(p.agents))
	return tally.Wrap(e, p.tallies[len(p.tallies)-1])
}

// Write writes the report.
func (p *Page) Write(s *Summary, now time.Time) error {
	if p == nil {
		return nil
	}
	counts := tally.New(p.agents)
	for _, t := range p.tallies {
		counts.Merge(t)
	}
	err := HTML(s, counts, now).Write(p.file)
	if err == nil {
		err = p.file.Close()
	}
	return err
}
