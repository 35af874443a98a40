package format

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding/unicode"

	"robotsbatch/io/store/compress"
)

// sniffBuffer holds an input's first bytes, and serves small reads after.
const sniffBuffer = 64 << 10

// Sniff returns the format and the compression of an input, from its first bytes and its name,
// and a reader of the whole input, decompressed. UTF-16 with a byte order mark becomes UTF-8,
// with U+FFFD for half of a surrogate pair. Closing the reader ends the decompression and
// leaves r open.
//
// Sniff waits for HeadSize bytes or the end. An error before the first byte names the input;
// later errors come from the reader. An input named .gz or .zst that is not compressed is read
// as it is; one without a complete header has been cut off.
func Sniff(r io.Reader, name string) (Format, compress.Codec, io.ReadCloser, error) {
	raw := bufio.NewReaderSize(r, sniffBuffer)
	head, err := peek(raw)
	if err != nil {
		return Unknown, compress.None, nil, fmt.Errorf("%s: %w", name, err)
	}
	named, plainName := compress.ByName(name)
	codec := compress.Detect(head)
	if codec == compress.None && named != compress.None && len(head) < compress.DetectSize {
		return Unknown, named, nil, fmt.Errorf("%s: %w", name, compress.ErrCut(named))
	}
	text, end := raw, io.NopCloser(r) // end ends the decompression
	if codec != compress.None {
		if end, err = compress.NewReader(raw, codec); err != nil {
			return Unknown, codec, nil, fmt.Errorf("%s: %w", name, err)
		}
		text = bufio.NewReaderSize(end, sniffBuffer)
		head, err = peek(text)
	}
	found := Unknown
	if err == nil {
		found, text, err = sniffDecompressed(text, head, plainName)
	}
	if err != nil {
		end.Close()
		return Unknown, codec, nil, fmt.Errorf("%s: %w", name, err)
	}
	return found, codec, readCloser{text, end}, nil
}

// sniffDecompressed returns the format of the decompressed bytes in r, which begin with head, and a
// reader of all of them as UTF-8. plainName is the input's name without the ending of a compression.
func sniffDecompressed(r *bufio.Reader, head []byte, plainName string) (Format, *bufio.Reader, error) {
	switch {
	case bytes.HasPrefix(head, []byte("\xFF\xFE\x00\x00")) || bytes.HasPrefix(head, []byte("\x00\x00\xFE\xFF")):
		return Unknown, nil, errors.New("the text is UTF-32: convert it to UTF-8")
	case bytes.HasPrefix(head, []byte("\xFF\xFE")) || bytes.HasPrefix(head, []byte("\xFE\xFF")):
		utf8 := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(r)
		r = bufio.NewReaderSize(utf8, sniffBuffer)
		var err error
		if head, err = peek(r); err != nil {
			return Unknown, nil, err
		}
	}
	// Without an error each line would be a row without a URL.
	if err := cmp.Or(errPacked(head), errLayout(head)); err != nil {
		return Unknown, nil, err
	}
	found := Detect(head, plainName)
	if found == Text { // the ending .txt may say less than the bytes
		found = cmp.Or(Detect(head, ""), found)
	}
	if found == Text || found == Unknown {
		found = cmp.Or(tableByHeader(head), found)
	}
	return found, r, nil
}

// errPacked returns the error for a compression that is not read, such as bzip2, or an archive. It
// names the program that decompresses it.
func errPacked(head []byte) error {
	for _, r := range [...]struct{ magic, what, program string }{
		{"1AY&SY", "bzip2", "bzcat"},
		{"\xFD7zXZ\x00", "xz", "xzcat"},
		{"PK\x03\x04", "a zip archive", "unzip -p"},
		{"\x04\x22\x4D\x18", "lz4", "lz4cat"},
		{"\x5D\x00\x00", "lzma", "lzcat"},
		{"\x1F\x9D", "a file of compress", "uncompress -c"},
	} {
		start := head
		if bytes.HasPrefix(head, []byte("BZh")) && len(head) > 4 {
			start = head[4:] // after the level, the magic of a block
		}
		if bytes.HasPrefix(start, []byte(r.magic)) {
			if bytes.Contains(head, []byte("[Content_Types].xml")) {
				return errors.New("it is an Office file: save the sheet as csv")
			}
			return fmt.Errorf("it is %s, which is not read: pipe it in decompressed, as %s writes it", r.what, r.program)
		}
	}
	return nil
}

// errLayout returns the error for text whose lines end in CR alone, and for JSON that is not an
// object a line. It names the program that converts it.
func errLayout(head []byte) error {
	text := bytes.TrimLeft(withoutMark(head), " \t\r\n")
	hasCR := bytes.Contains(bytes.TrimRight(text, "\r"), []byte("\r")) // before the last byte, after which an LF may come
	if hasCR && !bytes.ContainsAny(text, "\n\x00") {
		return errors.New(`its lines end in CR alone: pipe it in as tr '\r' '\n' writes it`)
	}
	if len(text) == 0 {
		return nil
	}
	member := bytes.TrimLeft(text[1:], " \t\r\n") // the first one, if text is JSON
	space := text[1 : len(text)-len(member)]
	switch {
	case len(member) == 0:
	case text[0] == '[' && member[0] == '{':
		return errors.New("it is a JSON array, and jsonl has an object a line: pipe it in as jq -c '.[]' writes it")
	case text[0] == '[' && member[0] == '"':
		return errors.New("it is a JSON array, and a list has a URL a line: pipe it in as jq -r '.[]' writes it")
	case text[0] == '{' && member[0] == '"' && bytes.ContainsAny(space, "\r\n"):
		return errors.New("it is JSON over several lines, and jsonl has an object a line: pipe it in as jq -c . writes it")
	}
	return nil
}

// feather1 begins a file of Feather's first version.
const feather1 = "FEA1"

// Foreign returns an error if head starts a file of another kind than a list of URLs, such as an
// SQLite database, and says how to make a list of it; else nil.
func Foreign(head []byte) error {
	text := bytes.ToLower(bytes.TrimLeft(withoutMark(head), " \t\r\n"))
	begins := func(with string) bool { return bytes.HasPrefix(text, []byte(with)) }
	switch {
	case bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		return errors.New(`it is an SQLite database: pipe in its URLs, as sqlite3 FILE "select url from TABLE" writes them`)
	case bytes.HasPrefix(head, []byte("ORC")) && bytes.IndexByte(head, 0) > 0:
		return errors.New("it is ORC, which is not read: write it as Parquet, such as with pyarrow.orc")
	case bytes.HasPrefix(head, []byte(feather1)):
		return errors.New("it is Feather of version 1, which is not read: write it as version 2, such as with pyarrow.feather")
	case bytes.HasPrefix(head, []byte("Obj\x01")):
		return errors.New("it is Avro, which is not read: write it as Parquet")
	case len(head) > 262 && string(head[257:262]) == "ustar": // the magic in its first header
		return errors.New("it is a tar archive: pipe in what it has, as tar xOf FILE writes it")
	case begins("<!doctype html") || begins("<html"):
		return errors.New("it is HTML, and a list has a URL a line")
	case begins("<?xml") || begins("<urlset") || begins("<sitemapindex"):
		return errors.New(`it is XML: pipe in a sitemap's URLs, as grep -o '<loc>[^<]*' FILE | sed 's/<loc>//; s/&amp;/\&/g' writes them`)
	}
	return nil
}

// peek returns the first HeadSize bytes of r, or fewer before its end or an error. It only returns an
// error if that comes before the first byte.
func peek(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(HeadSize)
	if len(head) > 0 || err == io.EOF {
		err = nil
	}
	return head, err
}

type readCloser struct {
	io.Reader
	io.Closer
}

// Head returns the first bytes of a reader that Sniff returned and that was not read from yet.
// They are valid until it is read.
func Head(r io.ReadCloser) []byte {
	if sniffed, ok := r.(readCloser); ok {
		if buffered, ok := sniffed.Reader.(*bufio.Reader); ok {
			head, _ := buffered.Peek(HeadSize)
			return head
		}
	}
	return nil
}
