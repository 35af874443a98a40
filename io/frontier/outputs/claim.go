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

// Claim locks an output, a folder of outputs, or with shard what that shard writes to the
// folder, and removes what a killed run left there. It creates a missing folder of outputs.
// The error is that another run has the lock, that a file has the folder's name, a [*blob.MissingFolderError], or
// another one of the file system. release unlocks it.
// Stdout and objects are not locked.
func Claim(out string, shard *manifest.Shard) (release func(), err error) {
	switch {
	case out == blob.Stdio || blob.IsURL(out):
		return func() {}, nil
	case shard != nil:
		release, err = claimShard(out, shard)
	case IsFolder(out):
		release, err = claimFolder(out)
	default:
		release, err = claimFile(out)
	}
	if err == nil {
		return release, nil
	}
	if info, statErr := os.Stat(filepath.Clean(out)); IsFolder(out) && statErr == nil && !info.IsDir() {
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

// claimShard locks a shard of a job that writes a folder of outputs. Other shards may write to
// the same folder at the same time.
func claimShard(out string, shard *manifest.Shard) (release func(), err error) {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, err
	}
	return claimFile(Below(out, shard.FileName()))
}

// claimFile locks an output that is a file, and removes what killed runs left of it.
func claimFile(name string) (release func(), err error) {
	lock, err := blob.LockFile(name)
	if err == nil && lock != nil {
		err = blob.SweepFile(name)
	}
	if err != nil {
		lock.Unlock()
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
// makes the folder below Out that the output lies in, and with sweep removes what killed runs left
// of the output. unlock does nothing for an object, of which nothing is left.
func (t Target) ClaimBelow(sweep bool) (unlock func(), err error) {
	if blob.IsURL(t.Path) {
		return func() {}, nil
	}
	err = os.MkdirAll(filepath.Dir(t.Path), 0o777)
	var lock *blob.Lock
	if err == nil {
		lock, err = blob.LockFile(t.Path)
	}
	if err == nil && sweep {
		err = blob.SweepFile(t.Path)
	}
	if err != nil {
		lock.Unlock()
		return nil, option.Errorf("%s: %w", option.Out, err)
	}
	return lock.Unlock, nil
}

// ForgetWhole removes the manifest that covers all shards from a local folder, because it is
// wrong once a shard is done again.
func ForgetWhole(folder string) error {
	if blob.IsURL(folder) {
		return nil
	}
	if err := os.Remove(Below(folder, manifest.FolderName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the manifest: %w", err)
	}
	return nil
}

// Checked returns a sink whose output appears only if check returns nil at its end.
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
