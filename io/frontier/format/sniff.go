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
	named, plain := compress.ByName(name)
	codec := compress.Detect(head)
	if codec == compress.None {
		if named != compress.None && len(head) < compress.DetectSize {
			return Unknown, named, nil, fmt.Errorf("%s: %w", name, compress.ErrCut(named))
		}
		return sniffDecompressed(raw, head, plain, name, codec, io.NopCloser(r))
	}
	decompressed, err := compress.NewReader(raw, codec)
	if err != nil {
		return Unknown, codec, nil, fmt.Errorf("%s: %w", name, err)
	}
	buffered := bufio.NewReaderSize(decompressed, sniffBuffer)
	if head, err = peek(buffered); err != nil {
		decompressed.Close()
		return Unknown, codec, nil, fmt.Errorf("%s: %w", name, err)
	}
	return sniffDecompressed(buffered, head, plain, name, codec, decompressed)
}

// sniffDecompressed does what Sniff does, after decompression: r has the decompressed bytes, which
// begin with head, and plain is the input's name without the ending of the compression. closer ends
// the decompression; sniffDecompressed closes it after an error.
func sniffDecompressed(r *bufio.Reader, head []byte, plain, name string, codec compress.Codec, closer io.Closer) (Format, compress.Codec, io.ReadCloser, error) {
	switch {
	case bytes.HasPrefix(head, []byte("\xFF\xFE\x00\x00")) || bytes.HasPrefix(head, []byte("\x00\x00\xFE\xFF")):
		closer.Close()
		return Unknown, codec, nil, fmt.Errorf("%s: the text is UTF-32: convert it to UTF-8", name)
	case bytes.HasPrefix(head, []byte("\xFF\xFE")) || bytes.HasPrefix(head, []byte("\xFE\xFF")):
		utf8 := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(r)
		r = bufio.NewReaderSize(utf8, sniffBuffer)
		var err error
		if head, err = peek(r); err != nil {
			closer.Close()
			return Unknown, codec, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := errUnsupported(head, name); err != nil {
		closer.Close()
		return Unknown, codec, nil, err
	}
	found := Detect(head, plain)
	if found == Text { // the ending .txt may say less than the bytes
		found = cmp.Or(Detect(head, ""), found)
	}
	if found == Text || found == Unknown {
		found = cmp.Or(tableByHeader(head), found)
	}
	return found, codec, readCloser{r, closer}, nil
}

// errUnsupported returns an error for an input that is compressed or laid out in a way that is not
// read, and names the program that converts it; nil for any other. Without the error each line
// would be a row without a URL. head has the first bytes.
func errUnsupported(head []byte, name string) error {
	return cmp.Or(errPacked(head, name), errLayout(head, name))
}

// errPacked returns the error for a compression that is not read, such as bzip2, or an archive.
func errPacked(head []byte, name string) error {
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
				return fmt.Errorf("%s: it is an Office file: save the sheet as csv", name)
			}
			return fmt.Errorf("%s: it is %s, which is not read: pipe it in decompressed, as %s writes it", name, r.what, r.program)
		}
	}
	return nil
}

// errLayout returns the error for text whose lines end in CR alone, and for JSON that is not an
// object a line.
func errLayout(head []byte, name string) error {
	text := bytes.TrimLeft(withoutMark(head), " \t\r\n")
	if bytes.Contains(bytes.TrimRight(text, "\r"), []byte("\r")) && !bytes.ContainsAny(text, "\n\x00") {
		return fmt.Errorf(`%s: its lines end in CR alone: pipe it in as tr '\r' '\n' writes it`, name)
	}
	if len(text) == 0 || text[0] != '[' && text[0] != '{' {
		return nil
	}
	inside := text[1:]
	first := bytes.TrimLeft(inside, " \t\r\n")
	switch {
	case len(first) == 0:
	case text[0] == '[' && (first[0] == '{' || first[0] == '"'):
		what, program := "jsonl has an object a line", "jq -c '.[]'"
		if first[0] == '"' {
			what, program = "a list has a URL a line", "jq -r '.[]'"
		}
		return fmt.Errorf("%s: it is a JSON array, and %s: pipe it in as %s writes it", name, what, program)
	case text[0] == '{' && first[0] == '"' && bytes.ContainsAny(inside[:len(inside)-len(first)], "\r\n"):
		return fmt.Errorf("%s: it is JSON over several lines, and jsonl has an object a line: pipe it in as jq -c . writes it", name)
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
			head, _ := buffered.Peek(min(HeadSize, buffered.Size()))
			return head
		}
	}
	return nil
}
