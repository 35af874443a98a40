package console

import (
	"os"
	"time"

	"golang.org/x/term"

	"robotsbatch/batch"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/store/blob"
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

// Progress shows how far a job has come. A nil one shows nothing.
type Progress struct {
	log      *Console
	terminal *os.File // nil for lines of their own
	started  time.Time

	extent *report.Extent
	before report.Progress // of the outputs that are done
	last   time.Time
	shown  bool // a line stands on the terminal
}

// NewProgress returns nil when nothing is to be shown. rowsShown says that the rows go to a
// terminal, where progress would be written between them.
func NewProgress(log *Console, when When, rowsShown bool, started time.Time) *Progress {
	p := &Progress{log: log, started: started}
	if !log.JSON() && IsTerminal(log.w) && os.Getenv("TERM") != "dumb" {
		p.terminal = log.w.(*os.File)
	}
	switch {
	case when == Never, log.o.Quiet:
		return nil
	case when == Always:
		return p
	case log.JSON():
		p.last = started // a short job says nothing
		return p
	case p.terminal == nil, rowsShown:
		return nil
	}
	return p
}

// Plan takes how large the inputs are. It is not known of pipes; objects, which are
// mostly parts of about the same size, count alike.
func (p *Progress) Plan(planned []outputs.Output) {
	if p == nil {
		return
	}
	var sizes []float64
	alike := false
	for _, out := range planned {
		for _, in := range out.Inputs {
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
	}
	for i := range sizes {
		if alike {
			sizes[i] = 1
		}
	}
	p.extent = report.NewExtent(sizes, time.Now())
}

// Skip goes behind an output that an earlier run has done.
func (p *Progress) Skip(out outputs.Output) {
	if p != nil {
		p.extent.Skip(len(out.Inputs))
	}
}

// Next goes behind an output that this run did.
func (p *Progress) Next(out outputs.Output, s *batch.Stats) {
	if p == nil {
		return
	}
	p.extent.Next(len(out.Inputs))
	addRows(&p.before, s)
}

// addRows adds the rows of an output.
func addRows(p *report.Progress, s *batch.Stats) {
	p.Rows += s.Rows
	if len(s.Agents) > 0 {
		p.Denied += s.Agents[0].Denied
		p.Judged += s.Agents[0].Denied + s.Agents[0].Allowed
	}
}

// Report shows how far the current output is, unless it has just done so.
func (p *Progress) Report(s *batch.Stats, src *frontier.Concatenation) {
	if p == nil {
		return
	}
	now := time.Now()
	interval := logInterval
	if p.terminal != nil {
		interval = terminalInterval
	}
	if now.Sub(p.last) < interval {
		return
	}
	p.last = now
	state := p.before
	addRows(&state, s)
	state.Seconds = now.Sub(p.started).Seconds()
	state.URLsPerSecond = report.Rate(state.Rows, state.Seconds)
	state.Share, state.Left = p.extent.At(src.Read(), now)
	p.show(&state)
}

func (p *Progress) show(state *report.Progress) {
	const standardWidth = 80
	if p.terminal == nil {
		p.log.Info(state.Line(standardWidth), "progress", state.Attributes()...)
		return
	}
	width, _, err := term.GetSize(int(p.terminal.Fd()))
	if err != nil || width <= 0 {
		width = standardWidth
	}
	p.shown = true
	// The last column stays free: a line that fills it goes on in the next one.
	_, _ = p.terminal.WriteString("\r" + state.Line(width-1) + "\x1b[K")
}

// End removes the line.
func (p *Progress) End() {
	if p != nil && p.shown {
		_, _ = p.terminal.WriteString("\r\x1b[K")
		p.shown = false
	}
}
