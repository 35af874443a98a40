package main

import (
	"fmt"
	"sync"
	"time"

	"robotsbatch/io/report"
)

// progressMode says when progress is shown.
type progressMode uint8

const (
	// progressAuto shows it when the error stream is a terminal.
	progressAuto progressMode = iota
	progressAlways
	progressNever
)

// How often progress is shown on a terminal, where one line is written again
// and again, and elsewhere, where each report is a line of its own.
const (
	terminalInterval = 200 * time.Millisecond
	logInterval      = 5 * time.Second
)

// progress shows how far a job has come. It is safe for concurrent use.
type progress struct {
	log      *console
	terminal bool
	started  time.Time

	mu    sync.Mutex
	last  time.Time
	shown bool // a line stands on the terminal
}

// newProgress returns nil when nothing is to be shown.
func newProgress(c *jobConfig, s streams, log *console, started time.Time) *progress {
	terminal := isTerminal(s.err)
	switch {
	case c.progress == progressNever, c.quiet:
		return nil
	case c.progress == progressAuto && (!terminal || c.logJSON):
		return nil
	case c.progress == progressAuto && c.out == "-" && isTerminal(s.out):
		return nil // it would be written between the rows
	}
	return &progress{log: log, terminal: terminal && !c.logJSON, started: started}
}

// report shows that rows are done, unless it has just done so.
func (p *progress) report(rows int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	interval := logInterval
	if p.terminal {
		interval = terminalInterval
	}
	if now.Sub(p.last) < interval {
		return
	}
	p.last = now
	seconds := now.Sub(p.started).Seconds()
	text := fmt.Sprintf("%s, %s a second, %s", report.Count(rows, "row", "rows"), report.Number(report.Rate(rows, seconds)), report.Clock(seconds))
	if !p.terminal {
		p.log.info(text, "progress", "rows", rows, "seconds", seconds)
		return
	}
	p.shown = true
	fmt.Fprintf(p.log.w, "\r\x1b[K%s", text)
}

// end removes the line.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.log.w, "\r\x1b[K")
		p.shown = false
	}
}
