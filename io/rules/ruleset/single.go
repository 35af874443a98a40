package ruleset

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"

	"robotsbatch/batch/option"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/matcher/urls"
)

// A source that is a single robots.txt is read as captures, one for each URL of
// Options.Single.

// ParseFor returns the URLs of the robots.txt of a host, for http and for https, or of
// an origin such as https://example.com:8443.
func ParseFor(host string) (found []string, err error) {
	origins := []string{host}
	if !strings.Contains(host, "://") {
		origins = []string{"http://" + host, "https://" + host}
	}
	var scratch urls.Scratch
	for _, origin := range origins {
		authority, path, err := scratch.Split([]byte(origin))
		if err != nil || string(path) != "/" {
			return nil, option.Usagef("%s: want a host, such as example.com, or an origin, such as https://example.com:8443", option.For.With(host))
		}
		found = append(found, string(authority)+"/robots.txt")
	}
	return found, nil
}

// ErrNoSingle is the error of sources none of which is the single robots.txt that
// Options.Single is about.
var ErrNoSingle error = option.Usagef("%s is about a %s that is a single robots.txt, and there is none", option.For, option.Rules)

// checkSingle checks that Options.Single has a single robots.txt to apply to, and that
// there is only one.
func (f *Found) checkSingle() error {
	switch singles := f.count(singleKind); {
	case len(f.options.Single) > 0 && singles == 0 && !f.options.SingleElsewhere:
		return ErrNoSingle
	case singles > 1:
		return option.Usagef("%s is about one robots.txt, and there are %d: put them into a folder, named by host", option.For, singles)
	}
	return nil
}

// HasSingle reports whether a source is a single robots.txt.
func (f *Found) HasSingle() bool { return f.count(singleKind) > 0 }

// singleReader reads a robots.txt, as a capture for each of its URLs.
type singleReader struct {
	body []byte
	urls []string // not handed out yet
}

func (s *captureSet) openSingle(ctx context.Context, name string) (captures.Reader, error) {
	body, err := readSingle(ctx, name, s.options.Stdin, s.bodySize)
	if err != nil {
		return nil, option.Errorf("%s: %w", option.Rules.With(blob.Shown(name)), err)
	}
	s.singleBody = body
	return &singleReader{body: body, urls: s.options.Single}, nil
}

// readSingle reads up to size bytes of a single robots.txt, after decompression.
func readSingle(ctx context.Context, name string, stdin io.Reader, size int) ([]byte, error) {
	in := stdin
	if name != blob.Stdio {
		f, err := blob.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		defer f.Close() // it was only read from
		in = f
	}
	r := bufio.NewReader(in)
	for range compress.MaxLayers {
		head, err := r.Peek(compress.DetectSize)
		if err != nil && err != io.EOF {
			return nil, err
		}
		codec := compress.Detect(head)
		if codec == compress.None {
			break
		}
		layer, err := compress.NewReader(r, codec)
		if err != nil {
			return nil, err
		}
		defer layer.Close() // it was only read from
		r = bufio.NewReader(layer)
	}
	var body bytes.Buffer
	if _, err := io.CopyN(&body, r, int64(size)); err != nil && err != io.EOF {
		return nil, err
	}
	return body.Bytes(), nil
}

func (f *singleReader) Next(x *captures.Capture) error {
	if len(f.urls) == 0 {
		return io.EOF
	}
	*x = captures.Capture{URL: []byte(f.urls[0]), Body: f.body}
	f.urls = f.urls[1:]
	return nil
}

func (f *singleReader) Close() error { return nil }
