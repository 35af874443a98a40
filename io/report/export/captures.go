package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/rules/captures"
	"robotsbatch/io/rules/ruleset"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/domains"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Captures has a row for each capture, whether it decides or not, in the order of the
// files. Of rule packs with a history it has the fetches that they keep, authority by authority.
var Captures = &Table{Name: "captures", Schema: arrow.NewSchema([]arrow.Field{
	text("url"), optionalText("authority"), optionalText("registered_domain"), optionalText("surt_host_name"),
	optional("status", arrow.PrimitiveTypes.Int32), optional("fetched_at", arrow.FixedWidthTypes.Timestamp_ms), optionalText("location"),
	flag("failed"), optional("cut", arrow.FixedWidthTypes.Boolean), optionalText("body_kind"), optionalText("body_digest"), text("source"),
	optionalText("payload_digest"), optional("record_offset", arrow.PrimitiveTypes.Int64),
}, nil), fill: fillFetches, history: true}

// CaptureRows yields the records of the table of captures, until an error. limit is as
// robotstxt.Options.Limit.
func CaptureRows(ctx context.Context, found *ruleset.Found, o Options, limit int) iter.Seq2[arrow.Record, error] {
	return tableio.WrittenRecords(Captures.Schema, o.Rows, func(w *tableio.Writer) error {
		c := captureReader{parse: robotstxt.Options{Profile: o.Profile, Limit: limit}}
		return found.EachCapture(ctx, func(source string, x *captures.Capture) error {
			c.writeCapture(w, source, x)
			return w.Err()
		})
	})
}

// captureReader reads captures one after the other.
type captureReader struct {
	parse   robotstxt.Options
	parser  robotstxt.Parser
	scratch urls.Scratch
}

// writeCapture writes the row of a capture. source names the source that has it.
func (c *captureReader) writeCapture(w *tableio.Writer, source string, x *captures.Capture) {
	var registered string
	var surt []byte
	key, _, err := c.scratch.Split(x.URL)
	if err == nil {
		host := domains.Host(key)
		registered, surt = domains.Registered(host), domains.AppendSURT(nil, host)
	}
	kind, cut, digest := c.bodyFacts(x)
	seconds := int64(0)
	if !x.Time.IsZero() {
		seconds = x.Time.Unix()
	}
	w.Put(x.URL, key, registered, surt, x.Status, seconds, x.Location, x.Failed, cut, kind.String(), digest)
	w.Put(source, x.Payload, tableio.IfKnown(x.Offset, x.Offset >= 0))
	w.End()
}

// fillFetches writes a row for each fetch that a pack with a history keeps of an authority. A
// fetch of a redirect has a row for each answer of its target.
func fillFetches(w *tableio.Writer, a *authority, _ *body) error {
	type fetch struct {
		second int64
		access access.Outcome
		status int
		digest string
	}
	seen := make(map[fetch]bool) // spans may share a fetch
	for i := range a.spans {
		span := &a.spans[i]
		if span.Access == access.Cut {
			continue
		}
		known := authority{Listed: a.Listed} // with the body of the span
		times, err := a.listing.FetchTimes(a.Key, span)
		if err == nil && span.Access == access.Rules {
			err = known.setBody(a.listing.SpanPack(span), span.Body)
		}
		if err != nil {
			return err
		}
		for _, second := range times {
			x := fetch{second, span.Access, span.Status, string(known.digest)}
			if w.Err() != nil || seen[x] {
				continue
			}
			seen[x] = true
			failed := span.Status == 0 && span.Access.InOutage() // without an answer
			w.Put(append(bytes.Clone(a.Key), "/robots.txt"...))  // the URL, before the columns of all tables
			// A pack does not keep location, cut, payload_digest and record_offset.
			a.writeRow(w, span.Status, second, nil, failed, nil, known.kind.String(), known.digest, a.listing.SpanSource(span), nil, nil)
		}
	}
	return nil
}

// bodyFacts returns the kind of a capture's body, whether it was cut, and the digest, in hexadecimal,
// of the part that a parser reads. A response without bytes has an empty body if its status is 2xx
// or unknown, and else no body.
func (c *captureReader) bodyFacts(x *captures.Capture) (kind robotstxt.BodyKind, cut bool, digest []byte) {
	isRobots := x.Status == 0 || x.Status/100 == 2
	if x.Failed || x.Revisit || len(x.Body) == 0 && !isRobots {
		return robotstxt.NoKind, x.Cut, nil
	}
	body, cut, _, err := captures.Decompress(x.Body, x.Cut, c.parse.ReadSize())
	if err != nil {
		return robotstxt.UnreadableKind, x.Cut, nil
	}
	parse := c.parse
	parse.Cut = cut
	counted, limited := robotstxt.Counted(body, parse)
	sum := sha256.Sum256(counted)
	return c.parser.Parse(body, parse).Kind, limited, hex.AppendEncode(nil, sum[:])
}
