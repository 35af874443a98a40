package stats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/store/blob"
)

// object is a row of a survey in JSON.
type object struct {
	Authority *string `json:"authority"`
	Domain    *string `json:"registered_domain"`
	Agent     *string `json:"agent"`
	Blocked   *string `json:"blocked"`
	By        *string `json:"by"`
	Access    *string `json:"access"`
}

// addObjects is addJSONL of a file or an object, which may be compressed, or of stdin for
// the name "-". An error names it.
func (t *Tally) addObjects(ctx context.Context, name string, stdin io.Reader) error {
	err := readText(ctx, name, stdin, func(r io.Reader) error { return t.addJSONL(ctx, r) })
	if err != nil {
		err = fmt.Errorf("%s: %w", blob.Shown(name), err)
	}
	return err
}

// addJSONL counts a survey whose rows are JSON objects, a line each. r must be
// decompressed already. An error names the line.
func (t *Tally) addJSONL(ctx context.Context, r io.Reader) error {
	blocks := lines.NewBlocks(r, lines.BlockOptions{Prefix: "jsonl", Rows: 4096})
	var memory []byte
	number := 0
	for {
		block, err := blocks.Next(ctx, memory)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		memory = block.Data
		for rest := block.Data; len(rest) > 0; {
			var line []byte
			line, rest = lines.TakeLine(rest)
			if number++; len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			if err := t.addLine(line); err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
		}
	}
}

func (t *Tally) addLine(line []byte) error {
	var o object
	if err := json.Unmarshal(line, &o); err != nil {
		return fmt.Errorf("it is not an object of a survey: %w", err)
	}
	if o.Authority == nil || o.Agent == nil {
		return errors.New("it has no authority or no agent: this is not a table that robotsbatch survey wrote")
	}
	var all map[string]json.RawMessage // its columns of uses
	if len(t.options.Uses) > 0 {
		if err := json.Unmarshal(line, &all); err != nil {
			return fmt.Errorf("it is not an object of a survey: %w", err)
		}
	}
	return t.addSurveyed(*o.Authority, text(o.Domain), *o.Agent, text(o.Access), text(o.Blocked), text(o.By), func(use int) (string, error) {
		var said *string
		column, ok := all[t.options.Uses[use].Column()]
		if !ok {
			return "", &useMissingError{t.options.Uses[use]}
		}
		err := json.Unmarshal(column, &said)
		return text(said), err
	})
}

// text is a text, empty for null.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
