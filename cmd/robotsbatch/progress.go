package main

import (
	"os"
	"time"

	"golang.org/x/term"

	"robotsbatch/batch"
	"robotsbatch/io/blob"
	"robotsbatch/io/frontier"
	"robotsbatch/io/outputs"
	"robotsbatch/io/report"
)

// progressMode says when progress is shown.
type progressMode uint8

const (
	// progressAuto shows it when the error stream is a terminal, and to programs.
	progressAuto progressMode = iota
	progressAlways
	progressNever
)

// How often progress is shown on a terminal, where one line is written again
// and again, and elsewhere, where each report is a line of its own.
const (
	terminalInterval = 200 * time.Millisecond
	logInterval      = 10 * time.Second
)

// progress shows how far a job has come. A nil one shows nothing.
type progress struct {
	log      *console
	terminal *os.File // nil for lines of their own
	started  time.Time

	extent *report.Extent
	before report.Progress // of the outputs that are done
	last   time.Time
	shown  bool // a line stands on the terminal
}

// newProgress returns nil when nothing is to be shown.
func newProgress(c *jobConfig, s streams, log *console, started time.Time) *progress {
	p := &progress{log: log, started: started}
	if !c.logJSON && isTerminal(s.err) && os.Getenv("TERM") != "dumb" {
		p.terminal = s.err.(*os.File)
	}
	switch {
	case c.progress == progressNever, c.quiet:
		return nil
	case c.progress == progressAlways:
		return p
	case c.logJSON:
		p.last = started // a short job says nothing
		return p
	case p.terminal == nil, c.out == "-" && isTerminal(s.out):
		return nil // there it would be written between the rows
	}
	return p
}

// plan takes how large the inputs are. It is not known of pipes; objects, which are
// mostly parts of about the same size, count alike.
func (p *progress) plan(planned []outputs.Output) {
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

// skip goes behind an output that an earlier run has done.
func (p *progress) skip(out outputs.Output) {
	if p != nil {
		p.extent.Skip(len(out.Inputs))
	}
}

// next goes behind an output that this run did.
func (p *progress) next(out outputs.Output, s *batch.Stats) {
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

// report shows how far the current output is, unless it has just done so.
func (p *progress) report(s *batch.Stats, src *frontier.Concatenation) {
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

func (p *progress) show(state *report.Progress) {
	const standardWidth = 80
	if p.terminal == nil {
		p.log.info(state.Line(standardWidth), "progress", state.Attributes()...)
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

// end removes the line.
func (p *progress) end() {
	if p != nil && p.shown {
		_, _ = p.terminal.WriteString("\r\x1b[K")
		p.shown = false
	}
}
