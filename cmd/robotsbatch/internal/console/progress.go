package console

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"robotsbatch/batch"
	"robotsbatch/io/frontier"
	"robotsbatch/io/report"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/meter"
)

// When says when progress is shown.
type When uint8

const (
	// Auto shows it when the error stream is a terminal, and to programs.
	Auto When = iota
	Always
	Never
)

// How often progress is shown on a terminal, where one line is written again
// and again, and elsewhere, where each report is a line of its own.
const (
	terminalInterval = 200 * time.Millisecond
	logInterval      = 10 * time.Second
)

// Progress shows how far a command has come: rows, and steps before and after them.
type Progress struct {
	log      *Console
	terminal *os.File // nil for lines of their own
	interval time.Duration
	started  time.Time

	mu   sync.Mutex
	rows report.Progress // of all outputs
	// sizes are the sizes of the inputs of outputs that have not begun, in the order in which they
	// are read; none if they are not known. total is the size of all inputs.
	sizes []float64
	total float64
	// done is the size of what was read or skipped of the inputs, and skipped the size of those
	// skipped, because an earlier run completed their outputs. Reading began at begun.
	done, skipped float64
	begun         time.Time
	step          time.Time // when the newest step started
	shown         time.Time // when progress was shown last
	silent        bool      // nothing is shown: it was not asked for, or the command has ended
}

// NewProgress returns the progress of a command that began at started. when says whether it is
// shown. rowsShown says that rows go to a terminal, where progress would stand between them.
func NewProgress(log *Console, when When, rowsShown bool, started time.Time) *Progress {
	p := &Progress{log: log, started: started, interval: logInterval}
	if !log.JSON() && IsTerminal(log.w) && os.Getenv("TERM") != "dumb" {
		p.terminal, p.interval = log.w.(*os.File), terminalInterval
	}
	switch {
	case when == Never, log.o.Quiet:
		p.silent = true
	case when == Always:
	case log.JSON():
		p.shown = started // a short job says nothing
	default:
		p.silent = p.terminal == nil || rowsShown
	}
	return p
}

// OnTerminal reports whether progress is shown, and on a terminal.
func (p *Progress) OnTerminal() bool { return !p.silent && p.terminal != nil }

// Watch returns a context for work whose steps are shown as progress.
func (p *Progress) Watch(ctx context.Context) context.Context {
	if p.silent {
		return ctx
	}
	return meter.With(ctx, p.showStep)
}

// showStep shows how far a step is, unless a step that started later is shown, or progress was just
// shown.
func (p *Progress) showStep(r meter.Reading) {
	if !p.mu.TryLock() {
		return // another goroutine shows it
	}
	defer p.mu.Unlock()
	now := time.Now()
	if r.Started.Before(p.step) || !p.isDue(now) {
		return
	}
	p.step = r.Started
	p.show(&report.StepProgress{Reading: r, Seconds: now.Sub(r.Started).Seconds()})
}

// isDue reports whether progress is to be shown now. If so, it is next due after p.interval.
func (p *Progress) isDue(now time.Time) bool {
	if p.silent || now.Sub(p.shown) < p.interval {
		return false
	}
	p.shown = now
	return true
}

// Plan sets the sizes of the inputs, so that the share that is done can be shown. No share is shown if
// an input is a pipe or another file without a size. If one is an object, all inputs count as 1, because
// the store would have to be asked for the size of each.
func (p *Progress) Plan(inputs []frontier.Input) {
	if p.silent {
		return
	}
	anyObject := slices.ContainsFunc(inputs, func(in frontier.Input) bool { return blob.IsURL(in.Path) })
	sizes, total := make([]float64, len(inputs)), 0.0
	for i, in := range inputs {
		sizes[i] = 1
		if !blob.IsURL(in.Path) {
			info, err := os.Stat(in.Path)
			if err != nil || !info.Mode().IsRegular() {
				return
			}
			if !anyObject {
				sizes[i] = float64(info.Size())
			}
		}
		total += sizes[i]
	}
	p.sizes, p.total, p.begun = sizes, total, time.Now()
}

// OutputProgress counts how far an output is, for the Progress of all.
type OutputProgress struct {
	p     *Progress
	sizes []float64       // of its inputs; none if they are not known
	rows  report.Progress // those that p.rows has of the output
	done  float64         // the size that p.done has of its inputs
}

// Output returns the progress of the next output, which is made of that number of inputs.
func (p *Progress) Output(inputs int) *OutputProgress {
	p.mu.Lock()
	defer p.mu.Unlock()
	inputs = min(inputs, len(p.sizes)) // there are no sizes if Plan found a pipe
	o := &OutputProgress{p: p, sizes: p.sizes[:inputs]}
	p.sizes = p.sizes[inputs:]
	return o
}

// size returns the size of the first inputs of the output. 2.5 are two inputs and half of the third.
func (o *OutputProgress) size(inputs float64) (size float64) {
	for i, whole := range o.sizes[:min(len(o.sizes), int(inputs)+1)] {
		size += whole * min(1, inputs-float64(i))
	}
	return size
}

// Skip says that an earlier run completed the output.
func (o *OutputProgress) Skip() {
	o.End()
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	o.p.skipped += o.done
}

// End says that the output is complete.
func (o *OutputProgress) End() {
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	o.setDone(o.size(float64(len(o.sizes))))
}

// setDone sets the size of what is done of the output's inputs, also in the sum of all outputs.
func (o *OutputProgress) setDone(size float64) {
	o.p.done += size - o.done
	o.done = size
}

// Report records how far the output is, and shows how far all outputs are, unless that was
// just shown. s counts all rows of the output so far, and src says what it has read.
func (o *OutputProgress) Report(s *batch.Stats, src *frontier.Concatenation) {
	p := o.p
	p.mu.Lock()
	defer p.mu.Unlock()
	o.setDone(o.size(src.Read()))
	o.countRows(s)
	now := time.Now()
	if !p.isDue(now) {
		return
	}
	state := p.rows
	state.Seconds = now.Sub(p.started).Seconds()
	state.URLsPerSecond = report.Rate(state.Rows, state.Seconds)
	// Outputs that were skipped took no time.
	state.Share, state.Left = report.ShareAndLeft(p.done, p.total, p.done-p.skipped, now.Sub(p.begun).Seconds())
	p.show(&state)
}

// countRows adds the output's rows since the last call to those of all outputs. Denied and judged rows
// are those of the first agent.
func (o *OutputProgress) countRows(s *batch.Stats) {
	var now report.Progress
	now.Rows = s.Rows
	if len(s.Agents) > 0 {
		now.Denied, now.Judged = s.Agents[0].Denied, s.Agents[0].Denied+s.Agents[0].Allowed
	}
	all := &o.p.rows
	all.Rows += now.Rows - o.rows.Rows
	all.Denied += now.Denied - o.rows.Denied
	all.Judged += now.Judged - o.rows.Judged
	o.rows = now
}

// state is how far something is: Line says it in words, at most width columns wide, and Attributes for
// programs.
type state interface {
	Line(width int) string
	Attributes() []any
}

// show writes the progress: on a terminal in place of the last one, else as a line of its own.
func (p *Progress) show(s state) {
	if p.terminal == nil {
		p.log.Info(s.Line(standardWidth), "progress", s.Attributes()...)
		return
	}
	// The last column stays free: a line that fills it goes on in the next one.
	p.log.setStatus(s.Line(Width(p.terminal) - 1))
}

// End removes the progress from the terminal. None is shown afterwards. A nil progress is that of a
// command that shows none.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = true
	p.log.print("") // any text takes the place of the line of progress
}
