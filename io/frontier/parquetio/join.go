package parquetio

import (
	"robotsbatch/io/frontier/parquetio/columns"
	"robotsbatch/io/frontier/parquetio/pagefilter"
	"robotsbatch/io/store/compress"
)

const (
	// mostJoined is of how many pages one is joined at most.
	mostJoined = 16
	// joinedSize is the most bytes of what they are joined to; it has no more than about
	// the page had of which it is the first part.
	joinedSize = 1 << 20
)

// join hands a page to the workers, or lets it wait for the next ones, to which it is
// joined where little stays of them: small pages of texts compress worse. At the fastest
// level, which is chosen where it does as well as the writer, URLs compress better in them.
func (r *filterRun) join(p *page) error {
	if !p.isData() || p.whole() || !p.column.texts || p.column.level == compress.Fastest || !p.column.Joins(&p.Page, &p.part) {
		if err := r.handWaiting(); err != nil {
			r.release(p)
			return err
		}
		return r.hand(p)
	}
	p.stays = int(int64(p.Uncompressed) * int64(p.kept) / int64(p.all))
	if first := r.waiting; first != nil && first.Kind == p.Kind && first.stays+p.stays <= first.mostStays()*5/4 && len(first.joined) < mostJoined-1 {
		first.joined = append(first.joined, p)
		first.stays += p.stays
	} else if err := r.handWaiting(); err != nil {
		r.release(p)
		return err
	} else {
		r.waiting = p
	}
	if r.waiting.stays < r.waiting.mostStays()*3/4 {
		return nil
	}
	return r.handWaiting()
}

// byBytes reports whether a column's values are texts in the order of their bytes: a column
// index has the extremes of pages, of which those of joined ones are found.
func byBytes(n *columns.Node) bool {
	return n.Type == columns.ByteArray && n.Meaning.Kind != columns.Other && n.Meaning.Kind != columns.Decimal
}

// mostStays is about how many bytes may be joined to the page.
func (p *page) mostStays() int { return min(p.Uncompressed, joinedSize) }

// handWaiting hands the page that waits to the workers.
func (r *filterRun) handWaiting() error {
	p := r.waiting
	if p == nil {
		return nil
	}
	r.waiting = nil
	return r.hand(p)
}

// joinPages appends what stays of a page and of those that are joined to it. An error is
// that of the page whose index p then has.
func (r *filterRun) joinPages(f *pagefilter.Filter, out []byte, p *page) ([]byte, []pagefilter.Page, error) {
	for _, one := range append([]*page{p}, p.joined...) {
		err := r.decompress(one)
		if err == nil {
			err = f.Join(&p.column.Column, &one.Page, one.plain, one.part)
		}
		if err != nil {
			p.index = one.index
			return out, nil, err
		}
	}
	return f.Joined(out, &p.column.Column, &p.Page)
}
