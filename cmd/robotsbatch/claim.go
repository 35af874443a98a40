package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"robotsbatch/batch"
	"robotsbatch/io/blob"
	"robotsbatch/io/frontier"
	"robotsbatch/io/rulepack"
)

// claim makes the output this run's alone, and removes what a killed run left of
// it. A second run on the same output ends here. release gives it back.
func (c *jobConfig) claim() (release func(), err error) {
	if c.out == blob.Stdio || blob.IsURL(c.out) {
		return func() {}, nil
	}
	if isFolder(c.out) {
		return claimFolder(c.out)
	}
	return claimFile(c.out)
}

// claimFile claims an output that is a file.
func claimFile(name string) (release func(), err error) {
	lock, err := blob.LockFile(name)
	if err == nil && lock != nil {
		err = blob.SweepFile(name)
	}
	if err != nil {
		lock.Unlock()
		return nil, fmt.Errorf("-out: %w", err)
	}
	return lock.Unlock, nil
}

// claimFolder claims a folder of outputs. One that was not there is made, and
// removed again when nothing was written to it.
func claimFolder(name string) (release func(), err error) {
	_, err = os.Stat(name)
	missing := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(name, 0o777); err != nil {
		return nil, fmt.Errorf("-out: %w", err)
	}
	lock, err := blob.LockFolder(name)
	if err != nil {
		return nil, fmt.Errorf("-out: %w", err)
	}
	release = func() {
		lock.Unlock()
		if missing {
			os.Remove(name) // it stays where there is something in it
		}
	}
	if _, err := blob.Sweep(name); err != nil {
		release()
		return nil, fmt.Errorf("-out: %w", err)
	}
	return release, nil
}

// checkedSink is a sink that appears only if a last check says so.
type checkedSink struct {
	batch.Sink
	check func() error
}

// Close implements batch.Sink.
func (s checkedSink) Close() error {
	if err := s.check(); err != nil {
		return err
	}
	return s.Sink.Close()
}

// unchanged says whether everything that decided about an output still is what
// it was when it was opened.
func (j *job) unchanged(src *frontier.Concatenation) error {
	if err := src.Unchanged(); err != nil {
		return err
	}
	return j.rules.Unchanged()
}

// because adds to an error what may have led to it: a file that was written to
// while it was read.
func (j *job) because(ctx context.Context, err error, src *frontier.Concatenation) error {
	if ctx.Err() != nil || errors.Is(err, blob.ErrChanged) || errors.Is(err, rulepack.ErrChanged) {
		return err
	}
	if changed := j.unchanged(src); changed != nil {
		return fmt.Errorf("%w (it showed as: %w)", changed, err)
	}
	return err
}
