//go:build linux

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// processFaults returns all faults of the section.
func processFaults() []processFault {
	return slices.Concat(outputFaults(), inputFaults(), folderFaults())
}

// standard returns the arguments of most jobs.
func standard(more ...string) []string {
	return append([]string{"-in", "-", "-rules", "rules", "-out", "out.csv"}, more...)
}

// to returns the standard arguments with another output.
func to(out string, more ...string) []string {
	return append([]string{"-in", "-", "-rules", "rules", "-out", out}, more...)
}

func nothing(*held) error { return nil }

func outputFaults() []processFault {
	return []processFault{
		{name: "none", args: standard(), act: nothing, says: "120,000 rows", output: complete},
		{
			name: "limit of a file's size (ulimit -f)", args: append([]string{"ulimit"}, standard()...), act: nothing,
			status: 1, says: "out.csv: file too large",
		},
		{
			name: "folder of the output removed", args: to("out/big.csv"), act: change("out", os.RemoveAll),
			status: 1, says: "out/big.csv: rename: no such file or directory",
		},
		{
			name: "folder of outputs removed", args: to("out"), act: change("out", os.RemoveAll),
			status: 1, says: "out/stdin.csv: rename: no such file or directory",
		},
		{
			name: "slow reader of stdout", args: []string{"-in", "-", "-rules", "rules", "-out-format", "csv"},
			act: slowReader, says: "120,000 rows",
		},
		{
			name: "reader of stdout gone", args: []string{"-in", "-", "-rules", "rules", "-out-format", "csv"},
			act: func(h *held) error { return h.stdout.Close() }, says: "the reader closed the output early",
		},
	}
}

// slowReader reads the job's output with pauses.
func slowReader(h *held) error {
	h.read, h.wantRead = make(chan int, 1), 1+2*fedRows
	go func() {
		lines, buffer := 0, make([]byte, 64<<10)
		for {
			n, err := io.ReadFull(h.stdout, buffer)
			lines += strings.Count(string(buffer[:n]), "\n")
			if err != nil {
				h.read <- lines
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return nil
}

// change changes a file of the job.
func change(name string, how func(path string) error) func(*held) error {
	return func(h *held) error { return how(filepath.Join(h.folder, name)) }
}

func cutTo(size int64) func(string) error {
	return func(path string) error { return os.Truncate(path, size) }
}

// overwrite overwrites a whole file with zeros.
func overwrite(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(make([]byte, info.Size()))
	return err
}

// replace puts another file in place of a file.
func replace(text string) func(string) error {
	return func(path string) error {
		other := path + ".new"
		return errors.Join(os.WriteFile(other, []byte(text), 0o666), os.Rename(other, path))
	}
}

// bigRows is the number of rows of an input during which a job is stopped.
const bigRows = 2_000_000

// big writes a large uncompressed table.
func big(b *bench, folder, name string) error {
	list := filepath.Join(folder, "big.txt")
	if err := os.WriteFile(list, []byte(strings.Repeat(aRow, bigRows)), 0o666); err != nil {
		return err
	}
	if name == "big.txt" {
		return nil
	}
	c := exec.Command(b.program, "-quiet", "-in", "big.txt", "-rules", "rules", "-out", name, "-columns", "url", "-prefix", "x_", "-compression", "none")
	c.Dir = folder
	return c.Run()
}

// inTheMiddle stops the job after it has written a part of its output, calls how, and lets
// the job continue.
func inTheMiddle(name string, how func(string) error) func(*held) error {
	return func(h *held) error {
		late := time.Now().Add(patience)
		for begun := false; !begun; time.Sleep(time.Millisecond) {
			if time.Now().After(late) {
				return errors.New("the job has no output to be stopped in the middle of")
			}
			found, _ := filepath.Glob(filepath.Join(h.folder, ".out.csv.*.tmp"))
			for _, path := range found {
				info, err := os.Stat(path)
				begun = begun || err == nil && info.Size() > 1<<20
			}
		}
		return errors.Join(h.kill(syscall.SIGSTOP), how(filepath.Join(h.folder, name)), h.kill(syscall.SIGCONT))
	}
}

func inputFaults() []processFault {
	first := []string{"-in", "urls.txt", "-in", "-", "-rules", "rules", "-out", "out.csv"}
	last := []string{"-in", "-", "-in", "urls.txt", "-rules", "rules", "-out", "out.csv"}
	table := func(name string) []string {
		return []string{"-in", name, "-rules", "rules", "-out", "out.csv", "-columns", "url"}
	}
	faults := []processFault{
		{
			name: "list cut after its turn", args: first, act: change("urls.txt", cutTo(10)),
			status: 75, says: "urls.txt: it was written to while it was read",
		},
		{
			name: "list longer after its turn", args: first, act: change("urls.txt", cutTo(1<<20)),
			status: 75, says: "urls.txt: it was written to while it was read",
		},
		{
			name: "list replaced after its turn", args: first, act: change("urls.txt", replace("http://c.example/\n")),
			says: "120,100 rows", output: complete, rows: 2*fedRows + 100,
		},
		{
			name: "list gone before its turn", args: last, act: change("urls.txt", os.Remove),
			status: 1, says: "urls.txt: no such file or directory",
		},
	}
	for _, name := range []string{"big.txt", "big.arrow", "big.parquet"} {
		for _, how := range []struct {
			name string
			do   func(string) error
		}{{"cut", cutTo(1 << 20)}, {"overwritten", overwrite}} {
			faults = append(faults, processFault{
				name: name + " " + how.name + " while it is read", args: table(name), big: name, act: inTheMiddle(name, how.do),
				status: 75, says: name + ": it was written to while it was read",
			})
		}
	}
	return faults
}

func folderFaults() []processFault {
	return []processFault{
		{
			name: "robots.txt replaced before it is needed", args: standard(),
			act:  change("rules/b.example", replace("User-agent: *\nAllow: /\n")),
			says: "60,000 allowed, 60,000 denied", output: complete,
		},
		{
			name: "robots.txt replaced after it was read", args: standard(),
			act:  change("rules/a.example", replace("User-agent: *\nAllow: /\n")),
			says: "0 allowed, 120,000 denied", output: complete,
		},
		{
			name: "robots.txt removed before it is needed", args: standard(), act: change("rules/b.example", os.Remove),
			status: 1, says: "rules/b.example: it was there when the folder was listed",
		},
		{
			name: "a folder in a robots.txt's place", args: standard(),
			act: change("rules/b.example", func(path string) error {
				return errors.Join(os.Remove(path), os.Mkdir(path, 0o777))
			}),
			status: 1, says: "rules/b.example: not a regular file",
		},
		{
			name: "folder of rules removed", args: standard(), act: change("rules", os.RemoveAll),
			status: 1, says: "rules/b.example: it was there when the folder was listed",
		},
	}
}
