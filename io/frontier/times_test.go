package frontier

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/goleak"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

// Every format gives the times of a column besides the URLs, whichever columns come
// out.
func TestExtraTimes(t *testing.T) {
	const noon = 1772366400
	inputs := map[string]string{
		"a.csv":   "when,url,x\n2026-03-01T12:00:00Z,http://a/,1\n,http://b/,2\nnever,http://c/\n1772366401,http://d/,4\n",
		"a.tsv":   "url\tx\twhen\nhttp://a/\t1\t20260301120000\nhttp://b/\nhttp://c/\t3\tnever\nhttp://d/\t4\t2026-03-01 12:00:01\n",
		"a.jsonl": `{"url":"http://a/","when":"2026-03-01T12:00:00Z"}` + "\n" + `{"url":"http://b/","when":null}` + "\n{}\n" + `{"when":1772366401,"url":"http://d/"}` + "\n",
		"a.cdxj":  `a)/ 20260301120000 {"url":"http://a/"}` + "\nb)/ x {\"url\":\"http://b/\"}\nc)/\n" + `d)/ 20260301120001 {"url":"http://d/"}` + "\n",
		"a.arrow": arrowTimes(t, `["2026-03-01 12:00:00.5",null,null,"2026-03-01 12:00:01"]`),
	}
	want := []int64{noon, batch.NoTime, batch.NoTime, noon + 1}
	for name, data := range inputs {
		for _, keep := range []batch.Keep{batch.KeepAll, batch.KeepURL, batch.KeepNone} {
			column := "when"
			if name == "a.cdxj" {
				column = "timestamp"
			}
			o := Options{Memory: 64 << 20, Keep: keep, Options: lines.Options{BatchRows: 3, Extra: batch.ExtraColumns{Time: column}, Columns: keep == batch.KeepAll}}
			must.EqualSlices(t, must.Get(readTimes(t, name, data, o))(t), want, name, "keep", keep)
			o.Extra.Time = "whem"
			must.Say(t, must.Err(readTimes(t, name, data, o)), `"whem"`, name, "such column")
		}
	}
	_, err := readTimes(t, "a.txt", "http://a/\n", Options{Memory: 64 << 20, Options: lines.Options{BatchRows: 3, Extra: batch.ExtraColumns{Time: "when"}}})
	must.Be(t, errors.As(err, new(*option.UsageError)), "a list of URLs: %v", err)
}

// arrowTimes is an Arrow file of URLs and times.
func arrowTimes(t *testing.T, times string) string {
	record := tablestest.NewRecord([]string{"url", "when"},
		tablestest.FromJSON(t, arrow.BinaryTypes.String, `["http://a/","http://b/","http://c/","http://d/"]`),
		tablestest.FromJSON(t, arrow.FixedWidthTypes.Timestamp_ms, times))
	return string(tablestest.WriteArrow(t, false, record.Schema(), []arrow.Record{record}))
}

// readTimes reads an input to its end.
func readTimes(t *testing.T, name, data string, o Options) (times []int64, err error) {
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(data), 0o600))
	c, err := Concatenate(t.Context(), []Input{{Path: path}}, o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	err = tablestest.Each(c, func(p batch.Piece) error {
		b, err := p.Decode()
		if err != nil {
			return err
		}
		must.Need(t, len(b.Times) == b.URLs.Len(), "%s: %d times of %d rows", name, len(b.Times), b.URLs.Len())
		times = append(times, b.Times...)
		if b.Release != nil {
			b.Release()
		}
		return nil
	})
	if err == nil {
		err = c.Complete()
	}
	return times, err
}

func TestInterruptibleReadsAll(t *testing.T) {
	defer goleak.VerifyNone(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), pipeBuffer/5)
	open := func() (io.ReadCloser, error) { return io.NopCloser(iotest.DataErrReader(bytes.NewReader(want))), nil }
	got, err := io.ReadAll(Interruptible(t.Context(), open))
	must.Be(t, err == nil && bytes.Equal(got, want), "%d bytes of %d, %v", len(got), len(want), err)
}

func TestInterruptibleErrors(t *testing.T) {
	defer goleak.VerifyNone(t)
	broken := errors.New("broken")
	for name, open := range map[string]func() (io.ReadCloser, error){
		"open": func() (io.ReadCloser, error) { return nil, broken },
		"read": func() (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(broken)), nil },
	} {
		r := Interruptible(t.Context(), open)
		for range 2 { // an error stays
			must.Is(t, must.Err(r.Read(make([]byte, 1))), broken, name)
		}
	}
}

// The end of the context ends a read that waits, and every read after it.
func TestInterruptibleEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	silent, other := io.Pipe()
	defer other.Close() // lets the goroutine go
	ctx, cancel := context.WithCancelCause(t.Context())
	r := Interruptible(ctx, func() (io.ReadCloser, error) { return silent, nil })
	stopped := errors.New("stopped")
	go cancel(stopped)
	for range 3 {
		must.Is(t, must.Err(r.Read(make([]byte, 1))), stopped)
	}
}

// Close ends a Next that waits for a pipe.
func TestConcatenationCloseEndsNext(t *testing.T) {
	defer goleak.VerifyNone(t)
	silent, other := io.Pipe()
	defer other.Close()
	started := make(chan struct{})
	go func() {
		// Enough for the format to be told, and a row that does not end.
		_, err := io.WriteString(other, "https://example.com/"+string(bytes.Repeat([]byte("a"), 100_000)))
		must.Be(t, err == nil, "%v", err)
		close(started)
	}()
	c := must.Get(Concatenate(t.Context(), []Input{{"-", "stdin"}, {"never", "never"}}, Options{Stdin: silent}))(t)
	ended := make(chan error)
	go func() {
		_, err := c.Next(t.Context())
		ended <- err
	}()
	<-started
	must.Do(t, c.Close())
	must.Fail(t, <-ended, "Next found a piece in half a row")
}
