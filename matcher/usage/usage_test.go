package usage

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dunglas/httpsfv"

	"robotsbatch/io/store/must"
)

// stated returns what a statement says of the defined uses, "error" if it is none.
func stated(d Directive, statement string) string {
	pairs, err := AppendStatement(nil, d, []byte(statement))
	if err != nil && d == ContentUsage {
		return "error"
	}
	var said []string
	for _, u := range Vocabulary(d) {
		if v := Of(pairs, err, u); v != Unknown {
			said = append(said, u.Key+" "+v.String())
		}
	}
	return strings.Join(said, ", ")
}

// TestStatementIsADictionary has a statement for each sentence of vocab-08 §6 and of RFC
// 9651 §4.2 that decides whether it parses.
func TestStatementIsADictionary(t *testing.T) {
	for _, tt := range []struct{ statement, want string }{
		{"", ""},
		{"   ", ""},
		{"train-ai=n", "train-ai disallowed"},
		{"train-ai=y, search=n", "train-ai allowed, search disallowed"},
		{"train-ai=n, ai-use=n, search=y", "train-ai disallowed, ai-use disallowed, search allowed"},
		{"train-ai=n\t,\tsearch=y", "train-ai disallowed, search allowed"},
		{"train-ai=n,search=y  ", "train-ai disallowed, search allowed"},
		// The last of a repeated key counts.
		{"train-ai=n, train-ai=y", "train-ai allowed"},
		{"train-ai=y, train-ai=maybe", "train-ai unreadable"},
		{`train-ai=y, train-ai, search=n, search="n"`, "train-ai unreadable, search unreadable"},
		// Anything but the tokens y and n cannot be read.
		{"train-ai", "train-ai unreadable"},
		{"train-ai=N", "train-ai unreadable"},
		{`train-ai="n"`, "train-ai unreadable"},
		{"train-ai=?0", "train-ai unreadable"},
		{"train-ai=1, search=y", "train-ai unreadable, search allowed"},
		{"train-ai=-1.5, search=y", "train-ai unreadable, search allowed"},
		{"train-ai=@1659578233, search=y", "train-ai unreadable, search allowed"},
		{"train-ai=:bg==:, search=y", "train-ai unreadable, search allowed"},
		{`train-ai=%"f%c3%bc", search=y`, "train-ai unreadable, search allowed"},
		{"train-ai=(n), search=y", "train-ai unreadable, search allowed"},
		{"train-ai=n/y", "train-ai unreadable"},
		{"train-ai=ny", "train-ai unreadable"},
		// Parameters are ignored.
		{"train-ai=n;a=(", "error"},
		{"train-ai=n; search=y", "train-ai disallowed"},
		{"train-ai=n;a;b=?1; c=\"x\"", "train-ai disallowed"},
		{"train-ai;allow=n, train-ai=y", "train-ai allowed"},
		// Unknown keys are ignored, but for those of older drafts that disallow a use.
		{"ai-output=n, *=n, Search-ai=y", "error"},
		{"ai-output=n, *=n, train_ai=n, ai-train=n", ""},
		{"bots=n", "train-ai unreadable, ai-use unreadable"},
		{"ai=n, search=y", "train-ai unreadable, ai-use unreadable, search allowed"},
		{"tdm=n, train-ai=y", "train-ai allowed, ai-use unreadable"},
		{"train-genai=n", "train-ai unreadable"},
		{"bots=y, ai=no, tdm=?0, train-genai", ""},
		// What does not parse as a whole says nothing.
		{"Train-AI=n", "error"},
		{"train-ai=y, TRAIN-AI=n", "error"},
		{"train-ai=n;X=1", "error"},
		{"train-ai=n,", "error"},
		{"train-ai=n,,search=y", "error"},
		{"train-ai= n", "error"},
		{"train-ai =n", "error"},
		{"train-ai=n search=y", "error"},
		{"\ttrain-ai=n", "error"},
		{`foo="unterminated, train-ai=n`, "error"},
		{"train-ai=n;x=caf\u00e9", "error"},
		{`train-ai;has;parameters="?";`, "error"},
		{"train-ai=n, a=1234567890123456", "error"},
		{"train-ai=n, a=1234567890123.1", "error"},
		{"train-ai=n, a=1.1234", "error"},
		{"train-ai=n, a=1.", "error"},
		{"train-ai=n, a=-", "error"},
		{"train-ai=n, a=?2", "error"},
		{"train-ai=n, a=@1.5", "error"},
		{"train-ai=n, a=:a:", "error"},
		// Padding that is missing, all or a part of it, is synthesised.
		{"train-ai=n, a=:YQ:", "train-ai disallowed"},
		{"train-ai=n, a=:YQ=:", "train-ai disallowed"},
		{"train-ai=n, a=:YQ==:", "train-ai disallowed"},
		{"train-ai=n, a=:YWI:, b=::", "train-ai disallowed"},
		{"train-ai=n, a=:YQ===:", "error"},
		{"train-ai=n, a=:YWI==:", "error"},
		{"train-ai=n, a=:YWJj=:", "error"},
		{"train-ai=n, a=:=:", "error"},
		{"train-ai=n, a=:Y=Q:", "error"},
		{"train-ai=n, a=(b", "error"},
		{"train-ai=n, a=(b\tc)", "error"},
		{`train-ai=n, a=%"%C3"`, "error"},
		{`train-ai=n, a=%"%c3"`, "error"},
		{`train-ai=n, a=%"%ef%bf%bd"`, "train-ai disallowed"},
		{`train-ai=n, a="\n"`, "error"},
	} {
		must.Equal(t, stated(ContentUsage, tt.statement), tt.want, tt.statement)
	}
}

func TestSyntaxErrorNamesTheByte(t *testing.T) {
	_, err := AppendStatement(nil, ContentUsage, []byte("train-ai=n, Search=y"))
	var fault *SyntaxError
	must.Be(t, errors.As(err, &fault) && fault.At == 12, "got %v", err)
}

// TestSignals has the examples of the policy, and what it leaves open.
func TestSignals(t *testing.T) {
	for _, tt := range []struct{ list, want string }{
		{"", ""},
		{"search=yes, ai-train=no", "ai-train disallowed, search allowed"},
		{"search=yes,ai-train=no,use=reference", "ai-train disallowed, search allowed, use reference"},
		{" AI-Train = NO ,\tsearch=Yes", "ai-train disallowed, search allowed"},
		{"ai-input=yes,,", "ai-input allowed"},
		{"ai-train=yes, ai-train=no", "ai-train disallowed"},
		{"ai-train=no, ai-train=yes", "ai-train disallowed"},
		{"use=full, use=immediate, use=reference", "use immediate"},
		// Another value of a key cannot be read, unless one beside it can.
		{"ai-train=false, search, train-ai=no, use=yes", "ai-train unreadable, search unreadable, use unreadable"},
		{"ai-train=, search=full, search=no", "ai-train unreadable, search disallowed"},
		{`ai-train="no"`, "ai-train unreadable"},
		{"no, foo=bar, x-y", ""},
		// What does not parse says something of all uses: what, is not known.
		{"search=yes ai-train=no", "ai-train unreadable, ai-input unreadable, search unreadable, use unreadable"},
		{"search=yes; ai-train=no", "ai-train unreadable, ai-input unreadable, search unreadable, use unreadable"},
		{"ai-train: no, search=yes", "ai-train unreadable, ai-input unreadable, search allowed, use unreadable"},
		{"ai-train no", "ai-train unreadable, ai-input unreadable, search unreadable, use unreadable"},
		{"ai-train==no", "ai-train unreadable, ai-input unreadable, search unreadable, use unreadable"},
	} {
		must.Equal(t, stated(ContentSignal, tt.list), tt.want, tt.list)
	}
}

func TestSplitPath(t *testing.T) {
	for _, tt := range []struct{ value, path, statement string }{
		{"", "", ""},
		{"train-ai=n", "", "train-ai=n"},
		{"/ train-ai=n", "/", "train-ai=n"},
		{"/a\ttrain-ai=n", "/a", "train-ai=n"},
		{"/a \t train-ai=n", "/a", "train-ai=n"},
		{"/a", "/a", ""},
		{"/a,b=c train-ai=n", "/a,b=c", "train-ai=n"},
		{"*.pdf train-ai=n", "", "*.pdf train-ai=n"},
		{"a/b train-ai=n", "", "a/b train-ai=n"},
	} {
		path, statement := SplitPath([]byte(tt.value))
		must.Be(t, string(path) == tt.path && string(statement) == tt.statement, "%q: got %q and %q", tt.value, path, statement)
	}
}

func TestIsLicense(t *testing.T) {
	for value, want := range map[string]bool{
		"https://example.com/license.xml": true, "HTTP://example.com": true, "urn:example:license": true, "": false,
		"/license.xml": false, "//example.com/license.xml": false, "license.xml": false, "https:": false,
		"https://": false, "https:///license.xml": false, "https://example.com/a b": false, "1http://example.com/": false,
		"ht tp://example.com/": false,
	} {
		must.Equal(t, IsLicense([]byte(value)), want, value)
	}
}

func TestParseUse(t *testing.T) {
	for _, tt := range []struct{ name, column string }{
		{"train-ai", "use_train_ai"},
		{"ai-use", "use_ai_use"},
		{"search", "use_search"},
		{"some.key", "use_some_key"},
		{"signal:ai-train", "signal_ai_train"},
		{"signal:search", "signal_search"},
		{"signal:use", "signal_use"},
	} {
		u, err := ParseUse(tt.name)
		must.Be(t, err == nil && u.Column() == tt.column && u.String() == tt.name, "%q: %v, column %q, %v", tt.name, u, u.Column(), err)
	}
	for _, name := range []string{"", "Train-AI", "train ai", "-a", "signal:train-ai", "signal:"} {
		must.Fail(t, must.Err(ParseUse(name)), name)
	}
}

func TestValuesParseAsTheyAreWritten(t *testing.T) {
	for v := Disallowed; v < NumValues; v++ {
		set := Values(0).With(Unknown).With(v)
		parsed, err := ParseValues(set.String())
		must.Be(t, err == nil && parsed == set && parsed.Single() == v && set.String() == v.String(), "%v: %v, %v", v, parsed, err)
	}
	both := Values(0).With(Allowed).With(Disallowed)
	parsed, err := ParseValues(both.String())
	must.Be(t, err == nil && parsed.Single() == Unknown && parsed.String() == Mixed && both.String() == Mixed && both.Has(Allowed) && !both.Has(Full),
		"%v, %v", parsed, err)
	none, err := ParseValues("")
	must.Be(t, err == nil && none == 0 && none.String() == "", "%v, %v", none, err)
	must.Fail(t, must.Err(ParseValues("unknown")))
}

// byLibrary does what stated does, by another RFC 9651 parser.
func byLibrary(statement string) string {
	dict, err := httpsfv.UnmarshalDictionary([]string{statement})
	if err != nil {
		return "error"
	}
	var said []string
	// The keys of older drafts: tokens that disallow count as unreadable.
	older := map[string][]string{"train-ai": {"ai", "bots", "tdm", "train-genai"}, "ai-use": {"ai", "bots", "tdm"}}
	for _, u := range Vocabulary(ContentUsage) {
		disallowedBefore := slices.ContainsFunc(older[u.Key], func(key string) bool {
			member, _ := dict.Get(key)
			item, _ := member.(httpsfv.Item)
			return item.Value == httpsfv.Token("n")
		})
		member, _ := dict.Get(u.Key)
		item, _ := member.(httpsfv.Item)
		switch {
		case item.Value == httpsfv.Token("y"):
			said = append(said, u.Key+" allowed")
		case item.Value == httpsfv.Token("n"):
			said = append(said, u.Key+" disallowed")
		case member != nil || disallowedBefore:
			said = append(said, u.Key+" unreadable")
		}
	}
	return strings.Join(said, ", ")
}

// TestEverySmallStatement compares the parser with a library on all short sequences of
// tokens. Of the longest it takes those that start as a key may: what any other start means,
// shorter ones show.
func TestEverySmallStatement(t *testing.T) {
	tokens := []string{"search", "=", "y", "n", ",", " ", ";", "(", ")", "\"", "1", "?", "A", "\t", ".", "*", "@", "-"}
	length := must.Short(3, 5)
	statements := []string{""}
	for n := range length {
		var longer []string
		for _, s := range statements {
			if n == 4 && !strings.ContainsAny(s[:1], "syn* \t") {
				continue
			}
			for _, token := range tokens {
				if longer = append(longer, s+token); t.Failed() {
					return
				}
				compare(t, s+token)
			}
		}
		statements = longer
	}
}

func compare(t *testing.T, statement string) {
	t.Helper()
	got, want := stated(ContentUsage, statement), byLibrary(statement)
	must.Be(t, got == want || libraryDiffers(statement), "%q: got %q, the library says %q", statement, got, want)
}

// libraryDiffers reports whether a statement has a byte sequence. The library requires its
// padding, which RFC 9651 §4.2.7 tells parsers to do without.
func libraryDiffers(statement string) bool { return byteSequence.MatchString(statement) }

var byteSequence = regexp.MustCompile(":[A-Za-z0-9+/=]*:")

func FuzzStatement(f *testing.F) {
	for _, s := range []string{"train-ai=n", `a="b", c=:YQ==:;d=%"%c3%bc", e=(f g);h, i=-1.5, j=@1, k=?0`, "train-ai=n,", "\ttrain-ai=n", "ai=n", "bots=y, tdm=n", "train-genai=n, train-ai=y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, statement string) { compare(t, statement) })
}

func BenchmarkStatement(b *testing.B) {
	const statement = "train-ai=n, ai-use=n;x=1, search=y"
	b.Run("impl=own", func(b *testing.B) {
		b.ReportAllocs()
		var pairs []Pair
		for b.Loop() {
			pairs, _ = AppendStatement(pairs[:0], ContentUsage, []byte(statement))
		}
	})
	b.Run("impl=httpsfv", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = httpsfv.UnmarshalDictionary([]string{statement})
		}
	})
}
