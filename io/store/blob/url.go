package blob

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// URL names an object in a store, a folder of objects, or objects by a pattern:
//
//	s3://bucket/key?region=eu-central-1&endpoint=https://objects.example
//
// The key is what the store has, byte for byte: nothing in it is
// percent-encoded. A folder is all keys that begin with it; it ends with a
// slash, or is a bucket alone. Parameters are what follows the last question
// mark, if it reads name=value&name=value, or nothing at all; their values are
// percent-encoded. Any other question mark belongs to the key.
//
// A URL never has credentials, so it may be shown.
type URL struct {
	// Scheme is the kind of store, such as s3.
	Scheme string
	// Bucket is the bucket's or container's name.
	Bucket string
	// Key is the object's, without a slash at its beginning.
	Key string

	parameters string // as they were written
}

var (
	schemeForm     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*$`)
	bucketForm     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	parametersForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_.-]*=[^&]*(&[A-Za-z][A-Za-z0-9_.-]*=[^&]*)*)?$`)
)

// IsURL reports whether a name is a URL and not that of a file. Those of scheme
// file are URLs, too, see [LocalName].
func IsURL(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && schemeForm.MatchString(scheme)
}

// ParseURL parses the URL of an object, a folder or a pattern. It refuses a user, and
// parameters that the kind of store does not have, such as signatures. Errors show nothing of
// a URL that may be secret.
func ParseURL(name string) (URL, error) {
	scheme, rest, _ := strings.Cut(name, "://")
	u := URL{Scheme: strings.ToLower(scheme)}
	if i := strings.LastIndexByte(rest, '?'); i >= 0 && parametersForm.MatchString(rest[i+1:]) {
		rest, u.parameters = rest[:i], rest[i+1:]
	}
	u.Bucket, u.Key, _ = strings.Cut(rest, "/")
	store, ok := stores[u.Scheme]
	switch {
	case !ok:
		return URL{}, fmt.Errorf("%s: %s:// cannot be opened: there are %s", Shown(name), scheme, knownSchemes())
	case strings.Contains(u.Bucket, "@"):
		return URL{}, fmt.Errorf("%s: a URL with a user: leave it out; credentials come from the environment", Shown(name))
	case !bucketForm.MatchString(u.Bucket):
		return URL{}, fmt.Errorf("%s: this is no bucket's name: write %s://bucket/key", Shown(name), scheme)
	}
	return u, u.checkParameters(store)
}

// checkParameters returns an error for parameters that the kind of store does not have,
// because they may be credentials.
func (u URL) checkParameters(store Store) error {
	values, err := url.ParseQuery(u.parameters)
	if err != nil {
		return fmt.Errorf("%s: its parameters are not percent-encoded as they must be", u.Name())
	}
	for name, value := range values {
		if !slices.Contains(store.Parameters, name) {
			return fmt.Errorf("%s: the parameter %s is not for a %s:// URL, which may have %s; credentials come from the environment",
				u.Name(), name, u.Scheme, strings.Join(store.Parameters, ", "))
		}
		for _, v := range value {
			if inner, err := url.Parse(v); name == "endpoint" && (err != nil || inner.User != nil || inner.RawQuery != "") {
				return fmt.Errorf("%s: the parameter endpoint must be a plain URL, without a user or parameters of its own", u.Name())
			}
		}
	}
	return nil
}

// Name is the URL without its parameters: for people, and for what the end of a
// name says.
func (u URL) Name() string { return u.Scheme + "://" + u.Bucket + "/" + u.Key }

// String returns the whole URL, as Open and Create take it.
func (u URL) String() string {
	if u.parameters == "" && !strings.Contains(u.Key, "?") {
		return u.Name()
	}
	return u.Name() + "?" + u.parameters
}

// IsFolder reports whether the URL is that of a folder.
func (u URL) IsFolder() bool { return u.Key == "" || strings.HasSuffix(u.Key, "/") }

// Below is the URL of a key below the folder.
func (u URL) Below(key string) URL {
	u.Key += key
	return u
}

// Join returns the name of a file in a folder, on this machine or in a store. file has slashes, or
// what separates names on this machine.
func Join(folder, file string) string {
	if !IsURL(folder) {
		return filepath.Join(folder, filepath.FromSlash(file))
	}
	u, err := ParseURL(folder)
	switch {
	case err != nil: // opening the name says what is wrong
		return folder + "/" + file
	case !u.IsFolder():
		u = u.Below("/")
	}
	return u.Below(filepath.ToSlash(file)).String()
}

// Shown returns a name for messages: a URL without its user and parameters, which may be
// credentials, and any other name as it is. A password may have slashes, which end the host,
// so all before the last @ is left out then.
func Shown(name string) string {
	if !IsURL(name) {
		return name
	}
	scheme, rest, _ := strings.Cut(name, "://")
	_, isStore := stores[strings.ToLower(scheme)]
	if i := strings.LastIndexByte(rest, '?'); i >= 0 && parametersForm.MatchString(rest[i+1:]) {
		rest = rest[:i]
	} else if !isStore {
		rest, _, _ = strings.Cut(rest, "?")
	}
	host, _, _ := strings.Cut(rest, "/")
	host, port, hasPort := strings.Cut(host, ":")
	at := strings.LastIndexByte(rest, '@')
	switch {
	case at >= 0 && (hasPort || at < len(host)): // a user before the @, perhaps with a password
		rest = "…" + rest[at:]
	case hasPort && strings.Trim(port, "0123456789") != "": // no port, but perhaps a password
		rest = "…"
	}
	return scheme + "://" + rest
}

// hide removes the values of the URL's parameters from an error's text, because they may be
// credentials in the wrong place.
func (u URL) hide(text string) string {
	const leastSecret = 4 // bytes
	values, _ := url.ParseQuery(u.parameters)
	for _, value := range values {
		for _, v := range value {
			if len(v) < leastSecret || slices.Contains([]string{"true", "false", "http", "https"}, v) { // words of messages
				continue
			}
			for _, form := range []string{v, url.QueryEscape(v), url.PathEscape(v), strings.Trim(strconv.Quote(v), `"`)} {
				text = strings.ReplaceAll(text, form, "…")
			}
		}
	}
	return text
}

// LocalName returns the path of the local file that a file:// URL names. It returns any other
// name as it is.
func LocalName(name string) (string, error) {
	scheme, rest, ok := strings.Cut(name, "://")
	if !ok || !strings.EqualFold(scheme, "file") {
		return name, nil
	}
	host, file, _ := strings.Cut(rest, "/")
	if host != "" && !strings.EqualFold(host, "localhost") {
		return "", fmt.Errorf("%s: a file is on this machine: write three slashes, file:///folder/file", Shown(name))
	}
	local, err := url.PathUnescape("/" + file)
	if err != nil || strings.ContainsRune(local, 0) {
		return "", fmt.Errorf("%s: its path is not percent-encoded as it must be", Shown(name))
	}
	if filepath.VolumeName(local[1:]) != "" {
		local = local[1:] // file:///C:/folder/file
	}
	return filepath.FromSlash(local), nil
}
