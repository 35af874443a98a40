package domains

import (
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

// The keys are those that the archives' own tools make of these URLs.
func TestAppendSURTKey(t *testing.T) {
	const session = "0123456789ABCDEF0123456789ABCDEF"
	for _, test := range []struct{ authority, rest, want string }{
		{"http://www.example.com", "/A/B/?b=2&a=1#x", "com,example)/a/b?a=1&b=2"},
		{"https://example.com:8443", "/a/", "com,example:8443)/a"},
		{"https://www2.example.com", "", "com,example)/"},
		{"http://[::1]:81", "/x", "::1:81)/x"},
		{"http://1.2.3.4", "/x", "4,3,2,1)/x"},
		{"http://xn--bcher-kva.example", "/ü?ü=é", "example,xn--bcher-kva)/%c3%bc?%c3%bc=%c3%a9"},
		{"http://e.com", "/a/../b/./c//d", "com,e)/b/c/d"},
		{"http://e.com", "/a/../../b", "com,e)/../b"},
		{"http://e.com", "/%2e%2e/a", "com,e)/../a"},
		{"http://e.com", "/a//../b", "com,e)/a/b"},
		{"http://e.com", "/a%20b/%7Ex/%2541", "com,e)/a%20b/~x/a"},
		{"http://e.com", "/%%341%4%31", "com,e)/aa"},
		{"http://e.com", "/%zz?%zz", "com,e)/%25zz?%25zz"},
		{"http://e.com", "/%23?%23&%25", "com,e)/%23?%23&%25"},
		{"http://e.com", "/a%3Fb?x=%26y", "com,e)/a?b?x=&y"},
		{"http://e.com", "/\"<>^`{|}\x7f", "com,e)/\"<>^`{|}%7f"},
		{"http://e.com", "/a\r\n\tb", "com,e)/ab"},
		{"http://e.com", "/?", "com,e)/"},
		{"http://e.com", "?q", "com,e)/?q"},
		{"http://e.com", "/x?&&", "com,e)/x?&&"},
		{"http://e.com", "/a?b&a&&c=&a=", "com,e)/a?&a&a=&b&c="},
		{"http://e.com", "/x?a-b=2&a=1", "com,e)/x?a=1&a-b=2"},
		{"http://e.com", "/x?b==1&B=0", "com,e)/x?b=0&b==1"},
		{"http://e.com", "/x?PHPSESSID=" + session + "&y=2", "com,e)/x?y=2"},
		{"http://e.com", "/x?b=1&sid=" + session, "com,e)/x?&b=1"},
		{"http://e.com", "/x?sid=" + session + "0&b", "com,e)/x?b&sid=" + strings.ToLower(session) + "0"},
		{"http://e.com", "/x?aspsessionidabcdefgh=abcdefghijklmnopqrstuvwx&y=1", "com,e)/x?y=1"},
		{"http://e.com", "/x.aspx?CFID=1&CFTOKEN=2&z=1", "com,e)/x.aspx?z=1"},
		{"http://e.com", "/(S(" + session[:24] + "))/x.aspx", "com,e)/x.aspx"},
		{"http://e.com", "/(" + session[:24] + ")/x.html", "com,e)/(" + strings.ToLower(session[:24]) + ")/x.html"},
		{"http://e.com", "/a;jsessionid=" + session, "com,e)/a;jsessionid=" + strings.ToLower(session)},
	} {
		must.Equal(t, string(AppendSURTKey([]byte("x"), []byte(test.authority), []byte(test.rest))), "x"+test.want, test.authority, test.rest, test.want)
	}
}

// A URL of a mebibyte whose escapes decode to escapes, again and again, takes no longer
// than its length asks for: more would take until go test ends it.
func TestAppendSURTKeyIsLinear(t *testing.T) {
	key := AppendSURTKey(nil, []byte("http://e.com"), []byte("/%"+strings.Repeat("25", 1<<19)+"?"+strings.Repeat("sid=&", 1<<17)))
	must.Be(t, len(key) >= 1<<17, "%d bytes", len(key))
}
