package captures

import (
	"bytes"
	"io"

	"robotsbatch/io/compress"
)

// maxLayers is how many times a body may be compressed, one in another.
const maxLayers = 3

// Decompress decompresses a body that still is gzip or zstd, up to size bytes: read
// as text it would have no groups, and so allow everything. cut says that the body is
// only the beginning of what there was. layers is how many times it was compressed. An
// error means that nothing of it can be decompressed.
func Decompress(body []byte, cut bool, size int) (_ []byte, _ bool, layers int, err error) {
	for ; layers < maxLayers; layers++ {
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
