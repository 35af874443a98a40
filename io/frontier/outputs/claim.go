package outputs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/io/store/blob"
)

// Claim locks what a job writes, and removes what a killed run left of it: an output, a folder of
// outputs, or the part of a folder that one shard writes, if shard is not nil. It creates a missing
// folder of outputs. release unlocks it. The error says that another run has the lock, that a file
// has the folder's name, or what the file system refused, such as a [*blob.MissingFolderError].
// Stdout and objects are not locked.
func Claim(out string, shard *manifest.Shard) (release func(), err error) {
	const sweep = true
	switch {
	case out == blob.Stdio || blob.IsURL(out):
		return func() {}, nil
	case shard != nil: // other shards may write to the folder at the same time
		if err = os.MkdirAll(out, 0o777); err == nil {
			release, err = claimFile(blob.Join(out, shard.FileName()), sweep)
		}
	case IsFolder(out):
		release, err = claimFolder(out)
	default:
		release, err = claimFile(out, sweep)
	}
	if err == nil {
		return release, nil
	}
	if info, statErr := os.Stat(filepath.Clean(out)); IsFolder(out) && statErr == nil && !info.IsDir() { // out ends in a slash
		return nil, option.Usagef("%s is the name of a folder, and %s is a file: name another", option.Out.With(out), filepath.Clean(out))
	}
	return nil, option.Errorf("%s: %w", option.Out, err)
}

// CheckFolder returns a [*blob.MissingFolderError] if out is a local file whose folder does not
// exist.
func CheckFolder(out string) error {
	folder := filepath.Dir(out)
	_, err := os.Stat(folder)
	if out == blob.Stdio || blob.IsURL(out) || IsFolder(out) || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return option.Errorf("%s: %s: %w", option.Out, out, &blob.MissingFolderError{Folder: folder})
}

// claimFile locks an output that is a file. With sweep, it also removes what killed runs left of
// it.
func claimFile(name string, sweep bool) (release func(), err error) {
	lock, err := blob.LockFile(name)
	if err == nil && lock != nil && sweep { // a pipe has no lock, and nothing is left of it
		err = blob.SweepFile(name)
	}
	if err != nil {
		lock.Unlock() // which accepts nil
		return nil, err
	}
	return lock.Unlock, nil
}

// claimFolder locks a folder of outputs, and removes what killed runs left in it. It creates a
// missing folder, which release removes if it is still empty.
func claimFolder(name string) (release func(), err error) {
	_, err = os.Stat(name)
	missing := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(name, 0o777); err != nil {
		return nil, err
	}
	lock, err := blob.LockFolder(name)
	if err != nil {
		return nil, err
	}
	release = func() {
		lock.Unlock()
		if missing {
			os.Remove(name) // fails unless it is empty
		}
	}
	if _, err := blob.Sweep(name); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// ClaimBelow locks an output of a folder, because another run may write that output alone. It
// creates the folder of the output, which may lie below Options.Out. With sweep, it also removes
// what killed runs left of the output. Objects are not locked.
func (t Target) ClaimBelow(sweep bool) (unlock func(), err error) {
	if blob.IsURL(t.Path) {
		return func() {}, nil
	}
	if err = os.MkdirAll(filepath.Dir(t.Path), 0o777); err == nil {
		unlock, err = claimFile(t.Path, sweep)
	}
	if err != nil {
		return nil, option.Errorf("%s: %w", option.Out, err)
	}
	return unlock, nil
}

// ForgetWhole removes the manifest that [Merge] wrote to a local folder, because it is wrong once
// a shard is done again.
func ForgetWhole(folder string) error {
	if blob.IsURL(folder) {
		return nil
	}
	if err := os.Remove(blob.Join(folder, manifest.FolderName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the manifest: %w", err)
	}
	return nil
}

// Checked returns a sink that calls check before it completes the output. An error of check is that
// of Close, and the output does not appear.
func Checked(sink batch.Sink, check func() error) batch.Sink { return checkedSink{sink, check} }

type checkedSink struct {
	batch.Sink
	check func() error
}

// Close implements batch.Sink. It leaves the sink open if the check fails.
func (s checkedSink) Close() error {
	if err := s.check(); err != nil {
		return err
	}
	return s.Sink.Close()
}
