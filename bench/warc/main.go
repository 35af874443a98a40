//go:build linux

// Warc does the least that any program must do with a crawl's WARC files, as
// bench/corpus/gen makes them up: scripts/measure.sh warc compares robotsbatch compile with
// that.
//
//	go run ./bench/warc gunzip|parse|both FOLDER
//	go run ./bench/warc pack FOLDER OUT
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"robotsbatch/io/rules/rulepack"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "warc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("want gunzip, parse, both or pack, and a folder")
	}
	files, err := filepath.Glob(filepath.Join(args[1], "*.warc.gz"))
	if err != nil {
		return err
	}
	bodies := filepath.Join(args[1], "bodies")
	switch {
	case args[0] == "pack" && len(args) == 3:
		return makePack(bodies, args[2])
	case args[0] == "parse":
		return eachBody(bodies, parse)
	case args[0] == "gunzip":
		return gunzip(files)
	case args[0] == "both":
		return errors.Join(gunzip(files), eachBody(bodies, parse))
	}
	return fmt.Errorf("%s: not a step", args)
}

func gunzip(files []string) error {
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		z, err := gzip.NewReader(bufio.NewReaderSize(f, 256<<10))
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, z); err != nil {
			return err
		}
	}
	return nil
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
