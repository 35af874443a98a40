package parquetio

import "robotsbatch/io/frontier/parquetio/layout"

// compressor returns what appends the compressed src to dst, nil for none. level is that
// of zstd, 0 for the standard.
func compressor(c Compression, level int) func(dst, src []byte) []byte {
	switch c {
	case Zstd:
		return layout.Zstd.Compressor(level)
	case Snappy:
		return layout.Snappy.Compressor(0)
	}
	return nil
}
