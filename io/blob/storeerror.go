package blob

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"gocloud.dev/gcerrors"
)

// explain names the object that err is about, and says what to do. A wait that
// ctx ended gives its cause.
func (u URL) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("blob: %s: %w", u.Name(), context.Cause(ctx))
	}
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return fmt.Errorf("blob: %s: there is no such object or bucket; a folder's name ends with a slash: %w", u.Name(), fs.ErrNotExist)
	case gcerrors.PermissionDenied:
		return fmt.Errorf("blob: %s: the store refuses it: check the credentials in the environment: %s: %w", u.Name(), cleaned(err), fs.ErrPermission)
	}
	// Not wrapped: a connection that broke may be an EPIPE, which is not that of
	// the output's reader.
	return fmt.Errorf("blob: %s: %s", u.Name(), cleaned(err))
}

var (
	driverPrefix = regexp.MustCompile(`^blob \([^()]*\)( \([^()]*\))*: |^blob \(code=[^()]*\): `)
	query        = regexp.MustCompile(`(://[^\s"'?]*)\?[^\s"']*`)
	user         = regexp.MustCompile(`://[^/\s"'@]*@`)
)

// maxErrorText is how many octets of a store's error are shown.
const maxErrorText = 500

// cleaned is an error's text on one line, without the queries and users of the
// URLs in it: some drivers sign URLs.
func cleaned(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	text = driverPrefix.ReplaceAllString(text, "")
	text = query.ReplaceAllString(text, "$1?…")
	text = user.ReplaceAllString(text, "://…@")
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	return text
}
