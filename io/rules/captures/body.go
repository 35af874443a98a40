package captures

import (
	"bytes"
	"io"

	"robotsbatch/io/store/compress"
)

// Decompress decompresses up to size bytes of a body that is still gzip or zstd. Read
// as text, such a body would have no groups and so allow everything. cut says that the
// body is only the beginning of the original. layers is the number of times it was
// compressed. An error means that nothing could be decompressed.
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
