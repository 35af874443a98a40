package compress

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

func TestOpenText(t *testing.T) {
	const want = "ä\r\nb\n"
	for _, list := range []string{want, "\uFEFF" + want, "\xFF\xFE\xE4\x00\r\x00\n\x00b\x00\n\x00", "\xFE\xFF\x00\xE4\x00\r\x00\n\x00b\x00\n", ""} {
		for _, codec := range []Codec{None, Gzip, Zstd} {
			data := must.Get(AppendCompressed(nil, []byte(list), codec))(t)
			r := must.Get(OpenText(bytes.NewReader(data)))(t)
			text, err := io.ReadAll(r)
			if err != nil || string(text) != want[:min(len(want), len(list))] {
				t.Errorf("%q, %v: %q, %v", list, codec, text, err)
			}
			must.Do(t, r.Close())
		}
	}
	must.Fail(t, must.Err(OpenText(strings.NewReader("\x1F\x8B\x08\x00"))), "gzip header that is cut is opened")
}
