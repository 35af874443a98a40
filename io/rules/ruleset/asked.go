package ruleset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"robotsbatch/io/frontier/format"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/store/blob"
	"robotsbatch/matcher/urls"
)

// A list of what a crawler asked for is read as captures that failed. As the last source it
// decides about a host only if no other source has one: a crawler such as wget writes no
// record where a host refused the connection.

// askedList is such a list, as captures.
type askedList struct {
	name    string
	lines   *bufio.Scanner
	closers []io.Closer
	number  int      // of the line that was read last, from 1
	waiting []string // URLs of that line which Next has not returned yet
	scratch urls.Scratch
	url     []byte
}

// maxAskedLine is the most bytes of a line of the list.
const maxAskedLine = 64 << 10

// openAsked opens the list of what was asked for.
func (s *captureSet) openAsked(ctx context.Context, name string) (captures.Reader, error) {
	f, err := blob.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", blob.Shown(name), err)
	}
	found, _, r, err := format.Sniff(f, blob.Shown(name))
	if err != nil {
		f.Close()
		return nil, err
	}
	a := &askedList{name: blob.Shown(name), lines: bufio.NewScanner(r), closers: []io.Closer{r, f}}
	if found != format.Text && found != format.Unknown {
		a.Close()
		return nil, fmt.Errorf("%s is %s: a list of what was asked for has a URL a line, as the command hosts writes it to a .txt", a.name, found)
	}
	a.lines.Buffer(nil, maxAskedLine)
	return a, nil
}

// Next implements captures.Reader. Each capture is of a robots.txt that was asked for, and
// says that there was no answer.
func (a *askedList) Next(x *captures.Capture) error {
	for len(a.waiting) == 0 {
		if !a.lines.Scan() {
			if err := a.lines.Err(); err != nil {
				return fmt.Errorf("%s: after line %d: %w", a.name, a.number, a.explain(err))
			}
			return io.EOF
		}
		a.number++
		line := bytes.TrimSpace(bytes.TrimPrefix(a.lines.Bytes(), []byte("\xEF\xBB\xBF")))
		if len(line) == 0 {
			continue
		}
		if err := a.ask(line); err != nil {
			return err
		}
	}
	a.url = append(a.url[:0], a.waiting[0]...)
	a.waiting = a.waiting[1:]
	*x = captures.Capture{URL: a.url, Failed: true}
	return nil
}

// explain says what to do about an error of the scanner.
func (a *askedList) explain(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("the next line has more than %d bytes: a list has a URL or host a line", maxAskedLine)
	}
	return err
}

// ask adds the robots.txt of a line's host to waiting: one if the line is a URL, and those of
// http and https if it has no scheme.
func (a *askedList) ask(line []byte) error {
	spellings := [][]byte{line}
	if !bytes.Contains(line, []byte("://")) {
		spellings = [][]byte{append([]byte("http://"), line...), append([]byte("https://"), line...)}
	}
	for _, url := range spellings {
		authority, _, err := a.scratch.Split(url)
		if err != nil {
			return fmt.Errorf("%s: line %d: %q is neither a URL nor a host", a.name, a.number, line)
		}
		a.waiting = append(a.waiting, string(authority)+"/robots.txt")
	}
	return nil
}

// Close implements captures.Reader.
func (a *askedList) Close() error {
	for _, c := range a.closers {
		_ = c.Close() // they were only read from
	}
	return nil
}
