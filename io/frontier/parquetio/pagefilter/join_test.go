package pagefilter

import (
	"math/rand/v2"
	"testing"

	"robotsbatch/io/frontier/parquetio/layout"
)

// can reports whether pages can be joined.
func can(s shape) bool {
	return s.nesting < 2 && s.encoding == layout.Plain && s.physical != layout.Boolean
}

// Pages that are joined have the rows that stay of all of them, in order.
func TestJoin(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	var f Filter // whose memory all use
	joined := 0
	for _, s := range shapes() {
		if s.codec != zstd {
			continue
		}
		for range 10 {
			p := encodePages(rng, s, s.entries(rng, 300, 20))
			rows, want := p.keep(func(row int) bool { return row%3 == 1 })
			if len(want) == 0 {
				continue
			}
			c := p.column()
			var first *layout.Page
			err := p.each(c, rows, func(page *layout.Page, plain []byte, part Part) error {
				kept, all := part.Kept()
				if want := can(s) && kept*8 < all*7; c.Joins(page, &part) != want {
					t.Errorf("%v: of a page stay %d of %d rows: is it joined? %t", s, kept, all, !want)
				}
				if !can(s) || kept == 0 {
					return nil
				}
				first = page
				return f.Join(c, page, plain, part)
			})
			if err != nil {
				t.Fatalf("%v: %v", s, err)
			}
			if first == nil {
				continue
			}
			joined++
			out, pages, err := f.Joined([]byte("before"), c, first)
			if err == nil {
				err = p.check(out[6:], pages)
			}
			if err != nil || len(pages) != 1 {
				t.Fatalf("%v: %d pages: %v", s, len(pages), err)
			}
			leaf, err := p.decoded(out[6:], len(want), rows.Count(0, rows.Len()))
			if err != nil {
				t.Fatalf("%v: %v", s, err)
			}
			if difference := p.differs(&leaf, want); difference != "" {
				t.Fatalf("%v: %s", s, difference)
			}
		}
	}
	if joined < 50 {
		t.Errorf("only %d columns were joined", joined)
	}
}
