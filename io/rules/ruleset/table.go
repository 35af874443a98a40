package ruleset

import (
	"context"
	"errors"
	"fmt"

	"robotsbatch/batch"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/rules/captures"
)

// captureRows is how many rows of a table of captures are read at once. It is small
// because the bodies are large.
const captureRows = 1024

// captureTable is an open table of captures.
type captureTable struct {
	captures.Reader
	input *frontier.Source
}

// share implements sharer.
func (t *captureTable) share() float64 { return t.input.Share() }

func (t *captureTable) Close() error { return errors.Join(t.Reader.Close(), t.input.Close()) }

// OpenTable opens a table of captures in any format. The key is its column url, or
// authority if there is no url. memory is the most bytes of a batch.
func OpenTable(ctx context.Context, name string, memory int64, o captures.TableOptions) (captures.Reader, error) {
	table, err := openTable(ctx, name, "url", memory, o)
	if err != nil {
		other, otherErr := openTable(ctx, name, "authority", memory, o)
		if otherErr == nil {
			return other, nil
		}
		if no := (*format.NoColumnError)(nil); errors.As(err, &no) {
			return nil, captures.ErrColumns(o.Name, no.Columns)
		}
		return nil, err
	}
	return table, nil
}

func openTable(ctx context.Context, name, column string, memory int64, o captures.TableOptions) (captures.Reader, error) {
	options := frontier.Options{URLColumn: column, BatchRows: captureRows, MaxLine: captures.MaxLine, Memory: memory, Columns: true, Named: captures.Keys(), Keep: batch.KeepAll}
	s, err := frontier.Open(ctx, frontier.Input{Path: name}, options)
	if err != nil {
		return nil, err
	}
	if source, ok := s.Source.(captures.TableSource); !ok || source.Schema() == nil {
		err = fmt.Errorf("%s is not a table", o.Name)
	} else if table, fault := captures.NewTable(source, o); fault != nil {
		err = fault
	} else {
		return &captureTable{table, s}, nil
	}
	s.Close()
	return nil, err
}
