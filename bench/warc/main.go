//go:build linux

// Warc makes up a crawl's WARC files, and does the least that any program must do with
// them: scripts/measure.sh warc compares robotsbatch compile with that.
//
//	go run ./bench/warc generate FOLDER CAPTURES RULES
//	go run ./bench/warc gunzip|parse|both FOLDER
//	go run ./bench/warc pack FOLDER OUT
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "warc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("want generate, gunzip, parse, both or pack, and a folder")
	}
	folder := args[1]
	files, err := filepath.Glob(filepath.Join(folder, crawlFiles))
	if err != nil {
		return err
	}
	bodies := filepath.Join(folder, bodiesFile)
	switch {
	case args[0] == "generate" && len(args) == 4:
		captures, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		rules, err := strconv.Atoi(args[3])
		if err != nil {
			return err
		}
		return generateCrawl(folder, captures, rules, 16)
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
