package report

import (
	"fmt"
	"time"

	"robotsbatch/batch/option"
)

// Doubts finds signs that a job without an error did not do what was meant. Its fields say what a
// summary does not.
type Doubts struct {
	// TimeColumn is the column with the times of rows; empty for none. FirstTime is the
	// time of the first row that has one; nil for none.
	TimeColumn string
	FirstTime  *time.Time
	// Schemeless is a row that lacks a scheme, as an example; empty if none is known.
	Schemeless string
	// KnownMissing says that the user knows that the rules lack hosts.
	KnownMissing bool
}

// Of returns a warning for each doubt about a job, by its summary.
func (d *Doubts) Of(s *Summary) (doubts []option.Message) {
	judged := s.Rows - s.Invalid - s.UnsupportedScheme // rows with a URL that robots.txt is for
	if s.NoTime > 0 && s.NoTime == judged {
		doubts = append(doubts, option.Messagef("no row has a time in column %q: it takes timestamps, dates, seconds since 1970, 14 digits such as 20260301120000, or text such as "+
			"2026-03-01T12:00:00Z (robotsbatch help history)", d.TimeColumn))
	}
	if s.Rows > 0 && s.Invalid == s.Rows {
		doubts = append(doubts, AllInvalid(s.Rows, d.Schemeless))
	}
	captured := judged - s.NoTime - s.NoRobots // rows with a time, of sites with captures
	if s.NoCaptureYet > 0 && s.NoCaptureYet == captured && d.FirstTime != nil {
		doubts = append(doubts, option.Messagef("every row is from before the first capture of its site: the first has the time %s in column %q. Is it the right column?",
			d.FirstTime.Format(time.RFC3339), d.TimeColumn))
	}
	if s.noneKnown() && !d.KnownMissing {
		doubts = append(doubts, option.Messagef("none of the URLs' hosts is in %s: are these the right rules?", option.Rules))
	}
	return doubts
}

// Unlisted returns a notice that rows may be allowed only because WARC files have no record of
// a failed fetch. It is empty if no row is allowed for lack of a robots.txt. It is also empty if no
// host has a robots.txt: the rules are likely the wrong ones then.
func (s *Summary) Unlisted() (notice option.Message) {
	if s.NoRobots == 0 || s.noneKnown() || s.Missing == missingDeny || s.Missing == missingNull {
		return notice
	}
	return option.Messagef("%s allowed because the captures lack the host, which may have been asked and not answered: crawlers such as wget write no record then. "+
		"Name the list of robots.txt files that were requested with %s: its hosts without a capture are unreachable, and so denied", Count(s.NoRobots, "row is", "rows are"), option.FetchList)
}

// OtherNames returns a notice that the rules have some hosts of the rows under another name. count is
// their number, and looked that of all hosts without a robots.txt that were looked at. asked is one of
// the former, and near the name that the rules have.
func OtherNames(count, looked int, asked, near string) option.Message {
	more := ""
	if count > 1 {
		more = fmt.Sprintf(", and so it is for %d of %d hosts without robots.txt", count, looked)
	}
	return option.Messagef("the rules do not have %s; they have %s (www or the scheme differs)%s", asked, near, more)
}

// WithBlanks returns a notice that count lines of a list have a blank within the URL. line is
// one of them.
func WithBlanks(count int64, line string) option.Message {
	return option.Messagef("%s a blank within the URL (%q), which is a part of it: if the URL ends there, its verdict is that of another path; pipe the list through awk '{print $1}'. With %s nothing is said",
		Count(count, "line has", "lines have"), line, option.InFormat.With("text"))
}

// AllInvalid returns the warning that no row is a URL. example is a line without a scheme;
// empty if there is none.
func AllInvalid(rows int64, example string) option.Message {
	text := "no row is a URL: "
	if rows == 1 {
		text = "the row is not a URL: "
	}
	if example == "" {
		return option.Messagef("%sURLs begin with their scheme, such as https://example.com/a", text)
	}
	return option.Messagef("%sthe scheme is missing: write https://%s, not %s", text, example, example)
}
