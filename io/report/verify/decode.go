package verify

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/parquetio"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/tables/arrow/ipc"
)

// batchMemory bounds the decoded batches of tables that are checked at once.
const batchMemory = 512 << 20

// decode reads an output to its end, with so much memory for a batch. It counts the rows of a table; it checks only that
// text can be decompressed. It calls to with the share that was read.
func (f *Finding) decode(ctx context.Context, name string, to func(share float64), memory int64) error {
	in, err := watch(ctx, name, to)
	if err != nil {
		return err
	}
	defer in.file.Close()
	found, codec, r, err := format.Sniff(in, in.file.Name())
	if err != nil {
		return err
	}
	defer r.Close()
	f.Format = found
	if !found.IsBinary() || codec != compress.None {
		if _, err := io.Copy(io.Discard, r); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		return nil
	}
	f.IsTable = true
	if found == format.Parquet {
		f.Rows, err = parquetio.CheckFile(in, in.size, memory)
	} else {
		f.Rows, err = ipc.Check(in, in.size, found == format.Arrow, memory)
	}
	if err != nil {
		err = tableio.Worded(fmt.Errorf("%s: %w", f.Name, err))
	}
	return err
}

// watched is a file that says how much of it was read, until its context ends.
type watched struct {
	ctx  context.Context
	file *blob.File
	size int64 // 0 where it is not known
	read atomic.Int64
	to   func(share float64)
}

func watch(ctx context.Context, name string, to func(share float64)) (*watched, error) {
	f, err := blob.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	size, _ := f.Size()
	return &watched{ctx: ctx, file: f, size: size, to: to}, nil
}

func (w *watched) Read(p []byte) (int, error) {
	if err := context.Cause(w.ctx); err != nil {
		return 0, err
	}
	return w.count(w.file.Read(p))
}

func (w *watched) ReadAt(p []byte, at int64) (int, error) {
	if err := context.Cause(w.ctx); err != nil {
		return 0, err
	}
	return w.count(w.file.ReadAt(p, at))
}

// count counts what a call has read.
func (w *watched) count(n int, err error) (int, error) {
	w.to(float64(w.read.Add(int64(n))) / float64(max(1, w.size)))
	return n, err
}
