package main

import (
	"testing"

	"robotsbatch/io/store/must"
)

func TestSelectRows(t *testing.T) {
	files := map[string]bool{"a.example": true, "b.example_443": true, "c.example_8080": true, "d.example": true}
	tests := []struct {
		url  string
		want row
	}{
		{"http://a.example", row{"a.example", "http://a.example", "/"}},
		{" HTTPS://A.example:443/x?y#z\r", row{"a.example", "HTTPS://A.example:443/x?y#z", "/x?y"}},
		{"https://a.example:8080/", row{}},
		{"ftp://a.example/", row{}},
		{"https://b.example/", row{"b.example_443", "https://b.example/", "/"}},
		{"http://b.example/", row{}},
		{"http://b.example:443/", row{}},
		{"http://c.example:8080/;p", row{"c.example_8080", "http://c.example:8080/;p", "/;p"}},
		{"http://c.example/", row{}},
		{"http://d.example/\u00e9", row{}},
		{"http://d.example/a\tb", row{}},
		{"mailto:a@d.example", row{}},
		{"", row{}},
	}
	for _, test := range tests {
		f := selectRows([]byte(test.url+"\n"), files)
		var want []row
		if test.want != (row{}) {
			want = []row{test.want}
		}
		must.EqualSlices(t, f.rows, want, test.url, "rows")
	}
}
