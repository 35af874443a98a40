//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"robotsbatch/bench/figures"

	"github.com/klauspost/compress/gzip"

	"robotsbatch/io/rules/rulepack"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// measureAll measures all steps in turn, several rounds.
func measureAll(folder, program, memory string, count int) error {
	files, err := filepath.Glob(filepath.Join(folder, crawlFiles))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s has no crawl: %w", folder, errors.Join(err, os.ErrNotExist))
	}
	size, err := sizeOf(files)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	pack := filepath.Join(folder, "crawl.rules")
	defer os.Remove(pack)
	bodies := filepath.Join(folder, bodiesFile)
	steps := []struct {
		name    string
		command []string
		taken   figures.Runs
	}{
		{name: "gunzip", command: append([]string{self, "-step", "gunzip"}, files...)},
		{name: "parse and compile the distinct bodies", command: []string{self, "-step", "parse", bodies}},
		{name: "make a rule pack of the distinct bodies", command: []string{self, "-step", "pack", bodies, pack}},
		{name: "robotsbatch compile", command: []string{program, "compile", "-rules", filepath.Join(folder, crawlFiles), "-out", pack, "-memory", memory, "-quiet"}},
	}
	fmt.Printf("files: %d of %d bytes\n", len(files), size)
	for round := range count {
		for i := range steps {
			s := &steps[i]
			cmd := exec.Command(s.command[0], s.command[1:]...)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			taken, err := figures.Run(cmd)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			fmt.Printf("round %d: %-40s %6.2f s of processors, %6.2f s, %4d MiB\n", round+1, s.name, taken.CPU, taken.Wall, taken.Peak>>20)
			s.taken = append(s.taken, taken)
		}
	}
	fmt.Println()
	median := func(i int) float64 { return steps[i].taken.Median(figures.CPU) }
	for i := range steps {
		fmt.Printf("median: %-40s %6.2f s of processors\n", steps[i].name, median(i))
	}
	peak := int64(0)
	for _, t := range steps[3].taken {
		peak = max(peak, t.Peak)
	}
	fmt.Printf("compile by gunzip and parsing and compiling alone: %.2f\n", median(3)/(median(0)+median(1)))
	fmt.Printf("compile by gunzip and making a pack of the bodies: %.2f\n", median(3)/(median(0)+median(2)))
	fmt.Printf("compile: %.0f MB of WARC a second of processors, peak of memory %d MiB\n", float64(size)/1e6/median(3), peak>>20)
	return nil
}

func sizeOf(files []string) (size int64, err error) {
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	return size, nil
}

// runStep does the work of one measurement.
func runStep(step string, args []string) error {
	switch {
	case step == "gunzip":
		for _, name := range args {
			if err := gunzip(name); err != nil {
				return err
			}
		}
		return nil
	case step == "parse" && len(args) == 1:
		return eachBody(args[0], parse)
	case step == "pack" && len(args) == 2:
		return makePack(args[0], args[1])
	}
	return fmt.Errorf("no step %q of %d arguments", step, len(args))
}

func gunzip(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReaderSize(f, 256<<10))
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, z)
	return err
}

// eachBody calls do with each distinct body, which is valid during the call.
func eachBody(name string, do func(body []byte) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	var body []byte
	for {
		var length [4]byte
		if _, err := io.ReadFull(in, length[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		n := int(binary.LittleEndian.Uint32(length[:]))
		body = slices.Grow(body[:0], n)[:n]
		if _, err := io.ReadFull(in, body); err != nil {
			return err
		}
		if err := do(body); err != nil {
			return err
		}
	}
}

var rules, notes []byte

// parse parses and compiles a body.
func parse(body []byte) error {
	compiled, ok := matcher.CompileBody(robotstxt.Parse(body, robotstxt.Options{}))
	if !ok {
		return errors.New("a body cannot be compiled for all agents")
	}
	rules, notes = compiled.AppendRules(rules[:0]), compiled.AppendNotes(notes[:0])
	return nil
}

// makePack makes a rule pack of the bodies, with an authority for each.
func makePack(bodies, out string) error {
	b, err := rulepack.Create(context.Background(), out, rulepack.BuildOptions{})
	if err != nil {
		return err
	}
	defer b.Abort()
	n := 0
	err = eachBody(bodies, func(body []byte) error {
		n++
		authority := append([]byte("http://"), strconv.Itoa(n)...)
		return b.Add(rulepack.Entry{Authority: append(authority, ".example"...), Access: access.Rules, Body: body})
	})
	if err != nil {
		return err
	}
	_, err = b.Finish()
	return err
}
