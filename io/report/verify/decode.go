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
// text can be decompressed.
func (f *Finding) decode(ctx context.Context, name string, read *decoding, memory int64) error {
	in, err := blob.Open(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close()
	size, _ := in.Size()
	found, codec, r, err := format.Sniff(&sizedReader{contextReader{ctx, in}, 0, size, read.to}, in.Name())
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
	table := &sizedReaderAt{ctx: ctx, r: in, size: size, to: read.to}
	if found == format.Parquet {
		f.Rows, err = parquetio.CheckFile(table, size, memory)
	} else {
		f.Rows, err = ipc.Check(table, size, found == format.Arrow, memory)
	}
	if err != nil {
		err = tableio.Worded(fmt.Errorf("%s: %w", f.Name, err))
	}
	return err
}

// sizedReaderAt says how much of a file was read, each byte once, until its context ends.
type sizedReaderAt struct {
	ctx  context.Context
	r    io.ReaderAt
	read atomic.Int64
	size int64
	to   func(share float64)
}

func (r *sizedReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	n, err := r.r.ReadAt(p, at)
	r.to(float64(r.read.Add(int64(n))) / float64(max(1, r.size)))
	return n, err
}
