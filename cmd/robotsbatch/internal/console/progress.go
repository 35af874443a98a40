package console

import (
	"cmp"
	"context"
	"os"
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

// Progress shows how far a command has come: rows, and steps before and after them. A nil
// one shows nothing.
type Progress struct {
	log      *Console
	terminal *os.File // nil for lines of their own
	interval time.Duration
	started  time.Time

	mu     sync.Mutex
	extent *report.Extent
	rows   report.Progress // of all outputs
	under  float64         // size of what is done of outputs under way
	step   time.Time       // when the newest step started
	shown  time.Time       // when progress was shown last
	ended  bool
}

// NewProgress returns the progress of a command, or nil if none is to be shown. rowsShown says
// that rows go to a terminal, where progress would stand between them. The command began at
// started.
func NewProgress(log *Console, when When, rowsShown bool, started time.Time) *Progress {
	p := &Progress{log: log, started: started, interval: logInterval}
	if !log.JSON() && IsTerminal(log.w) && os.Getenv("TERM") != "dumb" {
		p.terminal, p.interval = log.w.(*os.File), terminalInterval
	}
	switch {
	case when == Never, log.o.Quiet:
		return nil
	case when == Always:
		return p
	case log.JSON():
		p.shown = started // a short job says nothing
		return p
	case p.terminal == nil, rowsShown:
		return nil
	}
	return p
}

// OnTerminal tells whether progress is shown, and on a terminal.
func (p *Progress) OnTerminal() bool { return p != nil && p.terminal != nil }

// Watch returns a context for work whose steps are shown as progress.
func (p *Progress) Watch(ctx context.Context) context.Context {
	if p == nil {
		return ctx
	}
	return meter.With(ctx, p.showStep)
}

// showStep shows how far a step is, unless a newer step is shown or progress was just shown.
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

// isDue reports whether progress is to be shown now, and notes that it is.
func (p *Progress) isDue(now time.Time) bool {
	if p.ended || now.Sub(p.shown) < p.interval {
		return false
	}
	p.shown = now
	return true
}

// Plan sets the sizes of the inputs, so that the share that is done can be shown. That of a
// pipe is not known. If an input is an object, all count alike.
func (p *Progress) Plan(inputs []frontier.Input) {
	if p == nil {
		return
	}
	var sizes []float64
	alike := false
	for _, in := range inputs {
		info, err := os.Stat(in.Path)
		switch {
		case blob.IsURL(in.Path):
			alike = true
			sizes = append(sizes, 1)
		case err == nil && info.Mode().IsRegular():
			sizes = append(sizes, float64(info.Size()))
		default:
			p.extent = report.NewExtent(nil, p.started)
			return
		}
	}
	for i := range sizes {
		if alike {
			sizes[i] = 1
		}
	}
	p.extent = report.NewExtent(sizes, time.Now())
}

// OutputProgress shows how far an output is. A nil one shows nothing.
type OutputProgress struct {
	p      *Progress
	first  int // index of its first input
	inputs int
	rows   report.Progress
	done   float64 // size of what is done of its inputs
}

// Output returns the progress of the next output, which has that number of inputs; nil if
// nothing is shown.
func (p *Progress) Output(inputs int) *OutputProgress {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return &OutputProgress{p: p, first: p.extent.TakeInputs(inputs), inputs: inputs}
}

// Skip says that an earlier run completed the output.
func (o *OutputProgress) Skip() { o.end(true) }

// End says that the output is complete.
func (o *OutputProgress) End() { o.end(false) }

// end counts the output as complete. earlier says that an earlier run completed it.
func (o *OutputProgress) end(earlier bool) {
	if o == nil {
		return
	}
	p := o.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.under -= o.done
	o.done = 0
	p.extent.AddDone(p.extent.Size(o.first, float64(o.inputs)), earlier)
}

// Report records how far the output is, and shows how far all outputs are, unless that was
// just shown.
func (o *OutputProgress) Report(s *batch.Stats, src *frontier.Concatenation) {
	if o == nil {
		return
	}
	p := o.p
	p.mu.Lock()
	defer p.mu.Unlock()
	o.update(s, p.extent.Size(o.first, src.Read()))
	now := time.Now()
	if !p.isDue(now) {
		return
	}
	state := p.rows
	state.Seconds = now.Sub(p.started).Seconds()
	state.URLsPerSecond = report.Rate(state.Rows, state.Seconds)
	state.Share, state.Left = p.extent.At(p.under, now)
	p.show(&state)
}

// update adds to the totals what the output did since the last call. done is the size of its
// inputs that is read.
func (o *OutputProgress) update(s *batch.Stats, done float64) {
	var now report.Progress
	now.Rows = s.Rows
	if len(s.Agents) > 0 {
		now.Denied, now.Judged = s.Agents[0].Denied, s.Agents[0].Denied+s.Agents[0].Allowed
	}
	all := &o.p.rows
	all.Rows += now.Rows - o.rows.Rows
	all.Denied += now.Denied - o.rows.Denied
	all.Judged += now.Judged - o.rows.Judged
	o.p.under += done - o.done
	o.rows, o.done = now, done
}

// state is progress in words, and for programs.
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
	p.log.setStatus(s.Line(cmp.Or(Width(p.terminal), standardWidth) - 1))
}

// End removes the progress from the terminal. None is shown afterwards.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.log.print("")
}
