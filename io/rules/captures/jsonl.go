package captures

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"robotsbatch/io/frontier/lines"
)

// MaxLine is how many bytes a line of a table may have: 16 MiB.
const MaxLine = 16 << 20

// lineBatch is how many lines are read at once.
const lineBatch = 256

// JSONL reads captures from lines of JSON objects, whose keys are the column names of
// [Table].
type JSONL struct {
	rowReader
	blocks *lines.Blocks
	memory []byte
	rest   []byte // of the block
	line   int64  // number of the next
}

// NewJSONL reads r, which must be decompressed already.
func NewJSONL(r io.Reader, o TableOptions) *JSONL {
	return &JSONL{rowReader: rowReader{options: o}, line: 1, blocks: lines.NewBlocks(r, lines.BlockOptions{
		Prefix: "captures: " + o.Name, Rows: lineBatch, MaxLine: MaxLine,
	})}
}

// Close does nothing.
func (j *JSONL) Close() error { return nil }

// Next implements [Reader].
func (j *JSONL) Next(x *Capture) error { return j.nextOf(j.read, x) }

// read reads the next row.
func (j *JSONL) read() (r row, where string, err error) {
	for {
		for len(j.rest) == 0 {
			block, err := j.blocks.Next(context.Background(), j.memory)
			j.memory = block.Data
			if err != nil {
				return r, "", endOfTable{err}
			}
			j.rest = block.Data
		}
		var line []byte
		line, j.rest = lines.TakeLine(j.rest)
		number := j.line
		j.line++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r, err := parseObject(line)
		return r, fmt.Sprintf("line %d", number), err
	}
}

// object is a row in JSON.
type object struct {
	URL       *string         `json:"url"`
	Authority *string         `json:"authority"`
	Body      *string         `json:"body"`
	Location  *string         `json:"location"`
	Status    json.RawMessage `json:"status"`
	FetchedAt json.RawMessage `json:"fetched_at"`
	Error     json.RawMessage `json:"error"`
}

func parseObject(line []byte) (r row, err error) {
	var o object
	if err := json.Unmarshal(line, &o); err != nil {
		return r, fmt.Errorf("it is no such object: %w", err)
	}
	r.url, r.authority, r.body, r.location = bytesOf(o.URL), bytesOf(o.Authority), bytesOf(o.Body), bytesOf(o.Location)
	status, err := scalar(o.Status)
	if err == nil {
		err = r.setStatus(status)
	}
	var fetched, failed []byte
	if err == nil {
		fetched, err = scalar(o.FetchedAt)
	}
	if err == nil {
		err = r.setFetched(fetched)
	}
	if err == nil {
		failed, err = scalar(o.Error)
	}
	r.setFailed(failed)
	if err == nil {
		err = r.check()
	}
	return r, err
}

func bytesOf(s *string) []byte {
	if s == nil {
		return nil
	}
	return []byte(*s)
}

// scalar returns the text of a string, or the source of any other scalar; nil for null
// or an absent value.
func scalar(raw json.RawMessage) ([]byte, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] == '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return []byte(s), err
	case raw[0] == '{' || raw[0] == '[':
		return nil, errors.New("status, fetched_at and error are strings or numbers")
	}
	return raw, nil
}
