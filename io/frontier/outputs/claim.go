package outputs

import (
	"errors"
	"io/fs"
	"os"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/io/store/blob"
)

// Claim locks a file or folder of outputs and removes what a killed run left of it.
// It fails when another run has the lock. release unlocks it. Stdout and objects need
// no lock.
func Claim(out string) (release func(), err error) {
	switch {
	case out == blob.Stdio || blob.IsURL(out):
		return func() {}, nil
	case IsFolder(out):
		return claimFolder(out)
	}
	return claimFile(out)
}

// ClaimShard locks a shard of a job that writes a folder of outputs. It creates a missing
// folder. Other shards may write to the same folder at the same time.
func ClaimShard(out string, shard manifest.Shard) (release func(), err error) {
	if blob.IsURL(out) {
		return func() {}, nil
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, err
	}
	return claimFile(Below(out, shard.FileName()))
}

// claimFile claims an output that is a file.
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

// claimFolder claims a folder of outputs. It creates a missing folder; release removes
// that again if it is empty.
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

// Checked returns a sink whose output appears only if check returns nil at its end.
func Checked(sink batch.Sink, check func() error) batch.Sink { return checkedSink{sink, check} }

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
