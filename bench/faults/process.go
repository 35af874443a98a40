//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// processFault is something that happens to a job from outside.
type processFault struct {
	name string
	// args are the job's arguments. For -in -, the section and act write the rows.
	args []string
	// big is the name of a large input to be made.
	big string
	// act causes the fault while the job is running; nil for a fault that exists from the
	// start.
	act func(*held) error
	// status is the expected exit status, says the expected text on stderr.
	status int
	says   string
	// output is the expected state of out.csv at the end. rows is the expected number of
	// rows, if it is not that of the rows fed.
	output outcomeOfFile
	rows   int
}

type outcomeOfFile uint8

const (
	asBefore outcomeOfFile = iota // the same as before the job
	complete                      // the complete output of the job
)

const oldOutput = "as before\n"

// fedRows is the number of rows that are fed before the fault, and again after it: more than a pipe
// and the batches in flight hold.
const fedRows = 60_000

// processSection causes faults in the environment of jobs.
func processSection(b *bench) error {
	fmt.Printf("\n## process: what may happen to a job\n\nIn each row a job writes out.csv, where another output lies already.\n\n")
	fmt.Println("| fault | exit | what it says | on disk afterwards |")
	fmt.Println("|---|---:|---|---|")
	var bad []error
	for _, f := range processFaults() {
		row, err := b.suffer(f)
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", f.name, err))
		}
		fmt.Printf("| %s | %s |\n", f.name, row)
	}
	return errors.Join(bad...)
}

// suffer runs a fault and returns its row in the table.
func (b *bench) suffer(f processFault) (row string, err error) {
	folder, err := os.MkdirTemp(b.scratch, "process.")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	if err := prepare(b, folder, f); err != nil {
		return "", err
	}
	h, err := b.hold(folder, f.args)
	if err != nil {
		return "", err
	}
	if f.act != nil {
		if h.stdout == nil { // without a reader the job would wait
			h.feed(aRow)
		}
		err = f.act(h)
		if h.stdout != nil {
			h.feed(aRow)
		}
		h.feed(bRow)
	}
	status, said := h.end()
	if err = errors.Join(err, h.drained()); err != nil {
		return "", err
	}
	disk, err := f.disk(folder)
	if status != f.status || !strings.Contains(said, f.says) {
		err = errors.Join(err, fmt.Errorf("exit status %d, and it says %q: want %d and %q", status, said, f.status, f.says))
	}
	return fmt.Sprintf("%d | %s | %s", status, said, disk), err
}

// prepare makes the files of every job: rules as folder and pack, an input and an old
// output.
func prepare(b *bench, folder string, f processFault) error {
	err := errors.Join(
		os.Mkdir(filepath.Join(folder, "rules"), 0o777),
		os.Mkdir(filepath.Join(folder, "out"), 0o777),
		os.WriteFile(filepath.Join(folder, "rules", "a.example"), []byte("User-agent: *\nDisallow: /private\n"), 0o666),
		os.WriteFile(filepath.Join(folder, "rules", "b.example"), []byte("User-agent: *\nDisallow: /private\n"), 0o666),
		os.WriteFile(filepath.Join(folder, "urls.txt"), []byte(strings.Repeat(aRow, 100)), 0o666),
		os.WriteFile(filepath.Join(folder, "out.csv"), []byte(oldOutput), 0o666),
	)
	for _, args := range [][]string{
		{"compile", "-quiet", "-rules", "rules", "-out", "site.rules"},
		{"-quiet", "-in", "urls.txt", "-rules", "rules", "-out", "urls.arrow", "-columns", "url", "-batch-rows", "10"},
	} {
		if err == nil {
			c := exec.Command(b.program, args...)
			c.Dir = folder
			err = c.Run()
		}
	}
	if err == nil && f.big != "" {
		err = big(b, folder, f.big)
	}
	return err
}

// aRow and bRow are URLs of the two authorities that have rules.
const (
	aRow = "https://a.example/private/x\n"
	bRow = "https://b.example/private/x\n"
)

var ownFile = regexp.MustCompile(`(^|/)\.[^/]*robotsbatch`)

// disk describes the files in the folder. It returns an error if they are not the expected
// ones.
func (f *processFault) disk(folder string) (string, error) {
	var own, text []string
	_ = filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if name, _ := filepath.Rel(folder, path); err == nil && ownFile.MatchString(name) {
			own = append(own, name)
		}
		return nil
	})
	data, err := os.ReadFile(filepath.Join(folder, "out.csv"))
	lines := strings.Count(string(data), "\n")
	var wrong error
	switch {
	case err != nil:
		text = append(text, "no out.csv")
		wrong = err
	case string(data) == oldOutput:
		text = append(text, "out.csv as before")
		if f.output == complete {
			wrong = errors.New("the output is that of before")
		}
	default:
		text = append(text, fmt.Sprintf("out.csv complete, %d lines", lines))
		want := 1 + 2*fedRows
		if f.rows > 0 {
			want = 1 + f.rows
		}
		if f.output != complete || lines != want {
			wrong = fmt.Errorf("an output of %d lines", lines)
		}
	}
	for i, name := range own {
		own[i] = regexp.MustCompile(`[0-9a-f]{8}\.tmp`).ReplaceAllString(name, "*.tmp")
	}
	if len(own) > 0 {
		text = append(text, strings.Join(own, " and "))
	} else {
		text = append(text, "nothing else")
	}
	if len(own) > 0 {
		wrong = errors.Join(wrong, fmt.Errorf("%d files of its own are left", len(own)))
	}
	return strings.Join(text, "; "), wrong
}

// held is a job that waits for its input.
type held struct {
	folder  string
	command *exec.Cmd
	stdin   *os.File
	stdout  *os.File // nil if the job has an -out
	stderr  *strings.Builder
	// read receives the number of lines that the reader of stdout got, when it is done; nil
	// if there is no reader.
	read     chan int
	wantRead int
}

// hold starts a job.
func (b *bench) hold(folder string, args []string) (*held, error) {
	h := &held{folder: folder, stderr: &strings.Builder{}}
	h.command = exec.Command(b.program, append([]string{"-batch-rows", "100"}, args...)...)
	if args[0] == "ulimit" { // of file sizes, in blocks
		h.command = exec.Command("/bin/sh", append([]string{"-c", `ulimit -f 100 && exec "$0" "$@"`, b.program}, args[1:]...)...)
	}
	h.command.Dir, h.command.Stderr = folder, h.stderr
	in, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	h.stdin, h.command.Stdin = w, in
	if !slices.Contains(args, "-out") {
		r, out, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer out.Close()
		h.stdout, h.command.Stdout = r, out
	}
	return h, h.command.Start()
}

// feed writes rows, unless the job has ended or reads another input.
func (h *held) feed(row string) {
	if slices.Contains(h.command.Args, "-") {
		_, _ = h.stdin.WriteString(strings.Repeat(row, fedRows))
	}
}

// drained waits for the reader of stdout.
func (h *held) drained() error {
	if h.read == nil {
		return nil
	}
	if n := <-h.read; n != h.wantRead {
		return fmt.Errorf("its reader got %d lines, and not %d", n, h.wantRead)
	}
	return nil
}

// end ends the input and waits. It returns the exit status, -1 for a signal, and the last
// line of stderr.
func (h *held) end() (status int, said string) {
	h.stdin.Close()
	_ = h.command.Wait() // the status tells
	lines := strings.Split(strings.TrimSpace(h.stderr.String()), "\n")
	if i := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, "Run \"robotsbatch") }); i > 0 {
		lines = lines[:i]
	}
	said = strings.TrimPrefix(lines[len(lines)-1], "robotsbatch: ")
	if i := strings.Index(said, "); "); i > 0 && strings.Contains(said, " rows: ") {
		said = said[:i+1] // without the part that differs from run to run
	}
	return h.command.ProcessState.ExitCode(), strings.ReplaceAll(said, h.folder+"/", "")
}

// kill sends a signal to the job.
func (h *held) kill(signal syscall.Signal) error { return h.command.Process.Signal(signal) }
