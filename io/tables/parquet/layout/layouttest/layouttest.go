// Package layouttest reads single pages for tests of packages that change pages.
package layouttest

import (
	"bytes"

	"robotsbatch/io/tables/parquet/layout"
)

// NextPage returns the page of a chunk that data begins with. limit is as
// in [layout.NewStream].
func NextPage(data []byte, chunk *layout.Chunk, limit int64) (layout.Page, error) {
	there := *chunk
	there.Pages = layout.Range{Length: int64(len(data))}
	s := layout.NewStream(bytes.NewReader(data), &there, limit)
	p, err := s.Next()
	if err == nil {
		err = s.Body(&p, make([]byte, p.StoredSize()))
	}
	return p, err
}
