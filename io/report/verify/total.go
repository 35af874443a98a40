package verify

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"robotsbatch/io/frontier/format"
	"robotsbatch/io/report"
)

// Total sums up what was checked.
type Total struct {
	counts [states]int
	tables int // intact ones
	rows   int64
	only   string // what is said of the intact file that was added last, for when it is the only one
	unread error  // why the unread file that was added last could not be read
}

// Add adds a finding.
func (t *Total) Add(f *Finding) {
	state := f.State()
	t.counts[state]++
	if state == Unread {
		t.unread = f.Damage[0] // by which it is Unread
	}
	if state != Intact {
		return
	}
	switch {
	case f.Output != nil:
		t.tables, t.rows = t.tables+1, t.rows+f.Output.Counts.Selected
	case f.IsTable:
		t.tables, t.rows = t.tables+1, t.rows+f.Rows
	}
	t.only = f.Name + ": " + f.Text()
}

// Write writes how many files are intact; if it is one, what was checked of it, unless said says that
// the caller has written that.
func (t *Total) Write(w io.Writer, said bool) {
	switch n := t.counts[Intact]; {
	case n == 1 && !said:
		fmt.Fprintln(w, report.Printable(t.only))
	case n > 1:
		text := report.Count(int64(n), "file", "files") + " intact"
		if t.tables > 0 {
			text += ", " + report.Count(t.rows, "row", "rows")
		}
		fmt.Fprintln(w, text)
	}
}

// Err returns an error that says how many files are damaged, missing, unread or of another version,
// and how many jobs are unfinished; nil if none. If files are only unread, it wraps why.
func (t *Total) Err() error {
	var parts []string
	files := t.counts[Intact] + t.counts[Damaged] + t.counts[Missing] + t.counts[Unread] + t.counts[OtherVersion]
	for _, state := range []struct {
		of   State
		name string
	}{{Damaged, "damaged"}, {Missing, "missing"}, {Unread, "unread"}, {OtherVersion, "of another version"}} {
		n := t.counts[state.of]
		if n == 0 {
			continue
		}
		of, verb := "", " are "
		if len(parts) == 0 {
			of = " of " + report.Count(int64(files), "file", "files")
		}
		if n == 1 {
			verb = " is "
		}
		parts = append(parts, report.Number(int64(n))+of+verb+state.name)
	}
	if n := t.counts[Unfinished]; n > 0 {
		parts = append(parts, report.Count(int64(n), "job is", "jobs are")+" unfinished")
	}
	if n := t.counts[Apart]; n > 0 {
		parts = append(parts, report.Count(int64(n), "folder has", "folders have")+" shards that do not belong together")
	}
	total := strings.Join(parts, ", ")
	switch {
	case total == "":
		return nil
	case len(parts) == 1 && t.unread != nil:
		return &causedError{total, t.unread}
	}
	return errors.New(total)
}

// causedError is an error with a cause that its text does not tell.
type causedError struct {
	text  string
	cause error
}

func (e *causedError) Error() string { return e.text }

func (e *causedError) Unwrap() error { return e.cause }

// Text says what was checked of a file that is intact.
func (f *Finding) Text() string {
	switch o := f.Output; {
	case f.Format == format.RulePack:
		return "intact: every checksum is right, and everything is in its place"
	case o != nil:
		return fmt.Sprintf("intact: %s, %s in %s", report.Count(o.Counts.Selected, "row", "rows"),
			report.Count(o.Output.Size, "byte", "bytes"), report.Count(int64(len(o.Parts)), "part", "parts"))
	case f.IsTable:
		return fmt.Sprintf("readable to its end, %s; there is no manifest to compare it with", report.Count(f.Rows, "row", "rows"))
	}
	return "readable to its end; there is no manifest to compare it with"
}
