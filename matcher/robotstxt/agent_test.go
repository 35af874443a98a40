package robotstxt_test

import (
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/robotstxt"
)

func TestAgent(t *testing.T) {
	tests := []struct {
		value    string
		everyone bool
		token    string
		word     string // under RFC9309
	}{
		{"*", true, "", ""},
		{"* Googlebot", true, "", ""},
		{"*\tx", true, "", ""},
		{"*\v", true, "", ""},
		{"*\fx", true, "", ""},
		{"*\u00a0x", false, "", ""},
		{"*/x", false, "", ""},
		{"*bot*", false, "", ""},
		{"**", false, "", ""},
		{"", false, "", ""},
		{" *", false, "", ""},
		{"FooBot", false, "FooBot", "FooBot"},
		{"FooBot/2.1", false, "FooBot", "FooBot"},
		{"FooBot 7", false, "FooBot", "FooBot"},
		{"FooBot*", false, "FooBot", "FooBot*"},
		{"Foo_Bot-x\ty", false, "Foo_Bot-x", "Foo_Bot-x"},
		{"MJ12bot", false, "MJ", "MJ12bot"},
		{"MJ12bot/v1.4 (x)", false, "MJ", "MJ12bot"},
		{"360Spider", false, "", "360Spider"},
		{"img2dataset", false, "img", "img2dataset"},
		{"008 x", false, "", "008"},
		{"/x", false, "", ""},
		{"a\xffb", false, "a", "a\xffb"},
	}
	for _, test := range tests {
		a := robotstxt.Agent{Value: []byte(test.value)}
		must.Equal(t, a.Everyone(), test.everyone, test.value, "everyone")
		if token, word := a.Names(robotstxt.RFC9309); string(token) != test.token || string(word) != test.word {
			t.Errorf("%q names %q and %q, want %q and %q", test.value, token, word, test.token, test.word)
		}
		if token, word := a.Names(robotstxt.Google); string(token) != test.token || word != nil {
			t.Errorf("%q names %q and %q under google, want %q", test.value, token, word, test.token)
		}
	}
}
