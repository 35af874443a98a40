package parquetio

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/metadata"

	"robotsbatch/io/arrowipc"
)

const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	// tailSize is the length of the footer and the magic.
	tailSize = 8
)

// Limits of the schema: more is no table, and takes the library for ever.
const (
	maxDepth   = 64
	maxColumns = 50_000
)

// readFooter returns the metadata at the end of the size octets of r, and where
// it starts. It is checked as far as offsets, sizes and counts go.
func readFooter(r io.ReaderAt, size, limit int64) (*metadata.FileMetaData, int64, error) {
	var head [len(magic)]byte
	var tail [tailSize]byte
	if size < int64(len(head)+len(tail)) {
		return nil, 0, fmt.Errorf("%d octets are no Parquet file: %w", size, io.ErrUnexpectedEOF)
	}
	if err := readAt(r, head[:], 0); err != nil {
		return nil, 0, err
	}
	if err := readAt(r, tail[:], size-tailSize); err != nil {
		return nil, 0, err
	}
	switch end := string(tail[4:]); {
	case end == magicEncrypted:
		return nil, 0, errors.New("the file is encrypted: decrypt it first")
	case string(head[:]) != magic:
		return nil, 0, errors.New("this is no Parquet file")
	case end != magic:
		return nil, 0, fmt.Errorf("the file does not end as Parquet files do; was it written whole? %w", io.ErrUnexpectedEOF)
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	start := size - tailSize - length
	switch {
	case start < int64(len(head)):
		return nil, 0, fmt.Errorf("damaged: a footer of %d octets in a file of %d", length, size)
	case length > limit/8: // the library's structures take several times as much
		return nil, 0, fmt.Errorf("its footer has %d octets: raise -memory", length)
	}
	data := make([]byte, length)
	if err := readAt(r, data, start); err != nil {
		return nil, 0, err
	}
	if err := checkFooter(data); err != nil {
		return nil, 0, fmt.Errorf("footer: %w", err)
	}
	var meta *metadata.FileMetaData
	err := guard(func() (err error) {
		meta, err = metadata.NewFileMetaData(data, nil)
		return err
	})
	if err == nil && meta.IsSetEncryptionAlgorithm() {
		err = errors.New("the file is encrypted: decrypt it first")
	}
	if err != nil {
		return nil, 0, fmt.Errorf("footer: %w", err)
	}
	return meta, start, nil
}

// readAt fills p from r; the end of the file is an error.
func readAt(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	switch {
	case n == len(p):
		return nil
	case err == nil || err == io.EOF:
		return fmt.Errorf("the file ends before octet %d; was it cut while it was read? %w", offset+int64(len(p)), io.ErrUnexpectedEOF)
	}
	return err
}

// checkFooter checks a footer's structure before the library builds it.
func checkFooter(data []byte) error {
	// The schema is a list of elements, depth first, each with the number of
	// its children.
	var children []int64
	w := thriftWalk{data: data}
	w.element = func(path []int16) {
		if len(path) == 1 && path[0] == 2 {
			children = append(children, 0)
		}
	}
	w.number = func(path []int16, v int64) {
		if len(path) == 2 && path[0] == 2 && path[1] == 5 && len(children) > 0 {
			children[len(children)-1] = v
		}
	}
	if err := w.structure(); err != nil {
		return err
	}
	if len(children) > maxColumns {
		return fmt.Errorf("it has %d columns, more than %d", len(children), maxColumns)
	}
	var open []int64 // children to come, of each group around
	for i, n := range children {
		if n < 0 || n > int64(len(children)) || i > 0 && len(open) == 0 {
			return errors.New("damaged: the schema is no tree")
		}
		open = append(open, n)
		if len(open) > maxDepth {
			return fmt.Errorf("its columns are nested more than %d deep", maxDepth)
		}
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
			if len(open) > 0 {
				open[len(open)-1]--
			}
		}
	}
	if len(open) > 0 || len(children) == 0 {
		return errors.New("damaged: the schema is no tree")
	}
	return nil
}

// checkRowGroups checks the row groups' sizes and offsets: that everything
// lies before end, where the footer starts, and that rows add up.
func checkRowGroups(meta *metadata.FileMetaData, end int64) error {
	rows := int64(0)
	for i, group := range meta.RowGroups {
		if group.NumRows < 0 || group.NumRows > meta.NumRows-rows {
			return fmt.Errorf("row group %d: damaged: it says it has %d rows, the file %d", i, group.NumRows, meta.NumRows)
		}
		rows += group.NumRows
		if len(group.Columns) != meta.Schema.NumColumns() {
			return fmt.Errorf("row group %d: damaged: %d columns where the schema has %d", i, len(group.Columns), meta.Schema.NumColumns())
		}
		for j := range group.Columns {
			if err := checkChunk(meta, i, j, end); err != nil {
				return fmt.Errorf("row group %d: column %q: %w", i, meta.Schema.Column(j).Path(), err)
			}
		}
	}
	if rows != meta.NumRows {
		return fmt.Errorf("damaged: it says it has %d rows, its row groups %d", meta.NumRows, rows)
	}
	return nil
}

// checkChunk checks a column of a row group.
func checkChunk(meta *metadata.FileMetaData, group, column int, end int64) error {
	chunk := meta.RowGroups[group].Columns[column]
	m := chunk.MetaData
	switch {
	case chunk.FilePath != nil:
		return errors.New("its data is in another file, which is not read")
	case m == nil:
		return errors.New("it is encrypted: decrypt the file first")
	case chunk.CryptoMetadata != nil:
		return errors.New("it is encrypted: decrypt the file first")
	}
	descr := meta.Schema.Column(column)
	rows := meta.RowGroups[group].NumRows
	if int32(m.Type) != int32(descr.PhysicalType()) {
		return errors.New("damaged: its type is not the schema's")
	}
	if m.NumValues < 0 || descr.MaxRepetitionLevel() == 0 && m.NumValues != rows || m.NumValues < rows {
		return fmt.Errorf("damaged: it says it has %d values for %d rows", m.NumValues, rows)
	}
	start, length := chunkRange(meta, group, column)
	if length < 0 || m.TotalUncompressedSize < 0 || start < int64(len(magic)) && length > 0 || start < 0 || length > end || start > end-length {
		return fmt.Errorf("damaged: %d octets at %d of a file whose data ends at %d", length, start, end)
	}
	if decompressors[compress.Compression(m.Codec)] == nil {
		return fmt.Errorf("it is compressed with %s, which is not read: write it with zstd, snappy, gzip or LZ4_RAW", m.Codec)
	}
	return nil
}

// checkStoredSchema checks the Arrow schema that some writers store, for the
// library believes it, and removes one that has unknown types: columns then have
// those that Parquet's own schema says.
func checkStoredSchema(meta *metadata.FileMetaData) error {
	pairs := meta.FileMetaData.KeyValueMetadata
	kept := pairs[:0]
	for _, pair := range pairs {
		if pair.Key == schemaKey {
			err := readStoredSchema(pair.GetValue())
			switch {
			case errors.Is(err, arrowipc.ErrUnsupported):
				continue
			case err != nil:
				return fmt.Errorf("damaged: the Arrow schema stored in it cannot be read: %w", err)
			}
		}
		kept = append(kept, pair)
	}
	meta.FileMetaData.KeyValueMetadata = kept
	return nil
}

// readStoredSchema reads a schema in base64.
func readStoredSchema(text string) error {
	encoding := base64.RawStdEncoding
	if len(text)%4 == 0 {
		encoding = base64.StdEncoding
	}
	stream, err := encoding.DecodeString(text)
	if err != nil {
		return err
	}
	return guard(func() error {
		_, err := arrowipc.ReadSchema(stream)
		return err
	})
}

// chunkRange returns where the library looks for a column of a row group.
func chunkRange(meta *metadata.FileMetaData, group, column int) (start, length int64) {
	m := meta.RowGroups[group].Columns[column].MetaData
	start = m.DataPageOffset
	if d := m.DictionaryPageOffset; d != nil && *d > 0 && *d < start {
		start = *d
	}
	return start, m.TotalCompressedSize
}

// guard calls f, which calls the library, and makes an error of a panic.
func guard(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case tooLarge:
			err = fmt.Errorf("it asks for a buffer of %d octets: raise -memory, or it is damaged", int64(p))
		default:
			err = fmt.Errorf("damaged: the Parquet library cannot read it: %v", p)
		}
	}()
	return f()
}
