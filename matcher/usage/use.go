package usage

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Directive is a kind of line in a robots.txt.
type Directive uint8

const (
	// ContentUsage is a Content-Usage line: an optional path and an RFC 9651 dictionary.
	ContentUsage Directive = iota
	// ContentSignal is a Content-Signal line: an optional path and a list of signals.
	ContentSignal
	// License is a License line: an absolute URI.
	License

	// Directives is their number.
	Directives
)

// Preferences are the directives whose statements say what a use may be.
var Preferences = []Directive{ContentUsage, ContentSignal}

var directiveNames = [Directives]string{"Content-Usage", "Content-Signal", "License"}

// String returns the key as the specifications write it.
func (d Directive) String() string { return directiveNames[d] }

// Value is what a statement says of a use.
type Value uint8

const (
	// Unknown: the statement says nothing of the use.
	Unknown Value = iota
	// Disallowed and Allowed are preferences.
	Disallowed
	Allowed
	// Immediate, Reference and Full say how much of the content may be used: values of the
	// signal "use", the most restrictive one first.
	Immediate
	Reference
	Full
	// Unreadable: something is said of the use, but it is none of the values that the directive
	// defines.
	Unreadable

	// NumValues is their number.
	NumValues
)

var valueNames = [NumValues]string{"unknown", "disallowed", "allowed", "immediate", "reference", "full", "unreadable"}

// String returns the value as outputs write it, such as "disallowed".
func (v Value) String() string { return valueNames[v] }

// strictness ranks the values. A known one wins over those that are not.
var strictness = [NumValues]uint8{Unknown: 0, Unreadable: 1, Full: 2, Reference: 3, Immediate: 4, Allowed: 5, Disallowed: 6}

// Combine returns what two statements say together: the more restrictive value of the two
// that are known (vocab-08 §5.1).
func Combine(a, b Value) Value {
	if strictness[a] < strictness[b] {
		return b
	}
	return a
}

// leniency ranks the values by what they permit. One that is unknown permits more than one
// that disallows.
var leniency = [NumValues]uint8{Disallowed: 0, Unreadable: 1, Unknown: 2, Allowed: 3, Immediate: 4, Reference: 5, Full: 6}

// Least returns the less restrictive of two values.
func Least(a, b Value) Value {
	if leniency[a] < leniency[b] {
		return b
	}
	return a
}

// Values is a set of values, a bit for each: what statements for different paths say of a use.
type Values uint8

// With returns the set with a value. Unknown is no value.
func (s Values) With(v Value) Values {
	if v == Unknown {
		return s
	}
	return s | 1<<v
}

// Has reports whether the set has a value.
func (s Values) Has(v Value) bool { return s>>v&1 != 0 }

// Single returns the only value of the set; Unknown if it has none or several.
func (s Values) Single() Value {
	if bits.OnesCount8(uint8(s)) == 1 {
		return Value(bits.TrailingZeros8(uint8(s)))
	}
	return Unknown
}

// Mixed is how outputs write a set of several values.
const Mixed = "mixed"

// String returns the value as outputs write it, Mixed for several, and nothing for none.
func (s Values) String() string {
	switch v := s.Single(); {
	case s == 0:
		return ""
	case v == Unknown:
		return Mixed
	default:
		return v.String()
	}
}

// ParseValues parses what String returns. Mixed does not say which values the set had: it gives the
// set of all values.
func ParseValues(s string) (Values, error) {
	switch s {
	case "":
		return 0, nil
	case Mixed:
		return 1<<NumValues - 1<<Disallowed, nil
	}
	for v := Disallowed; v < NumValues; v++ {
		if valueNames[v] == s {
			return 1 << v, nil
		}
	}
	return 0, fmt.Errorf("%q is not a value of a use: want %s or %s", s, strings.Join(valueNames[Disallowed:], ", "), Mixed)
}

// Use is a use that statements of a directive may allow or disallow.
type Use struct {
	// Directive is ContentUsage or ContentSignal.
	Directive Directive
	// Key is the use's key in a statement.
	Key string
}

// vocabulary has the uses that the drafts define.
var vocabulary = []Use{
	{ContentUsage, "train-ai"},
	{ContentUsage, "ai-use"},
	{ContentUsage, "search"},
	{ContentSignal, "ai-train"},
	{ContentSignal, "ai-input"},
	{ContentSignal, "search"},
	SignalUse,
}

// SignalUse is the signal whose value is a grade in place of yes or no.
var SignalUse = Use{ContentSignal, "use"}

// Vocabulary returns the uses that a directive's vocabulary defines.
func Vocabulary(d Directive) []Use {
	return slices.DeleteFunc(slices.Clone(vocabulary), func(u Use) bool { return u.Directive != d })
}

// Defined reports whether the vocabulary of the use's directive defines it. A use with any other key
// may be one that a later draft defines.
func (u Use) Defined() bool { return slices.Contains(vocabulary, u) }

// signalPrefix comes before a signal's key in the name of a use, because "search" does not mean
// the same as in Content-Usage.
const signalPrefix = "signal:"

// Graded reports whether the values of the use are Immediate, Reference and Full, in place of
// Allowed and Disallowed.
func (u Use) Graded() bool { return u == SignalUse }

// Training are the uses of both directives that are about training a model.
var Training = []Use{{ContentUsage, "train-ai"}, {ContentSignal, "ai-train"}}

// TrainingName is the name of Training.
const TrainingName = "training"

// ParseUses parses the name of a use, or TrainingName.
func ParseUses(name string) ([]Use, error) {
	if name == TrainingName {
		return Training, nil
	}
	u, err := ParseUse(name)
	return []Use{u}, err
}

// ParseUse parses the name of a use: a key of Content-Usage, which may be one that a later
// vocabulary defines, or "signal:" and a key of Content-Signal.
func ParseUse(name string) (Use, error) {
	if key, ok := strings.CutPrefix(name, signalPrefix); ok {
		u := Use{ContentSignal, key}
		if u.Defined() {
			return u, nil
		}
		return u, fmt.Errorf("%q is none of %s", name, strings.Join(useNames(ContentSignal), ", "))
	}
	rest := dictionary{rest: []byte(name)}
	if key, ok := rest.key(); !ok || len(key) != len(name) {
		return Use{}, fmt.Errorf("%q cannot be a use: give one of %s, or another key in lower case", name,
			strings.Join(append(useNames(ContentUsage), append(useNames(ContentSignal), TrainingName)...), ", "))
	}
	u := Use{ContentUsage, name}
	if signal := (Use{ContentSignal, name}); signal.Defined() && !u.Defined() {
		text := fmt.Sprintf("%q is a key of Content-Signal: write %s", name, signal)
		if slices.Contains(Training, signal) {
			text += fmt.Sprintf(" for it, train-ai for Content-Usage, or %s for both", TrainingName)
		}
		return Use{}, errors.New(text)
	}
	return u, nil
}

// useNames returns the names of the uses of a directive's vocabulary, as ParseUse takes them.
func useNames(d Directive) (all []string) {
	for _, use := range Vocabulary(d) {
		all = append(all, use.String())
	}
	return all
}

// String returns the name that ParseUse parses.
func (u Use) String() string {
	if u.Directive == ContentSignal {
		return signalPrefix + u.Key
	}
	return u.Key
}

// Column returns the use as a part of a column's name, such as "use_train_ai" or
// "signal_ai_train".
func (u Use) Column() string {
	name := "use_"
	if u.Directive == ContentSignal {
		name = "signal_"
	}
	return name + strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, u.Key)
}
