package outputs

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

// A list is written whole or not at all, compressed as its name says.
func TestTableText(t *testing.T) {
	broken := errors.New("the rules are damaged")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, test := range []struct {
		name  string
		ctx   context.Context
		fails error // of each, after two lines
		want  error
	}{
		{"urls.txt", t.Context(), nil, nil},
		{"urls.txt.gz", t.Context(), nil, nil},
		{"urls.txt.zst", t.Context(), nil, nil},
		{"broken.txt", t.Context(), broken, broken},
		{"broken.txt.zst", t.Context(), broken, broken},
		{"stopped.txt", stopped, nil, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, test.name)
			table := Table{Target: Target{Path: path}}
			err := table.Text(test.ctx, func(visit func(line []byte) error) error {
				for _, line := range []string{"https://example.com/a", ""} {
					if err := visit([]byte(line)); err != nil {
						return err
					}
				}
				return test.fails
			})
			must.Need(t, errors.Is(err, test.want), "%v; want %v", err, test.want)
			left := must.Get(os.ReadDir(folder))(t)
			if test.want != nil {
				must.Need(t, len(left) == 0, "%v is left", left)
				return
			}
			must.EqualSlices(t, readList(t, path), []byte("https://example.com/a\n\n"))
		})
	}
}

// readList returns what a file has, decompressed.
func readList(t *testing.T, path string) []byte {
	t.Helper()
	file := must.Get(os.Open(path))(t)
	defer file.Close()
	codec, _ := compress.ByName(path)
	r := must.Get(compress.NewReader(file, codec))(t)
	defer r.Close()
	return must.Get(io.ReadAll(r))(t)
}

// A file "-" in an output folder is not standard output.
func TestTargetInFolder(t *testing.T) {
	must.Equal(t, must.Get(new(Options).Target(Output{Path: "-", InFolder: true}, &frontier.Source{Format: format.Parquet}))(t).Path, "-.parquet")
}
