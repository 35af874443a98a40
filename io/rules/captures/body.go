package captures

import (
	"bytes"
	"io"

	"robotsbatch/io/store/compress"
)

// Decompress returns up to size bytes of a body, decompressed if it is gzip or zstd. Read as
// text, such a body would have no groups and so allow everything. cut and the bool that is
// returned say whether the body is only the beginning of the original. layers is how many
// times it was compressed. It returns an error if nothing could be decompressed.
func Decompress(body []byte, cut bool, size int) (_ []byte, _ bool, layers int, err error) {
	for ; layers < compress.MaxLayers; layers++ {
		codec := compress.Detect(body)
		if codec == compress.None {
			break
		}
		r, err := compress.NewSmallReader(bytes.NewReader(body), codec)
		if err != nil {
			return nil, false, layers, err
		}
		var text bytes.Buffer
		_, err = io.CopyN(&text, r, int64(size))
		_ = r.Close() // it reads from memory
		damaged := err != nil && err != io.EOF
		if damaged && text.Len() == 0 {
			return nil, false, layers, err
		}
		body, cut = text.Bytes(), cut || damaged
	}
	return body, cut, layers, nil
}
