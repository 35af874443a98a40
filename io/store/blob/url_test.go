package blob_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/must"
)

func TestParseURL(t *testing.T) {
	for _, test := range []struct {
		name, key, shown string
		folder           bool
	}{
		{"s3://bucket/a/b.arrow", "a/b.arrow", "s3://bucket/a/b.arrow", false},
		{"S3://bucket/a?region=x&endpoint=http://localhost:1", "a", "s3://bucket/a", false},
		{"s3://bucket", "", "s3://bucket/", true},
		{"s3://bucket?region=x", "", "s3://bucket/", true},
		{"gs://bucket/a/?anonymous=true", "a/", "gs://bucket/a/", true},
		{"s3://bucket/part-?.arrow", "part-?.arrow", "s3://bucket/part-?.arrow", false},
		{"s3://bucket/part-?.arrow?region=x", "part-?.arrow", "s3://bucket/part-?.arrow", false},
		{"s3://bucket/a?", "a", "s3://bucket/a", false},
		{"s3://bucket/day=1/a%20b c#d.arrow", "day=1/a%20b c#d.arrow", "s3://bucket/day=1/a%20b c#d.arrow", false},
		{"azblob://container/a?storage_account=x", "a", "azblob://container/a", false},
	} {
		u, err := blob.ParseURL(test.name)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		must.Be(t, u.Key == test.key && u.Name() == test.shown && u.IsFolder() == test.folder,
			"%s has key %q and is shown as %q, folder %v", test.name, u.Key, u.Name(), u.IsFolder())
		must.Equal(t, must.Get(blob.ParseURL(u.String()))(t), u, test.name, "written as")
	}
}

func TestSecretsAreRefusedAndNotShown(t *testing.T) {
	for _, name := range []string{
		"s3://id:secret@bucket/key",
		"s3://secret@bucket/key?region=x",
		"s3://bucket/key?X-Amz-Credential=secret&X-Amz-Signature=secret",
		"s3://bucket/key?AWSAccessKeyId=secret&Signature=secret",
		"s3://bucket/key?region=x&sig=secret",
		"s3://bucket/key?endpoint=https://id:secret@host",
		"s3://bucket/key?endpoint=https://host/%3Fsig=secret",
		"s3://bucket/key?region=%zzsecret",
		"gs://bucket/key?access_id=secret",
		"gs://bucket/key?private_key_path=secret",
		"azblob://container/key?sv=1&sig=secret",
		"azblob://secret@container/key",
		"https://bucket.s3.amazonaws.com/key?X-Amz-Signature=secret",
		"https://id:secret@host/key",
		"ftp://secret@host/key?a?token=secret",
		"s3://[secret@x/key",
	} {
		_, err := blob.ParseURL(name)
		must.Be(t, err != nil && !strings.Contains(err.Error(), "secret"), "%s: %v", name, err)
		for what, err := range map[string]error{"Open": second(blob.Open(t.Context(), name)), "Create": second(blob.Create(t.Context(), name))} {
			must.Be(t, err != nil && !strings.Contains(err.Error(), "secret"), "%s(%s): %v", what, name, err)
		}
		shown := blob.Shown(name)
		must.Be(t, !strings.Contains(shown, "secret"), "%s is shown as %s", name, shown)
	}
}

func second[T any](_ T, err error) error { return err }

func TestShown(t *testing.T) {
	for name, want := range map[string]string{
		"urls.arrow": "urls.arrow", "-": "-", "a?b=c": "a?b=c", "s3://bucket/a?region=x": "s3://bucket/a", "s3://u:p@bucket/a": "s3://…@bucket/a",
		"s3://bucket/a-?.arrow": "s3://bucket/a-?.arrow", "s3://bucket": "s3://bucket",
		"s3://key:a/b@bucket/a": "s3://…@bucket/a", "s3://key:a/b": "s3://…", "s3://u:p?x=y@bucket/a": "s3://…", "file://u:p@h/x": "file://…@h/x",
		"https://h:80/x?y": "https://h:80/x", "https://h/x@y": "https://h/x@y", "s3://bucket/x@y": "s3://bucket/x@y",
	} {
		must.Equal(t, blob.Shown(name), want, name, "shown as")
	}
}

func TestLocalName(t *testing.T) {
	drive := "/"
	if runtime.GOOS == "windows" {
		drive = ""
	}
	for name, want := range map[string]string{
		"a/b": "a/b", "-": "-", "file:///a/b%20c": "/a/b c", "FILE://localhost/a?b*": "/a?b*", "s3://bucket/a": "s3://bucket/a",
		"file:///C:/a": drive + "C:/a",
	} {
		if !strings.Contains(name, "://") || strings.HasPrefix(strings.ToLower(name), "file") {
			want = filepath.FromSlash(want)
		}
		got, err := blob.LocalName(name)
		must.Be(t, got == want && err == nil, "%s is %s, want %s; error %v", name, got, want, err)
	}
	for _, name := range []string{"file://host/a", "file:///a%zz", "file:///a%00"} {
		got, err := blob.LocalName(name)
		must.Be(t, err != nil, "%s is %s", name, got)
	}
}
