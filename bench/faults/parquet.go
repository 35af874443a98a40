//go:build linux

package main

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// parquetKind is a variant of a Parquet file with the same rows.
type parquetKind struct {
	codec compress.Compression
	pages parquet.DataPageVersion
	rows  int // of a row group
}

func (k parquetKind) String() string {
	version := 1
	if k.pages == parquet.DataPageV2 {
		version = 2
	}
	return fmt.Sprintf("%s pages %d %d", k.codec, version, k.rows)
}

func parquetKinds() []parquetKind {
	var kinds []parquetKind
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Zstd} {
		for _, pages := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for _, rows := range []int{8, 3000} {
				kinds = append(kinds, parquetKind{codec, pages, rows})
			}
		}
	}
	return kinds
}

func parquetSample(k parquetKind) (*sample, error) {
	mem := memory.NewGoAllocator()
	schema := tableSchema()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out,
		parquet.NewWriterProperties(parquet.WithCompression(k.codec), parquet.WithDataPageVersion(k.pages), parquet.WithDataPageSize(32<<10), parquet.WithDictionaryFor("url", false), parquet.WithAllocator(mem)),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema(), pqarrow.WithAllocator(mem)))
	if err != nil {
		return nil, err
	}
	for _, record := range tableRecords(schema, arrowBatches, k.rows) {
		if err := w.Write(record); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	parts, err := parquetParts(out.Bytes(), k.codec)
	if err != nil {
		return nil, err
	}
	return &sample{name: k.String(), file: "x.parquet", data: out.Bytes(), where: parts.at, copied: parts.isCopied}, nil
}

// parquetSection changes bytes of Parquet files.
func parquetSection(b *bench) error {
	n := b.times(3000)
	return flipsOf(b, fmt.Sprintf("%d changed bytes of Parquet files (none, zstd; pages of both versions; 8 and 3,000 rows a row group)", n), parquetKinds(), parquetSample, n)
}
