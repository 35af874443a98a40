package report

import (
	"io"
	"time"

	"robotsbatch/io/report/stats"
)

// StatsOrigin says of counts what was counted, by which version of the program, and when.
type StatsOrigin struct {
	Name, Version string
	Made          time.Time
}

// StatsFormat is a form that counts of sites can have.
type StatsFormat struct {
	Name    string
	blocked func(w io.Writer, counts []stats.Count, site stats.Site, o *StatsOrigin) error
	uses    func(w io.Writer, counts []stats.UseCount, site stats.Site, o *StatsOrigin) error
}

// StatsFormats are all forms, the default first.
var StatsFormats = []StatsFormat{
	{
		"text",
		func(w io.Writer, counts []stats.Count, site stats.Site, _ *StatsOrigin) error {
			return stats.WriteText(w, counts, site)
		},
		func(w io.Writer, counts []stats.UseCount, site stats.Site, _ *StatsOrigin) error {
			return stats.WriteUsesText(w, counts, site)
		},
	},
	{
		"csv",
		func(w io.Writer, counts []stats.Count, _ stats.Site, _ *StatsOrigin) error {
			return stats.WriteCSV(w, counts)
		},
		func(w io.Writer, counts []stats.UseCount, _ stats.Site, _ *StatsOrigin) error {
			return stats.WriteUsesCSV(w, counts)
		},
	},
	{
		"json",
		func(w io.Writer, counts []stats.Count, _ stats.Site, _ *StatsOrigin) error {
			return stats.WriteJSON(w, counts)
		},
		func(w io.Writer, counts []stats.UseCount, _ stats.Site, _ *StatsOrigin) error {
			return stats.WriteUsesJSON(w, counts)
		},
	},
	{
		"html",
		func(w io.Writer, counts []stats.Count, site stats.Site, o *StatsOrigin) error {
			return blockedPage(counts, site, o.Name, o.Version, o.Made).Write(w)
		},
		func(w io.Writer, counts []stats.UseCount, site stats.Site, o *StatsOrigin) error {
			return usesPage(counts, site, o.Name, o.Version, o.Made).Write(w)
		},
	},
}

// Write writes what was counted: what sites state of uses if these were asked for, else what
// they deny.
func (f *StatsFormat) Write(w io.Writer, t *stats.SiteCounter, o *StatsOrigin) error {
	counted := t.Options()
	if len(counted.Uses) > 0 {
		return f.uses(w, t.Uses(), counted.Site, o)
	}
	return f.blocked(w, t.Tables(), counted.Site, o)
}
