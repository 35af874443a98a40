package rulesdir

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/io/store/cache"
	"robotsbatch/io/store/compress"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

const (
	// firstBuffer is the first size of a buffer for bodies: most are smaller.
	firstBuffer = 16 << 10
	// keptBuffer is the largest buffer that is reused for the next body. A workspace with a
	// larger buffer is freed, and with it some forty times as much memory for parsing and
	// compiling.
	keptBuffer = 128 << 10
	// perTrie is the memory of a trie's or the rules' own fields, with some slack.
	perTrie = 192
)

// workspace has the memory for reading, parsing and compiling bodies, one after the other.
type workspace struct {
	body     []byte
	parser   robotstxt.Parser
	compiler matcher.Compiler
	tag      [16]byte // a digest
	nonce    [12]byte // zeros
}

// rules are a compiled body. Files with equal bodies share them.
type rules struct {
	tries   []matcher.Trie // with of, the fields of a matcher.Origin
	of      []uint32
	records *matcher.Records // nil unless they were asked for
	usage   *matcher.Usage   // nil unless it was asked for
	kind    robotstxt.BodyKind
	size    int64 // bytes of memory
}

// digest identifies a body.
type digest [16]byte

// newDigester returns what makes digests of bodies. Bodies may be hostile, so nobody must be
// able to make two with one digest. It uses GMAC, the hash of AES-GCM, with a secret random
// key, and nobody sees the digests. Two bodies of 512 KiB, chosen without the key, have the
// same digest with a probability of 2^-113. SHA-256 would take a tenth of a job's time. The
// nonce is always the same, which is safe as long as digests stay in memory.
func newDigester() cipher.AEAD {
	var key [16]byte
	_, _ = rand.Read(key[:])          // it never fails
	block, _ := aes.NewCipher(key[:]) // nor does it, for a key of that size,
	gcm, _ := cipher.NewGCM(block)    // nor for a block of AES
	return gcm
}

// absent is for a folder HOST without a robots.txt. It has no size, so it stays in the cache.
var absent = new(rules)

// countFile counts a file that was read. again says that it was read before.
func (d *Dir) countFile(r *rules, again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if again {
		d.stats.Rereads++
		return
	}
	d.stats.Files++
	switch r.kind {
	case robotstxt.HTMLKind:
		d.stats.HTML++
	case robotstxt.BinaryKind:
		d.stats.Binary++
	}
}

// compileRecord reads and compiles the file of an index record, for the cache: when the record is first
// needed, and again after its rules were dropped. The cache never calls it twice at a time for one record,
// so stamps needs no lock.
func (d *Dir) compileRecord(record uint32) (made cache.Value[digest, *rules], err error) {
	w, _ := d.workspaces.Get().(*workspace)
	if w == nil {
		w = &workspace{compiler: matcher.Compiler{Explain: d.o.Explain}}
	}
	defer func() {
		if cap(w.body) <= keptBuffer { // else it is too large to be kept
			d.workspaces.Put(w)
		}
	}()
	r, again := &d.index.records[record], d.stamps[record].read
	found, version, err := d.read(record, &w.body)
	if err == nil && again && !found { // it had a file: what has none stays in the cache
		err = d.folder.withPath(d.index.path(r)+"/robots.txt", os.ErrNotExist)
	}
	if err == nil {
		err = d.checkVersion(record, version)
	}
	if err != nil {
		return made, err
	}
	if !found {
		made.V = absent
		return made, nil
	}
	made.ID = digest(d.digester.Seal(w.tag[:0], w.nonce[:], nil, w.body))
	if made.V, err = d.rulesOf(made.ID, w); err != nil {
		return made, d.folder.withPath(d.index.path(r), err)
	}
	made.Size = made.V.size
	d.countFile(made.V, again)
	return made, nil
}

// rulesOf compiles the body in w, or returns the rules of an equal body, by its digest id.
// Many sites have the same body, because it comes with their software.
func (d *Dir) rulesOf(id digest, w *workspace) (*rules, error) {
	if same, ok := d.rules.ByID(id); ok {
		return same, nil
	}
	done, err := batch.Compiling(d.o.Budget, w.body)
	if err != nil {
		return nil, err
	}
	defer done()
	parsed := w.parser.Parse(w.body, d.parse)
	if d.o.Named != nil {
		parsed.AgentNames()(d.o.Named)
	}
	r := &rules{kind: parsed.Kind}
	r.tries, r.of = w.compiler.Compile(parsed, d.agents)
	r.size = perTrie*int64(len(r.tries)+1) + matcher.SizeOf(r.tries) + 4*int64(len(r.of))
	if d.o.Records {
		r.records = matcher.CollectRecords(parsed, d.agents)
		if d.o.Digests {
			counted, _ := robotstxt.Counted(w.body, d.parse)
			sum := sha256.Sum256(counted)
			r.records.Digest = hex.EncodeToString(sum[:])
		}
		r.size += int64(r.records.Size())
	}
	r.usage = w.compiler.CompileUsage(parsed, d.agents, d.o.Usage)
	r.size += int64(r.usage.Size())
	return r, nil
}

// read replaces *buffer by the body of an index record's file, decompressed, up to
// robotstxt.Options.ReadSize. found is false for a folder HOST without a robots.txt; version is
// then that of the folder.
func (d *Dir) read(record uint32, buffer *[]byte) (found bool, version manifest.File, err error) {
	r := &d.index.records[record]
	host := d.index.path(r)
	if d.folder.objects != nil {
		return d.readObject(host, d.index.objects[record], buffer)
	}
	if r.isDir { // stat the folder before the look for a robots.txt: one that is added after it changes the version
		info, err := d.folder.root.Stat(host)
		if err != nil {
			return false, version, d.folder.withPath(host, err)
		}
		version = versionOf(host+"/", info)
	}
	f, err := d.folder.openRecord(host, r.isDir)
	if err != nil || f == nil {
		return false, version, err
	}
	defer f.Close()
	if version, err = d.readFile(f, buffer); err != nil {
		return false, version, d.folder.withPath(f.path, err)
	}
	return true, version, d.checkSize(f.path, *buffer)
}

// checkSize returns an error for a body above robotstxt.MaxGoogleBody under the Google
// profile. That profile does not cut bodies, so one that is not read whole cannot be judged.
func (d *Dir) checkSize(path string, body []byte) error {
	if d.parse.Profile == robotstxt.Google && len(body) > robotstxt.MaxGoogleBody {
		return fmt.Errorf("%s: the body has more than %d MiB, which is no robots.txt: remove it",
			d.folder.full(path), robotstxt.MaxGoogleBody>>20)
	}
	return nil
}

// readFile replaces *buffer by the body of a file, as read does. It is an error if the file changes
// while it is read.
func (d *Dir) readFile(f *openFile, buffer *[]byte) (version manifest.File, err error) {
	var in io.ReadSeeker = f
	if size := f.info.Size(); size > 0 { // a file of the system, as in /proc, says 0 and has bytes
		in = io.NewSectionReader(f, 0, size) // which knows its end without another read
	}
	if *buffer, err = d.readBody(in, f.path, (*buffer)[:0]); err != nil {
		return version, err
	}
	after, err := f.Stat()
	if err != nil {
		return version, err
	}
	if version = versionOf(f.path, f.info); stampOf(versionOf(f.path, after)) != stampOf(version) {
		return version, errChanged
	}
	return version, nil
}

// readBody appends a body that it reads from f to buffer, which must be empty, up to
// robotstxt.Options.ReadSize. It decompresses gzip and zstd, whatever the file's name is, as often
// as the body is compressed, but at most compress.MaxLayers times.
func (d *Dir) readBody(f io.ReadSeeker, path string, buffer []byte) ([]byte, error) {
	codec, _ := compress.ByName(path)
	if codec == compress.None {
		body, err := readUpTo(f, buffer, d.size)
		if codec = compress.Detect(body); err != nil || codec == compress.None {
			return body, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return body, err
		}
		buffer = body[:0]
	}
	for layer := 1; ; layer++ {
		body, err := d.decompressLayer(f, codec, buffer)
		if codec = compress.Detect(body); err != nil || codec == compress.None || layer == compress.MaxLayers {
			return body, err
		}
		f, buffer = bytes.NewReader(body), nil // body is read while buffer is filled
	}
}

// decompressLayer appends f to buffer with one compression undone, up to
// robotstxt.Options.ReadSize. Only one zstd file that needs a large window is read at a time.
func (d *Dir) decompressLayer(f io.ReadSeeker, codec compress.Codec, buffer []byte) ([]byte, error) {
	body, err := decompress(f, codec, compress.NewSmallReader, buffer, d.size)
	if !errors.Is(err, compress.ErrWindow) {
		return body, err
	}
	// Such a file asks for much more memory than its body has. One at a time
	// may have it.
	d.large.Lock()
	defer d.large.Unlock()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return body, err
	}
	return decompress(f, codec, compress.NewReader, body[:0], d.size)
}

// decompress appends up to limit decompressed bytes of f to buffer. newReader makes the reader
// that decompresses.
func decompress(f io.Reader, c compress.Codec, newReader func(io.Reader, compress.Codec) (io.ReadCloser, error), buffer []byte, limit int) ([]byte, error) {
	r, err := newReader(f, c)
	if err != nil {
		return buffer, err
	}
	defer r.Close()
	return readUpTo(r, buffer, limit)
}

// readUpTo appends bytes of r to buffer until that has limit bytes, or r ends.
func readUpTo(r io.Reader, buffer []byte, limit int) ([]byte, error) {
	for len(buffer) < limit {
		buffer = slices.Grow(buffer, max(1, firstBuffer-len(buffer))) // to firstBuffer at once, then as append does
		n, err := r.Read(buffer[len(buffer):min(cap(buffer), limit)])
		buffer = buffer[:len(buffer)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return buffer, err
		}
	}
	return buffer, nil
}

// errChanged is for a file that had changed when it was read again.
var errChanged = errors.New("it was written to or replaced after it was first read; the folder must not change while it is used")

// Version returns the version that a file in a local folder has now. name is that of Options.Used.
func Version(folder, name string) (version manifest.File, err error) {
	info, err := os.Stat(filepath.Join(folder, name))
	if err == nil {
		version = versionOf(name, info)
	}
	return version, err
}

// versionOf returns the version of the file or folder called name, from its info.
func versionOf(name string, info fs.FileInfo) manifest.File {
	version := manifest.File{Name: name, Modified: info.ModTime().UTC()}
	if !info.IsDir() {
		version.Size = info.Size()
	}
	return version
}

// stamp is the version of a file that was read.
type stamp struct {
	size, modified int64
	read           bool // false: nothing was read yet
}

func stampOf(version manifest.File) stamp {
	return stamp{version.Size, version.Modified.UnixNano(), true}
}

// checkVersion records the version of an index record's file when it is first read. It returns
// an error if another version was read before.
func (d *Dir) checkVersion(record uint32, version manifest.File) error {
	before, now := d.stamps[record], stampOf(version)
	if before.read && before != now {
		return d.folder.withPath(version.Name, errChanged)
	}
	d.stamps[record] = now
	if !before.read && d.o.Used != nil {
		d.o.Used(version)
	}
	return nil
}

// Names returns a checksum of all file names in the index: the sum of their hashes, so that it does not
// depend on the order of the listing. It changes if a name is added or removed.
func (d *Dir) Names() string {
	var sum xxh3.Uint128 // of the names' hashes, modulo 2^128
	for i := range d.index.records {
		r := &d.index.records[i]
		name := d.index.path(r)
		if r.isDir {
			name += "/"
		}
		h := xxh3.HashString128(name)
		var carry uint64
		sum.Lo, carry = bits.Add64(sum.Lo, h.Lo, 0)
		sum.Hi, _ = bits.Add64(sum.Hi, h.Hi, carry)
	}
	digits := sum.Bytes()
	return hex.EncodeToString(digits[:])
}
