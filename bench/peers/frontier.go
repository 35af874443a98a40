package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"robotsbatch/bench/corpus"
	"robotsbatch/matcher/urls"
)

// frontier is the list that all runners are measured on: the ASCII URLs whose host has a
// robots.txt, in the list's order.
type frontier struct {
	rows   []row
	total  int // URLs in the list
	files  int // robots.txt files
	needed int // robots.txt files that the rows need
}

// row is one URL.
type row struct {
	file string // the name of its robots.txt
	url  string
	path string // with query, without fragment
}

// readFrontier reads a list compressed with zstd and a folder of robots.txt files, named
// HOST or HOST_PORT. It keeps the URLs that have rules in the folder.
func readFrontier(list, rules string) (*frontier, error) {
	data, err := corpus.ReadList(list)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(rules)
	if err != nil {
		return nil, err
	}
	files := make(map[string]bool)
	for _, entry := range entries {
		files[entry.Name()] = true
	}
	f := selectRows(data, files)
	if len(f.rows) == 0 {
		return nil, fmt.Errorf("%s has no URL in ASCII on a host with a file in %s", list, rules)
	}
	return f, nil
}

// selectRows returns the rows of a list whose host has a file.
func selectRows(list []byte, files map[string]bool) *frontier {
	f := new(frontier)
	var scratch urls.Scratch
	needed := make(map[string]bool)
	for line := range bytes.Lines(list) {
		url := urls.Trim(line)
		if len(url) == 0 {
			continue
		}
		f.total++
		key, path, err := scratch.Split(url)
		if err != nil || !isListable(url) {
			continue
		}
		if file := fileOf(string(key), files); file != "" {
			needed[file] = true
			f.rows = append(f.rows, row{file, string(url), string(path)})
		}
	}
	f.files, f.needed = len(files), len(needed)
	return f
}

// isListable reports whether a URL is ASCII and fits a column: some libraries take only
// text, and tabs separate the columns.
func isListable(url []byte) bool {
	return bytes.IndexFunc(url, func(r rune) bool { return r >= 0x80 || r == '\t' }) < 0
}

// fileOf returns the name of an authority's robots.txt, or "". A file without port is for
// http and https on their default ports, one with 443 for https.
func fileOf(authority string, files map[string]bool) string {
	scheme, host, _ := strings.Cut(authority, "://")
	name, port, explicit := strings.Cut(host, ":")
	switch {
	case scheme == "ftp" || explicit && port == "443":
		return ""
	case explicit:
		name += "_" + port
	case scheme == "https" && files[name+"_443"]:
		name += "_443"
	}
	if !files[name] {
		return ""
	}
	return name
}

// write writes the rows as runners read them: file, URL and path.
func (f *frontier) write(name string) error {
	var b bytes.Buffer
	for _, r := range f.rows {
		fmt.Fprintf(&b, "%s\t%s\t%s\n", r.file, r.url, r.path)
	}
	return os.WriteFile(name, b.Bytes(), 0o666)
}
