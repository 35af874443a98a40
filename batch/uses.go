package batch

import (
	"slices"

	"robotsbatch/matcher"
	"robotsbatch/matcher/usage"
)

// UsePart is what a column has of a use.
type UsePart uint8

const (
	// UseValue is whether the use is allowed, or its grade.
	UseValue UsePart = iota
	// UseLine is the number of the line that says so.
	UseLine
	// UseText is that line.
	UseText
)

// UseOf says that a column is about a use of what may be fetched. The value is null where
// the row may not be fetched, and where nothing is said of the use.
type UseOf struct {
	Use  usage.Use
	Part UsePart
}

// UseKinds returns the columns about a use: its value, which is text for a graded use and else a
// boolean, and with explain the number and the text of the line that decides.
func UseKinds(u usage.Use, explain bool) []*ColumnKind {
	kinds := []*ColumnKind{useKind(u, u.Column(), BoolType, UseValue)}
	if u.Graded() { // signal:use alone has a grade in place of yes or no
		kinds[0] = signalUse
	}
	if explain {
		kinds = append(kinds, useKind(u, u.Column()+"_line", Int32Type, UseLine), useKind(u, u.Column()+"_text", TextType, UseText))
	}
	return kinds
}

func useKind(u usage.Use, name string, t Type, part UsePart) *ColumnKind {
	return &ColumnKind{Name: name, Type: t, PerAgent: true, Combines: true, Use: &UseOf{Use: u, Part: part}}
}

// signalUse is how much of the content may be used.
var signalUse = &ColumnKind{
	Name: "signal_use", Type: TextType, PerAgent: true, Combines: true, Plain: true, Use: &UseOf{Use: usage.SignalUse, Part: UseValue},
}

// licenses are the licences that are offered to an agent: an empty list where a robots.txt
// names none, null where there is none.
var licenses = &ColumnKind{
	Name: "licenses", What: "a list of licences", Type: ListType, PerAgent: true, Licenses: true,
	Value: func(h *Host, agent int) Value {
		return Value{Known: h.HasRules, List: h.Facts.Usage.Licenses(agent)}
	},
}

// UsageOf returns what columns need of what is said of uses. Evaluators and sources of rules
// must agree on it. If one of usage.Training is among the uses, Others has the rest of these.
func UsageOf(columns []VerdictColumn) (o matcher.UsageOptions) {
	for i := range columns {
		kind := columns[i].Kind
		o.Licenses = o.Licenses || kind.Licenses
		if kind.Use == nil {
			continue
		}
		o.Explain = o.Explain || kind.Use.Part != UseValue
		if !slices.Contains(o.Uses, kind.Use.Use) {
			o.Uses = append(o.Uses, kind.Use.Use)
		}
	}
	for _, use := range usage.Training {
		if !slices.Contains(o.Uses, use) && slices.ContainsFunc(o.Uses, func(u usage.Use) bool { return slices.Contains(usage.Training, u) }) {
			o.Others = append(o.Others, use)
		}
	}
	return o
}
