package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"time"
)

// mode is the file's permissions.
func (f *file) mode() fs.FileMode {
	if f.program {
		return 0o755
	}
	return 0o644
}

// tarred returns a compressed tar archive of files below a folder, which are nobody's
// in particular.
func tarred(folder string, files []file, modified time.Time) ([]byte, error) {
	var data bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&data, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	for _, f := range files {
		header := tar.Header{
			Name: folder + "/" + f.name, Size: int64(len(f.data)), Mode: int64(f.mode()), ModTime: modified, Format: tar.FormatUSTAR,
		}
		if err := w.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = compressed.Close()
	return data.Bytes(), err
}

// zipped returns a zip archive of the same.
func zipped(folder string, files []file, modified time.Time) ([]byte, error) {
	var data bytes.Buffer
	w := zip.NewWriter(&data)
	for _, f := range files {
		header := zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: modified}
		header.SetMode(f.mode())
		entry, err := w.CreateHeader(&header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return data.Bytes(), err
}
