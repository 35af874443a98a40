package jsonl

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/matcher/spelling"
)

// Names of a crawl index's columns besides the URL.
const (
	surtColumn      = "surt"
	timestampColumn = "timestamp"
)

// NewSource reads JSON objects, a line each, from r, which must be decompressed already.
// Their keys may differ from line to line. With lines.Options.Named there is a record of
// the keys that are named there.
func NewSource(r io.Reader, o lines.Options) *lines.Source { return open(r, o, false) }

// NewCDXJ reads a crawl index: a sort key, a timestamp and an object a line.
func NewCDXJ(r io.Reader, o lines.Options) *lines.Source { return open(r, o, true) }

// open returns a source of JSON objects, or with cdxj of a crawl index.
func open(r io.Reader, o lines.Options, cdxj bool) *lines.Source {
	anyCase := o.URLColumn == ""
	o.URLColumn = cmp.Or(o.URLColumn, format.URLColumn)
	f := &input{
		options: o, cdxj: cdxj, occurrences: &occurrences{name: o.Name}, weight: -1, time: -1,
		blocks: o.Blocks(r, option.Messagef("take the line out, or say what the input is with %s", option.InFormat), nil),
	}
	// Keys that options name count as they are written; the default key and named columns in any case.
	f.addKey(o.URLColumn, anyCase, option.Messagef("name the key of the URL with %s", option.URLColumn))
	if o.Extra.Weight != "" {
		f.weight = f.addKey(o.Extra.Weight, false, option.Messagef("name another one with %s", option.Weight))
	}
	if o.Extra.Time != "" && !f.hasIndexTimes() {
		f.time = f.addKey(o.Extra.Time, false, option.Messagef("name another one with %s", option.AsOf))
	}
	f.named = len(f.keys)
	var names []string // of the record's columns
	if cdxj {
		names = []string{surtColumn, timestampColumn, o.URLColumn}
		f.watched = [][]byte{[]byte(surtColumn), []byte(timestampColumn)} // the sink adds them to objects without them
		f.options.Named = slices.DeleteFunc(slices.Clone(o.Named), func(n lines.Named) bool { return slices.Contains(names, n.Name) })
	}
	for _, n := range f.options.Named {
		f.addKey(n.Name, true, n.Missing)
		names = append(names, n.Name)
	}
	if cdxj || o.Named != nil {
		f.schema = lines.StringSchema(names...)
	}
	if o.Columns {
		for _, v := range o.Verdicts {
			f.watched = append(f.watched, []byte(v.Name)) // which no object may have
		}
	}
	return lines.NewSource(o.Name, f.blocks, lines.Table{
		Schema: f.schema, URLColumn: o.URLColumn, NewDecoder: f.newDecoder, Complete: f.occurrences.check,
	})
}

// input is what the decoders of an input share.
type input struct {
	options lines.Options
	cdxj    bool // it is a crawl index
	blocks  *lines.Blocks
	// keys are those whose values are read. The first is the URL's. weight and time are the indices
	// of those two, or -1, and named is the index of the first named column's.
	keys                []key
	weight, time, named int
	watched             [][]byte // see scanner.watched
	schema              *arrow.Schema
	occurrences         *occurrences
}

// addKey adds a key whose values are read, and returns its index. With anyCase, it also counts in
// other case; see key. If no row has the key, the end of the input is an error that says hint,
// unless hint is empty.
func (f *input) addKey(name string, anyCase bool, hint option.Message) int {
	f.keys = append(f.keys, key{name: []byte(name), anyCase: anyCase})
	f.occurrences.keys = append(f.occurrences.keys, wanted{name: name, hint: hint})
	return len(f.keys) - 1
}

// hasIndexTimes reports whether the times of rows are a crawl index's timestamps, which are no key.
func (f *input) hasIndexTimes() bool { return f.cdxj && f.options.Extra.Time == timestampColumn }

// occurrences says which keys occur in an input, once all its pieces were decoded.
type occurrences struct {
	name      string                   // the input's, for errors
	keys      []wanted                 // by index in input.keys
	hasRows   atomic.Bool              // some row was decoded
	firstKeys atomic.Pointer[[]string] // the keys of the first object, for people; nil for none
}

// wanted is a key that some row should have.
type wanted struct {
	name string
	hint option.Message // advice for an input in which no row has the key; empty if it needs none
	seen atomic.Bool    // a row has it
}

// check returns an error if there are rows, and none has a key that some row must have.
func (o *occurrences) check() error {
	if !o.hasRows.Load() {
		return nil
	}
	for i := range o.keys {
		k := &o.keys[i]
		if k.hint.Empty() || k.seen.Load() {
			continue
		}
		what := option.Messagef("no line is a JSON object")
		if first := o.firstKeys.Load(); first != nil {
			what = option.Messagef("no line has a key %q: %s; the first object has %s", k.name, k.hint, listKeys(*first, k.name))
		}
		return option.Errorf("%s: %s", o.name, what)
	}
	return nil
}

// listKeys lists an object's keys for a message. The one that is most likely meant by wanted comes
// first.
func listKeys(keys []string, wanted string) string {
	near := spelling.Nearest(wanted, keys)
	if i := slices.IndexFunc(keys, func(k string) bool { return strings.HasSuffix(k, "."+wanted) }); i >= 0 {
		near = keys[i]
	}
	if near != "" {
		keys = append([]string{near}, slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k == near })...)
	}
	return format.Columns{Names: keys}.String()
}
