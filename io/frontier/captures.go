package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"

	"robotsbatch/batch"
	"robotsbatch/io/captures"
	"robotsbatch/io/format"
)

// captureRows is how many rows of a table of captures are read at once. It is small
// because the bodies are large.
const captureRows = 1024

// captureTable is an open table of captures.
type captureTable struct {
	captures.Reader
	input *Source
}

func (t *captureTable) Close() error { return errors.Join(t.Reader.Close(), t.input.Close()) }

// OpenCaptures opens a table of captures in any format. The key is its column url, or
// authority if there is no url. memory is the most bytes of a batch.
func OpenCaptures(ctx context.Context, name string, memory int64, o captures.TableOptions) (captures.Reader, error) {
	table, err := openCaptures(ctx, name, "url", memory, o)
	if err != nil {
		if other, otherErr := openCaptures(ctx, name, "authority", memory, o); otherErr == nil {
			return other, nil
		}
		return nil, err
	}
	return table, nil
}

func openCaptures(ctx context.Context, name, column string, memory int64, o captures.TableOptions) (captures.Reader, error) {
	options := Options{URLColumn: column, BatchRows: captureRows, MaxLine: captures.MaxLine, Memory: memory, Columns: true, Keep: batch.KeepAll}
	s := &Source{Input: Input{Path: name}}
	r, err := options.recognise(ctx, s)
	var table captures.Reader
	if err == nil {
		table, err = options.decodeCaptures(s, r, o)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return &captureTable{table, s}, nil
}

func (o *Options) decodeCaptures(s *Source, r io.Reader, table captures.TableOptions) (captures.Reader, error) {
	if s.Format == format.JSONL {
		return captures.NewJSONL(r, table), nil
	}
	if err := o.decode(s, r); err != nil {
		return nil, err
	}
	source, ok := s.Source.(captures.TableSource)
	if !ok {
		return nil, fmt.Errorf("%s is no table", table.Name)
	}
	return captures.NewTable(source, table)
}
