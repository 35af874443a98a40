package rulesdir

import (
	"slices"
	"strconv"
	"strings"

	"robotsbatch/io/store/compress"
	"robotsbatch/matcher/urls"
)

// tier is the set of schemes and ports that a file is for; its folder and its port tell.
type tier uint8

const (
	general   tier = iota // http and https: HOST, HOST_8443
	port80                // http: HOST_80
	port443               // https: HOST_443
	httpOnly              // http/…
	httpsOnly             // https/…
	ftpOnly               // ftp/…
	nowhere               // a folder without robots.txt: nothing
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

// IsRules reports whether the file at that path in a folder of rules is a host's robots.txt.
func IsRules(path string) bool {
	in := general
	if folder, rest, ok := strings.Cut(path, "/"); ok {
		if t, is := folderTier(folder); is {
			in, path = t, rest
		}
	}
	host, file, isDir := strings.Cut(path, "/")
	if _, plain := compress.ByName(file); isDir && plain != "robots.txt" {
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
	if in == general { // the port's own scheme, so that Split leaves a default port out of the key
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

// isOtherFile reports whether a file's name cannot be that of a host: a robots.txt outside a
// folder HOST, a README, or an extension that is no top-level domain.
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
	outside := name[strings.LastIndexByte(name, ']')+1:]
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
