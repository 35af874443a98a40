//go:build linux

// Turns runs commands in turns and prints a Markdown table of what they used: the runner of
// scripts/measure.sh.
//
//	turns [-rounds 5] [-base NAME] [-out FOLDER] [-chart FILE] <CASES
//
// Each line of CASES has fields that tabs separate:
//
//	table	TITLE	GOALS	CHECK...
//	run	NAME	UNITS	COMMAND...
//
// A run belongs to the table before it. Each round runs all commands of a table once, and
// starts with another one. The first round is not counted; after each of its runs the
// command CHECK, if there is one, must succeed. Outputs lie in FOLDER, which is emptied
// after each run. Times are medians over the rounds, and memory is the most of all rounds. A
// ratio to the run NAME, or to the first of the table, is the median of the ratios within a
// round, since the machine's speed may change from one round to the next. If UNITS is a
// number, such as that of a command's URLs, times are divided by it for the ratio. GOALS,
// such as "wall=0.45 MiB=256", are the most that the table's first run may have: the ratio
// of wall or CPU time, and MiB of memory.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"robotsbatch/bench/figures"
)

// table is a group of commands that take turns.
type table struct {
	title, goals string
	check        []string
	runs         []*run
	base         *run // the others are compared with it
}

// run is a command with what it used, divided by its units.
type run struct {
	name    string
	units   float64 // 0 for none
	command []string
	used    []figures.Usage // by round
	size    int64           // of what it wrote, in bytes
}

func main() {
	rounds := flag.Int("rounds", 5, "rounds that are counted")
	base := flag.String("base", "", "the run that others are compared with; by default the first of a table")
	out := flag.String("out", "", "the folder of outputs")
	chart := flag.String("chart", "", "SVG `file` for a chart of the ratios of wall time")
	warm := flag.Bool("warm", true, "a round before those that are counted")
	flag.Parse()
	if err := measure(os.Stdin, os.Stdout, *rounds, *base, *out, *chart, *warm); err != nil {
		fmt.Fprintln(os.Stderr, "turns:", err)
		os.Exit(1)
	}
}

// measure runs the tables of cases, and writes each to w in Markdown, and chart if it has a name.
func measure(cases io.Reader, w io.Writer, rounds int, base, out, chart string, warm bool) error {
	tables, err := read(cases, base)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := t.take(rounds, warm, out); err != nil {
			return fmt.Errorf("%s: %w", t.title, err)
		}
		fmt.Fprintf(w, "\n## %s\n\n%s", t.title, t.report())
	}
	if chart == "" {
		return nil
	}
	return os.WriteFile(chart, []byte(draw(tables)), 0o666)
}

// read reads the tables of cases. base names the run that others are compared with.
func read(cases io.Reader, base string) (tables []*table, err error) {
	lines := bufio.NewScanner(cases)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		switch {
		case fields[0] == "table" && len(fields) > 2:
			tables = append(tables, &table{title: fields[1], goals: fields[2], check: fields[3:]})
		case fields[0] == "run" && len(fields) > 3 && len(tables) > 0:
			t := tables[len(tables)-1]
			units, _ := strconv.ParseFloat(fields[2], 64)
			t.runs = append(t.runs, &run{name: fields[1], units: units, command: fields[3:]})
			if t.base == nil || fields[1] == base {
				t.base = t.runs[len(t.runs)-1]
			}
		default:
			return nil, fmt.Errorf("%q is no line of cases", lines.Text())
		}
	}
	if len(tables) == 0 || slices.ContainsFunc(tables, func(t *table) bool { return t.base == nil }) {
		return nil, errors.New("a table without runs")
	}
	return tables, lines.Err()
}

// take runs all commands in turns.
func (t *table) take(rounds int, warm bool, out string) error {
	first := 1
	if warm {
		first = 0
	}
	for round := first; round <= rounds; round++ {
		for i := range t.runs {
			r := t.runs[(round+i)%len(t.runs)]
			used, err := figures.Run(exec.Command(r.command[0], r.command[1:]...))
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			if round == first && len(t.check) > 0 {
				if said, err := exec.Command(t.check[0], t.check[1:]...).CombinedOutput(); err != nil {
					return fmt.Errorf("%s: its output: %w: %s", r.name, err, said)
				}
			}
			if r.size, err = empty(out); err != nil {
				return err
			}
			if round > 0 {
				r.used = append(r.used, used)
			}
		}
	}
	return nil
}

// empty removes all files from a folder and returns their size in bytes.
func empty(folder string) (size int64, err error) {
	if folder == "" {
		return 0, nil
	}
	err = filepath.WalkDir(folder, func(_ string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, errors.Join(err, os.RemoveAll(folder), os.MkdirAll(folder, 0o777))
}

// Figures of a run, for median, most and ratios.
func wall(u figures.Usage) float64    { return u.Wall }
func cpu(u figures.Usage) float64     { return u.CPU }
func peak(u figures.Usage) float64    { return u.Peak }
func private(u figures.Usage) float64 { return u.Private }

// processors returns how many processors a run used on average.
func processors(u figures.Usage) float64 { return u.CPU / u.Wall }

// sorted returns a figure of each round, the least first.
func (r *run) sorted(figure func(figures.Usage) float64) (list []float64) {
	for _, u := range r.used {
		list = append(list, figure(u))
	}
	slices.Sort(list)
	return list
}

// median returns the median of a figure over the rounds.
func (r *run) median(figure func(figures.Usage) float64) float64 {
	return figures.Median(r.sorted(figure))
}

// most returns the largest of a figure over the rounds.
func (r *run) most(figure func(figures.Usage) float64) float64 {
	return slices.Max(r.sorted(figure))
}

// ratios returns, for each round, the ratio of a run's figure to that of the base, the least first. If both
// have units, it is the ratio of the figures for a unit.
func (t *table) ratios(r *run, figure func(figures.Usage) float64) (ratios []float64) {
	scale := 1.0
	if r.units > 0 && t.base.units > 0 {
		scale = t.base.units / r.units
	}
	for i, u := range r.used {
		ratios = append(ratios, scale*figure(u)/figure(t.base.used[i]))
	}
	slices.Sort(ratios)
	return ratios
}

// report returns the table in Markdown.
func (t *table) report() string {
	var b strings.Builder
	units := slices.ContainsFunc(t.runs, func(r *run) bool { return r.units > 0 })
	head := []string{"", "wall s", "CPU s", "CPU ÷ wall", "wall ÷ " + t.base.name, "CPU ÷ " + t.base.name, "least–most", "peak MiB", "without mapped files", "output MB"}
	if units {
		head = append(head, "wall, ns each", "CPU, ns each")
	}
	fmt.Fprintf(&b, "| %s |\n|---|%s\n", strings.Join(head, " | "), strings.Repeat("---:|", len(head)-1))
	for _, r := range t.runs {
		by := t.ratios(r, cpu)
		row := []string{
			r.name, fmt.Sprintf("%.3f", r.median(wall)), fmt.Sprintf("%.3f", r.median(cpu)), fmt.Sprintf("%.2f", r.median(processors)),
			fmt.Sprintf("%.2f", figures.Median(t.ratios(r, wall))), fmt.Sprintf("%.2f", figures.Median(by)), fmt.Sprintf("%.2f–%.2f", by[0], by[len(by)-1]),
			fmt.Sprintf("%.0f", r.most(peak)),
			fmt.Sprintf("%.0f", r.most(private)),
			fmt.Sprintf("%.1f", float64(r.size)/1e6),
		}
		if units {
			row = append(row, fmt.Sprintf("%.1f", r.median(wall)*1e9/r.units), fmt.Sprintf("%.1f", r.median(cpu)*1e9/r.units))
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	if t.goals != "" {
		fmt.Fprintf(&b, "\nGoals of %s: %s: %s.\n", t.runs[0].name, t.goals, t.judge())
	}
	return b.String()
}

// judge says which goals the first run missed.
func (t *table) judge() string {
	r := t.runs[0]
	has := map[string]float64{
		"wall": figures.Median(t.ratios(r, wall)), "CPU": figures.Median(t.ratios(r, cpu)),
		"MiB": r.most(peak),
	}
	var missed []string
	for goal := range strings.FieldsSeq(t.goals) {
		name, text, _ := strings.Cut(goal, "=")
		if most, err := strconv.ParseFloat(text, 64); err != nil || has[name] > most {
			missed = append(missed, name)
		}
	}
	if len(missed) == 0 {
		return "reached"
	}
	return "missed by " + strings.Join(missed, ", ")
}

// draw draws processor time, a panel for each table.
func draw(tables []*table) string {
	c := figures.Chart{
		Title: "Processor time from file to file",
		About: []string{"robotsbatch decides and copies, the others only copy; seconds of processor time, medians of the rounds, shorter is faster"},
	}
	for _, t := range tables {
		p := figures.Panel{Title: t.title}
		for i, r := range t.runs {
			seconds := r.median(cpu)
			p.Most = max(p.Most, figures.Nice(seconds))
			p.Bars = append(p.Bars, figures.Bar{Name: r.name, Value: seconds, Own: i == 0, Text: fmt.Sprintf("%.2f", seconds)})
		}
		c.Panels = append(c.Panels, p)
	}
	return c.SVG()
}
