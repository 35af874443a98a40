package parquetio

import (
	"robotsbatch/io/frontier/parquetio/columns"
	"robotsbatch/io/frontier/parquetio/pagefilter"
	"robotsbatch/io/store/compress"
)

const (
	// mostJoined is the most pages that are written as one.
	mostJoined = 16
	// joinedSize is about the most decompressed bytes of a page that was joined. It is
	// also not much larger than the first of its pages was.
	joinedSize = 1 << 20
)

// join passes a page on, or lets it wait. Pages of which little stays are joined with the
// next ones, because small pages of texts compress worse. That is not so at the fastest level
// of zstd: there URLs compress better in small pages. chooseLevel takes that level for files
// whose writer compressed no better.
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

// byBytes reports whether a column's values are texts in the order of their bytes. Only for
// these the extremes of joined pages are known, which the column index has.
func byBytes(n *columns.Node) bool {
	return n.Type == columns.ByteArray && n.Meaning.Kind != columns.Other && n.Meaning.Kind != columns.Decimal
}

// mostStays returns about how many bytes the page and those joined to it may have together.
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
