package rulesdir

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"robotsbatch/io/store/compress"
	"robotsbatch/matcher/urls"
)

// nameIndex maps authorities to a folder's files. It does not change once it is built.
//
// It is made for a million names. Records and names lie in two arrays without pointers, and
// a map finds records by a hash. So an authority without a file, as most authorities of a
// frontier are, costs one map access.
type nameIndex struct {
	seed    maphash.Seed
	first   map[uint32]uint32 // hash of a key → the first record with that hash
	records []entry
	names   []byte
	objects []objectVersion // by record, in a store; else nil

	listed, ignored int // as Stats.Listed, and Ignored
}

// entry is one file, or one folder HOST that may have a robots.txt in it.
type entry struct {
	name    uint32 // offset of its name in index.names
	next    uint32 // the next record with the same hash, or none
	nameLen uint16
	keyLen  uint16
	tier    tier
	isDir   bool
	// apart means that the key follows the name. Otherwise, as nearly always, the name
	// starts with the key.
	apart bool
}

// none means no record.
const none = math.MaxUint32

// listBatch is the number of names that are listed at once.
const listBatch = 1024

// newIndex lists a folder and returns the index of its files. ignored is as Options.Ignored.
func newIndex(f folder, ignored func(name string)) (*nameIndex, error) {
	b := builder{folder: f, index: &nameIndex{seed: maphash.MakeSeed()}, ignored: ignored}
	list := func() error { return b.list(general) }
	if f.objects != nil {
		list = b.listObjects
	}
	if err := list(); err != nil {
		return nil, err
	}
	if err := b.link(); err != nil {
		return nil, err
	}
	return b.index, nil
}

// schemes are those that have rules, each with the tiers of its files, in order of precedence.
var schemes = [...]struct {
	text  []byte
	tiers []tier
}{
	{[]byte("http://"), []tier{httpOnly, port80, general}},
	{[]byte("https://"), []tier{httpsOnly, port443, general}},
	{[]byte("ftp://"), []tier{ftpOnly}},
}

// candidates are the files that may have an authority's rules, in the order of its scheme's tiers;
// none for a tier without a file.
type candidates [3]uint32

// find returns the records that may have an authority's rules. authority is a key that
// urls.Scratch.Split returns.
func (x *nameIndex) find(authority []byte) candidates {
	found := candidates{none, none, none}
	for _, scheme := range schemes {
		key, ok := bytes.CutPrefix(authority, scheme.text)
		if !ok {
			continue
		}
		for i := x.head(x.hash(key)); i != none; i = x.records[i].next {
			r := &x.records[i]
			if place := slices.Index(scheme.tiers, r.tier); place >= 0 && bytes.Equal(x.key(r), key) {
				found[place] = i
			}
		}
	}
	return found
}

// head returns the first record with a hash, or none.
func (x *nameIndex) head(hash uint32) uint32 {
	if i, ok := x.first[hash]; ok {
		return i
	}
	return none
}

// hash returns half of a 64-bit hash, so that the map takes half the memory.
func (x *nameIndex) hash(key []byte) uint32 { return uint32(maphash.Bytes(x.seed, key)) }

// key returns the part after "://" in the keys of the record's authorities.
func (x *nameIndex) key(r *entry) []byte {
	at := int(r.name)
	if r.apart {
		at += int(r.nameLen)
	}
	return x.names[at : at+int(r.keyLen)]
}

// path returns the record's name, relative to the folder.
func (x *nameIndex) path(r *entry) string {
	return r.tier.path(string(x.names[r.name : int(r.name)+int(r.nameLen)]))
}

// builder builds an index.
type builder struct {
	folder  folder
	index   *nameIndex
	namer   namer
	ignored func(name string) // may be nil

	clashes []error // the first mostClashes pairs of files without precedence
	more    int     // number of further ones
}

// mostClashes is the most pairs of files for one authority that an error names.
const mostClashes = 10

// list adds the names in the folder of a tier, without its scheme's folders.
func (b *builder) list(in tier) error {
	name := cmp.Or(folders[in], ".")
	f, err := b.folder.openList(name)
	if err != nil {
		return b.folder.withPath(name, err)
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(listBatch)
		for _, e := range entries {
			if err := b.addEntry(e, in); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return b.folder.withPath(name, err)
		}
	}
}

// addEntry adds a name that was listed in the folder of tier in. If it is a folder of a
// scheme, addEntry adds the names in that.
func (b *builder) addEntry(e fs.DirEntry, in tier) error {
	name, isDir := e.Name(), e.IsDir()
	t, ofScheme := folderTier(name)
	ofScheme = ofScheme && in == general
	if e.Type()&fs.ModeSymlink != 0 {
		// A broken link with the name of a host counts as a file; the error comes when the
		// file is opened. A broken link with the name of a scheme is an error now.
		info, err := b.folder.root.Stat(in.path(name))
		if err != nil && ofScheme {
			return b.folder.withPath(name, err)
		}
		isDir = err == nil && info.IsDir()
	}
	if ofScheme && isDir {
		return b.list(t)
	}
	return b.add(name, isDir, in)
}

// add adds a record for a name that is in the folder of tier in. A name that belongs to no authority gets
// none: it is counted in ignored and, unless it is hidden, reported.
func (b *builder) add(name string, isDir bool, in tier) error {
	x := b.index
	key, t, ok := b.namer.parse(name, isDir, in)
	if !ok || len(name) > math.MaxUint16 || len(key) > math.MaxUint16 {
		x.ignored++
		if b.ignored != nil && !isHidden(name) {
			b.ignored(in.path(name))
		}
		return nil
	}
	if uint64(len(x.names)+len(name)+len(key)) > math.MaxUint32 {
		return fmt.Errorf("%s: too many files: their names have more than 4 GiB; split the folder", b.folder.name)
	}
	r := entry{
		name: uint32(len(x.names)), nameLen: uint16(len(name)), keyLen: uint16(len(key)),
		tier: t, isDir: isDir, apart: !bytes.HasPrefix([]byte(name), key),
	}
	x.names = append(x.names, name...)
	if r.apart {
		x.names = append(x.names, key...)
	}
	x.records = append(x.records, r)
	x.listed++
	return nil
}

// link builds the map from hashes to records, in which records with the same hash are a list. Of two records
// for the same authority, resolveClash leaves out one. The error names the pairs of which it cannot.
func (b *builder) link() error {
	x := b.index
	x.first = make(map[uint32]uint32, len(x.records))
	for i := range x.records {
		r := &x.records[i]
		key := x.key(r)
		hash := x.hash(key)
		head := x.head(hash)
		for j := head; j != none; j = x.records[j].next {
			other := &x.records[j]
			if r.tier == nowhere || other.tier != r.tier || !bytes.Equal(x.key(other), key) {
				continue
			}
			if err := b.resolveClash(j, uint32(i)); err != nil {
				return err
			}
		}
		r.next, x.first[hash] = head, uint32(i)
	}
	slices.SortFunc(b.clashes, func(x, y error) int { return cmp.Compare(x.Error(), y.Error()) })
	if b.more > 0 {
		b.clashes = append(b.clashes, fmt.Errorf("and %d more pairs of files are for one host each", b.more))
	}
	return errors.Join(b.clashes...)
}

// resolveClash leaves out, by the tier nowhere, one of two records for the same authority, given by their
// indices: a folder without a robots.txt, or the second of two files with the same body. Any other pair
// is recorded in clashes.
func (b *builder) resolveClash(first, second uint32) error {
	var paths [2]string
	var bodies [2][]byte
	for i, number := range []uint32{first, second} {
		r, size := &b.index.records[number], int64(-1) // a file's size is not compared
		if b.folder.objects != nil {
			size = b.index.objects[number].size
		}
		body, path, err := b.folder.readRecord(b.index.path(r), r.isDir, size)
		if err != nil {
			return err
		}
		if path == "" { // a folder without a robots.txt
			r.tier = nowhere
			b.index.listed--
			return nil
		}
		bodies[i], paths[i] = body, path
	}
	switch {
	case len(bodies[0]) <= mostCompared && bytes.Equal(bodies[0], bodies[1]):
		b.index.records[second].tier = nowhere
		b.index.listed--
	case len(b.clashes) == mostClashes:
		b.more++
	default:
		b.clashes = append(b.clashes, b.folder.errClash(paths[0], paths[1], string(b.index.key(&b.index.records[first]))))
	}
	return nil
}

// tier is the set of schemes and ports that a file is for; its folder and its port tell.
type tier uint8

const (
	general   tier = iota // http and https: HOST, HOST_8443
	port80                // http: HOST_80
	port443               // https: HOST_443
	httpOnly              // http/…
	httpsOnly             // https/…
	ftpOnly               // ftp/…
	nowhere               // nothing: a folder without a robots.txt, or one of two files with the same body
	tierCount
)

// folders are the names of the tiers' folders, and their schemes.
var folders = [tierCount]string{httpOnly: "http", httpsOnly: "https", ftpOnly: "ftp"}

// path returns the path, in the whole folder, of a name in the tier's folder.
func (t tier) path(name string) string {
	if folders[t] == "" {
		return name
	}
	return folders[t] + "/" + name
}

// folderTier returns the tier that has a folder with that name; ok is false for any other
// name.
func folderTier(name string) (t tier, ok bool) {
	i := slices.Index(folders[:], name)
	return tier(i), i >= 0 && name != ""
}

// IsRules reports whether the file at that path in a folder of rules is a host's robots.txt. It judges by
// the path alone.
func IsRules(path string) bool {
	in := general
	if folder, rest, ok := strings.Cut(path, "/"); ok {
		if t, is := folderTier(folder); is {
			in, path = t, rest
		}
	}
	host, file, isDir := strings.Cut(path, "/")
	if _, plain := compress.ByName(file); isDir && plain != "robots.txt" { // plain is without .gz or the like
		return false
	}
	_, _, ok := new(namer).parse(host, isDir, in)
	return ok
}

// namer parses names. It belongs to one goroutine.
type namer struct {
	scratch urls.Scratch
	url     []byte
}

// parse parses a name that lies in the folder of tier in. It returns the tier that the name's
// port selects, and the part after "://" of its authorities' keys, valid until the next call.
// ok is false if no host can have the name.
func (n *namer) parse(name string, isDir bool, in tier) (key []byte, t tier, ok bool) {
	if !isDir && isOtherFile(name) {
		return nil, 0, false
	}
	host := name
	if !isDir {
		host = cutEndings(name)
	}
	host, port, ok := cutPort(host)
	// In a URL these would end the host, or they cannot be in it.
	if !ok || isMangledURL(host) || isHidden(host) || strings.ContainsAny(host, "/\\?#;@% \t\r\n\v\f") {
		return nil, 0, false
	}
	scheme, t := folders[in], in
	if in == general { // any scheme would do, but by the port's own one Split leaves a default port out of the key
		scheme = "http"
		switch port {
		case 80:
			t = port80
		case 443:
			scheme, t = "https", port443
		}
	}
	n.url = append(append(n.url[:0], scheme...), "://"...)
	n.url = appendHost(n.url, host)
	if port != 0 {
		n.url = strconv.AppendUint(append(n.url, ':'), uint64(port), 10)
	}
	authority, _, err := n.scratch.Split(n.url)
	if err != nil {
		return nil, 0, false
	}
	return authority[len(scheme)+len("://"):], t, true
}

// isHidden reports whether a name starts with a dot, or is one that programs use for notes,
// such as _SUCCESS. A host may begin with an underscore, too, but then it has a dot.
func isHidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") && !strings.Contains(name, ".")
}

// isMangledURL reports whether a name is a URL with its punctuation replaced, such as
// https___example.com, which some programs write.
func isMangledURL(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "http__") || strings.HasPrefix(name, "https__") || strings.HasPrefix(name, "ftp__")
}

// isOtherFile reports whether a file's name, which may end in .gz or .zst, cannot be that of a host: a
// robots.txt outside a folder HOST, a README, or an extension that is no top-level domain.
func isOtherFile(name string) bool {
	_, name = compress.ByName(strings.ToLower(name))
	if name == "robots.txt" {
		return true
	}
	stem, ending := name, ""
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		stem, ending = name[:i], name[i+1:]
	}
	switch stem {
	case "readme", "license", "licence", "copying", "notice", "authors", "changelog", "contributing", "makefile":
		return ending == "" || ending == "txt" || ending == "md" || ending == "rst"
	}
	switch ending {
	case "htm", "html", "xml", "json", "jsonl", "ndjson", "yaml", "yml", "toml", "ini", "csv", "tsv", "pdf", "log",
		"bak", "orig", "tmp", "swp", "part", "lock", "sha256", "md5", "tar", "tgz", "bz2", "xz", "sqlite", "sqlite3", "db", "duckdb", "orc", "avro", "xlsx", "parquet", "pq", "arrow", "arrows", "feather", "warc", "rules":
		return true
	}
	return false
}

// cutEndings returns a file's name without what may follow HOST: robots.txt, .txt, .gz and
// .zst.
func cutEndings(name string) string {
	_, name = compress.ByName(name)
	if host, ok := strings.CutSuffix(name, "/robots.txt"); ok { // in a store
		return host
	}
	for _, form := range []string{".robots.txt", "_robots.txt", ".txt"} {
		if n := len(name) - len(form); n >= 0 && strings.EqualFold(name[n:], form) {
			return name[:n]
		}
	}
	return name
}

// cutPort splits a port from the end of a name: digits after the last underscore, or after the
// only colon outside brackets. Without a port it returns 0. ok is false for a port that is
// invalid.
func cutPort(name string) (host string, port uint16, ok bool) {
	separators := "_:"
	outside := name[strings.LastIndexByte(name, ']')+1:] // what follows brackets; all of name without them
	if strings.Count(outside, ":") > 1 {
		separators = "_" // an IPv6 address without brackets
	}
	i := strings.LastIndexAny(outside, separators)
	if i < 0 {
		return name, 0, true
	}
	separator, digits := outside[i], outside[i+1:]
	if strings.Trim(digits, "0123456789") != "" || digits == "" {
		return name, 0, separator == '_' // as in foo_bar.example
	}
	number, err := strconv.ParseUint(digits, 10, 16)
	return name[:len(name)-len(digits)-1], uint16(number), err == nil && number != 0
}

// appendHost appends a host as URLs have it: an IPv6 address in brackets, its groups separated
// by colons.
func appendHost(url []byte, host string) []byte {
	switch {
	case strings.HasPrefix(host, "["):
		return append(url, strings.ReplaceAll(host, "-", ":")...)
	case strings.Count(host, ":") > 1:
		return append(append(append(url, '['), host...), ']')
	}
	return append(url, host...)
}
