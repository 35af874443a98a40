package report

import "time"

// mostPoints is how many points a Pace keeps at most.
const mostPoints = 240

// Pace is how many rows were done by when, in points of time that are few: when there are
// too many, every second one goes, and the next come half as often.
type Pace struct {
	started time.Time
	step    time.Duration // between points
	seconds []float64
	rows    []int64
	// last is what was done after the last point.
	lastSeconds float64
	lastRows    int64
}

// newPace returns the pace of a job that has begun.
func newPace(started time.Time) *Pace {
	return &Pace{started: started, step: 20 * time.Millisecond, seconds: []float64{0}, rows: []int64{0}}
}

// Add takes down how many rows are done.
func (p *Pace) Add(now time.Time, rows int64) {
	p.lastSeconds, p.lastRows = now.Sub(p.started).Seconds(), rows
	if p.lastSeconds-p.seconds[len(p.seconds)-1] < p.step.Seconds() {
		return
	}
	p.seconds, p.rows = append(p.seconds, p.lastSeconds), append(p.rows, rows)
	if len(p.seconds) < mostPoints {
		return
	}
	kept := 0
	for i := 0; i < len(p.seconds); i += 2 {
		p.seconds[kept], p.rows[kept] = p.seconds[i], p.rows[i]
		kept++
	}
	p.seconds, p.rows, p.step = p.seconds[:kept], p.rows[:kept], 2*p.step
}

// rates are the rows a second between each point and the one before it, and the times of
// the points in seconds.
func (p *Pace) rates() (seconds, rates []float64) {
	add := func(from, to float64, rows int64) {
		if to > from {
			seconds, rates = append(seconds, to), append(rates, float64(rows)/(to-from))
		}
	}
	last := len(p.seconds) - 1
	for i := 1; i <= last; i++ {
		add(p.seconds[i-1], p.seconds[i], p.rows[i]-p.rows[i-1])
	}
	if p.lastSeconds-p.seconds[last] > p.step.Seconds()/4 { // less says little
		add(p.seconds[last], p.lastSeconds, p.lastRows-p.rows[last])
	}
	return seconds, rates
}
