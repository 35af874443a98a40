package main

import (
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/arrowipc"
	"robotsbatch/io/parquetio"
)

// compression is that inside of Arrow and Parquet; the zero value is the
// default.
type compression uint8

const (
	zstdCompression   compression = iota
	lz4Compression                // Arrow alone
	snappyCompression             // Parquet alone
	noCompression
)

var compressions = []cli.Word[compression]{
	{Name: "none", Value: noCompression}, {Name: "lz4", Value: lz4Compression}, {Name: "snappy", Value: snappyCompression}, {Name: "zstd", Value: zstdCompression},
}

// arrow is the compression in Arrow's terms.
func (c compression) arrow() arrowipc.Compression {
	switch c {
	case lz4Compression:
		return arrowipc.LZ4
	case noCompression:
		return arrowipc.Uncompressed
	}
	return arrowipc.Zstd
}

// parquet is the compression in Parquet's terms.
func (c compression) parquet() parquetio.Compression {
	switch c {
	case snappyCompression:
		return parquetio.Snappy
	case noCompression:
		return parquetio.Uncompressed
	}
	return parquetio.Zstd
}
