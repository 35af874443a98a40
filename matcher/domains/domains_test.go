package domains_test

import (
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/domains"
	"robotsbatch/matcher/urls"
)

// The expected SURT forms are those of the Python package surt, which Common Crawl uses, up
// to the parenthesis and without the port.
func TestHosts(t *testing.T) {
	tests := []struct{ url, host, registered, surt string }{
		{"http://www.example.com/", "www.example.com", "example.com", "com,example"},
		{"https://WWW2.Example.com:8443/robots.txt", "www2.example.com", "example.com", "com,example"},
		{"http://www12.www.example.com/", "www12.www.example.com", "example.com", "com,example,www"},
		{"http://www-a.example.com/", "www-a.example.com", "example.com", "com,example,www-a"},
		{"http://a.b.example.co.uk:8080/", "a.b.example.co.uk", "example.co.uk", "uk,co,example,b,a"},
		{"http://example.com.:80/", "example.com", "example.com", "com,example"},
		// Hosts that are suffixes.
		{"http://www.com/", "www.com", "www.com", "com"},
		{"http://co.uk/", "co.uk", "", "uk,co"},
		{"http://com/", "com", "", "com"},
		{"http://www/", "www", "", "www"},
		{"http://localhost:80/", "localhost", "", "localhost"},
		// Suffixes of companies.
		{"http://github.io/", "github.io", "github.io", "io,github"},
		{"http://alice.github.io/", "alice.github.io", "github.io", "io,github,alice"},
		{"http://a.b.blogspot.co.uk/", "a.b.blogspot.co.uk", "blogspot.co.uk", "uk,co,blogspot,b,a"},
		{"http://bucket.s3.dualstack.us-east-1.amazonaws.com/", "bucket.s3.dualstack.us-east-1.amazonaws.com", "amazonaws.com", "com,amazonaws,us-east-1,dualstack,s3,bucket"},
		// Rules with a wildcard, and their exceptions.
		{"http://a.b.ck/", "a.b.ck", "a.b.ck", "ck,b,a"},
		{"http://b.ck/", "b.ck", "", "ck,b"},
		{"http://www.ck/", "www.ck", "www.ck", "ck"},
		{"http://x.city.kawasaki.jp/", "x.city.kawasaki.jp", "city.kawasaki.jp", "jp,kawasaki,city,x"},
		// Top-level domains that are not on the list.
		{"http://a.site.test/", "a.site.test", "site.test", "test,site,a"},
		// IDNs.
		{"http://www.Bücher.example/", "www.xn--bcher-kva.example", "xn--bcher-kva.example", "example,xn--bcher-kva"},
		{"http://a.食狮.公司.cn/", "a.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn", "cn,xn--55qx5d,xn--85x722f,a"},
		{"http://公司.cn/", "xn--55qx5d.cn", "", "cn,xn--55qx5d"},
		{"http://a.b.xn--p1ai/", "a.b.xn--p1ai", "b.xn--p1ai", "xn--p1ai,b,a"},
		{"http://a.b.xn--fiqs8s/", "a.b.xn--fiqs8s", "b.xn--fiqs8s", "xn--fiqs8s,b,a"},
		// IP addresses, and hosts that resemble one.
		{"http://127.0.0.1:8080/", "127.0.0.1", "", "1,0,0,127"},
		{"http://[2001:DB8::1]:8080/", "[2001:db8::1]", "", "2001:db8::1"},
		{"http://[::1]/", "[::1]", "", "::1"},
		{"http://1.2.3.4.5/", "1.2.3.4.5", "4.5", "5,4,3,2,1"},
	}
	var s urls.Scratch
	for _, test := range tests {
		authority, _, err := s.Split([]byte(test.url))
		must.Need(t, err == nil, "%s: %v", test.url, err)
		host := domains.Host(authority)
		must.Equal(t, string(host), test.host, test.url, "host")
		must.Equal(t, domains.Registered(host), test.registered, test.host, "registered domain")
		must.Equal(t, string(domains.AppendSURT(nil, host)), test.surt, test.host, "SURT")
	}
}

// FuzzRegistered: a registered domain is a suffix of its host that starts at a label, and
// it is its own registered domain.
func FuzzRegistered(f *testing.F) {
	for _, seed := range []string{"www.example.co.uk", "github.io", "1.2.3.4", "x.www.com", "www.com", "www2.www.com", "[::1]", "a", "b.ck", "x.city.kawasaki.jp", "dualstack.us-east-1.amazonaws.com", "a.b:80"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, authority string) {
		var s urls.Scratch
		key, _, err := s.Split([]byte("http://" + authority + "/"))
		if err != nil {
			return
		}
		host := string(domains.Host(key))
		surt := string(domains.AppendSURT(nil, []byte(host)))
		must.Be(t, len(surt) <= len(host), "%q: SURT %q", host, surt)
		domain := domains.Registered([]byte(host))
		if domain == "" {
			return
		}
		must.Be(t, domain == host || strings.HasSuffix(host, "."+domain), "%q: registered domain %q", host, domain)
		end := domains.AppendSURTEnd(nil, []byte(domain))
		must.Be(t, surt < string(end), "%q: SURT %q is not before %q", host, surt, end)
		must.Equal(t, domains.Registered([]byte(domain)), domain, host, "registered domain")
	})
}
