package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"robotsbatch/batch"
	"robotsbatch/io/blob"
	"robotsbatch/io/captures"
	"robotsbatch/io/format"
	"robotsbatch/io/rulesdir"
	"robotsbatch/io/ruleset"
)

// ruleUse says what rules are used for, and with what.
type ruleUse struct {
	// memory is how many bytes there are for making a rule pack of captures, before
	// anything else runs. A part of it is for compiled rules afterwards.
	memory int64
	// workers make it.
	workers int
	// explain is whether rules will be described.
	explain bool
	// records is whether the records that are no rules are needed.
	records bool
	// used, if not nil, is told of each file of a folder that is read, by any
	// goroutine.
	used func(folder string, u rulesdir.Used)
	// stdin is read for -rules -.
	stdin io.Reader
}

// find finds out what each -rules is.
func (c *rulesConfig) find(ctx context.Context, use ruleUse, log *console) (*ruleset.Found, error) {
	o := ruleset.Options{
		Sources: c.folders, Single: c.single, AllowNone: c.allowNoRules,
		Chains: c.agents, Profile: c.profile, Limit: int(c.limit), Policy: c.policy, AsOf: c.asOf,
		Explain: use.explain, Records: use.records,
		Memory: use.memory, Workers: use.workers, Maker: "robotsbatch " + version(),
		HoldHeap:  func() func() { return holdHeap(use.memory) },
		OpenTable: captureTables{use.memory}.open,
		Used:      use.used,
		Warn:      func(message string) { log.warn(printable(message)) },
		Note: func(message string) {
			text := printable(message)
			log.info(text, text)
		},
		AllIgnored: log.json != nil,
	}
	if slices.Contains(c.folders, blob.Stdio) { // an interruptible reader reads ahead
		o.Stdin = interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(use.stdin), nil })
	}
	return ruleset.Find(ctx, o)
}

// openRules opens what was found, says what was read of captures, and sets c.asOf,
// unless that was asked for, to the newest fetch.
func (c *rulesConfig) openRules(ctx context.Context, found *ruleset.Found, log *console) (*ruleset.Set, error) {
	set, err := found.Open(ctx)
	if err != nil {
		return nil, err
	}
	if captured := set.Captured(); captured != nil {
		tellCaptured(captured, log)
	}
	c.asOf = set.AsOf()
	return set, nil
}

// captureTables opens tables of captures, in as much memory.
type captureTables struct{ memory int64 }

// tableRows is how many rows of a table of captures are read at once: their bodies are
// large.
const tableRows = 1024

// tableFile is a table of captures that is open.
type tableFile struct {
	captures.Reader
	input *opened
}

func (f *tableFile) Close() error { return errors.Join(f.Reader.Close(), f.input.Close()) }

// open opens a table by its column url, or else authority.
func (t captureTables) open(ctx context.Context, name string, o captures.TableOptions) (captures.Reader, error) {
	file, err := t.openBy(ctx, name, "url", o)
	if err != nil {
		other, otherErr := t.openBy(ctx, name, "authority", o)
		if otherErr == nil {
			return other, nil
		}
	}
	return file, err
}

func (t captureTables) openBy(ctx context.Context, name, column string, options captures.TableOptions) (captures.Reader, error) {
	o := opener{urlColumn: column, batchRows: tableRows, maxLine: captures.MaxLine, memory: t.memory, columns: true, keep: batch.KeepAll}
	input := &opened{input: input{path: name}}
	reader, err := decodeCaptures(ctx, &o, input, options)
	if err != nil {
		input.Close()
		return nil, err
	}
	return &tableFile{reader, input}, nil
}

func decodeCaptures(ctx context.Context, o *opener, input *opened, options captures.TableOptions) (captures.Reader, error) {
	r, err := o.recognise(ctx, input)
	if err != nil {
		return nil, err
	}
	if input.format == format.JSONL {
		return captures.NewJSONL(r, options), nil
	}
	if err := o.decode(input, r); err != nil {
		return nil, err
	}
	table, ok := input.Source.(captures.TableSource)
	if !ok {
		return nil, fmt.Errorf("%s is no table", options.Name)
	}
	return captures.NewTable(table, options)
}

// asOfSeconds is the time that ages are counted up to, in seconds since 1970; 0
// for none.
func (c *rulesConfig) asOfSeconds() int64 {
	if c.asOf.IsZero() {
		return 0
	}
	return c.asOf.Unix()
}
