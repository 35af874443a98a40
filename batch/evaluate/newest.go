package evaluate

import "robotsbatch/batch"

// WithNewest returns an evaluator that gives the verdicts of one, and beside them those of
// the newest rules in Verdicts.Newest, for as many agents, combined alike.
func WithNewest(e, newest batch.Evaluator) batch.Evaluator {
	return &compared{Evaluator: e, newest: newest}
}

type compared struct {
	batch.Evaluator
	newest   batch.Evaluator
	verdicts batch.Verdicts
}

// Evaluate implements batch.Evaluator.
func (c *compared) Evaluate(b *batch.Batch, v *batch.Verdicts) error {
	if err := c.Evaluator.Evaluate(b, v); err != nil {
		return err
	}
	v.Newest = &c.verdicts
	return c.newest.Evaluate(b, &c.verdicts)
}
