package lines

import (
	"strconv"
	"time"

	"robotsbatch/batch"
	"robotsbatch/matcher"
)

// fetchedLayout is how Arrow's timestamps are written as text, too.
const fetchedLayout = "2006-01-02 15:04:05Z07:00"

// facts returns how a column of facts is written.
func (f form) facts(v *batch.Verdicts, c batch.VerdictColumn) Appender {
	var value func(dst []byte, facts *matcher.Facts) []byte
	switch c.Kind {
	case batch.CrawlDelayColumn:
		value = func(dst []byte, facts *matcher.Facts) []byte {
			if delay, ok := facts.CrawlDelay(c.Agent); ok {
				return f.appendFloat(dst, delay, 64)
			}
			return append(dst, f.null...)
		}
	case batch.SitemapsColumn:
		value = f.sitemaps
	case batch.StatusColumn:
		value = func(dst []byte, facts *matcher.Facts) []byte {
			return f.number(dst, int64(facts.Status), facts.Status != 0)
		}
	case batch.FetchedColumn:
		value = func(dst []byte, facts *matcher.Facts) []byte { return f.time(dst, facts.Fetched) }
	case batch.UntilColumn:
		value = func(dst []byte, facts *matcher.Facts) []byte { return f.time(dst, facts.Until) }
	case batch.BodyKindColumn:
		value = func(dst []byte, facts *matcher.Facts) []byte {
			if !facts.Kind.Known() {
				return append(dst, f.null...)
			}
			return f.appendString(dst, facts.Kind.String())
		}
	default:
		return func(dst []byte, row int) []byte {
			age, known := v.Age(row)
			return f.number(dst, age, known)
		}
	}
	return func(dst []byte, row int) []byte {
		if of := v.FactsOf[row]; of >= 0 {
			return value(dst, &v.Facts[of])
		}
		return append(dst, f.null...)
	}
}

// domains returns how registered domains are written.
func (f form) domains(v *batch.Verdicts) Appender {
	return func(dst []byte, row int) []byte {
		if of := v.DomainOf[row]; of >= 0 {
			return f.appendString(dst, v.Domains[of])
		}
		return append(dst, f.null...)
	}
}

// hashes returns how hashes of authorities are written.
func (f form) hashes(v *batch.Verdicts) Appender {
	return func(dst []byte, row int) []byte {
		if of := v.HashOf[row]; of >= 0 {
			return strconv.AppendInt(dst, v.Hashes[of], 10)
		}
		return append(dst, f.null...)
	}
}

func (f form) number(dst []byte, n int64, known bool) []byte {
	if !known {
		return append(dst, f.null...)
	}
	return strconv.AppendInt(dst, n, 10)
}

// time appends a time in seconds since 1970, null for 0.
func (f form) time(dst []byte, seconds int64) []byte {
	if seconds == 0 {
		return append(dst, f.null...)
	}
	return f.appendString(dst, time.Unix(seconds, 0).UTC().Format(fetchedLayout))
}

// sitemaps appends the list of the sitemaps.
func (f form) sitemaps(dst []byte, facts *matcher.Facts) []byte {
	if facts.Records == nil {
		return append(dst, f.null...)
	}
	return f.words(dst, len(facts.Records.Sitemaps), func(i int) string { return facts.Records.Sitemaps[i] })
}

// agents writes lists of agents as those of sitemaps are.
func (f form) agents(v *batch.Verdicts, c batch.VerdictColumn) Appender {
	texts := make([][]byte, len(v.Denied)) // of the lists, which many rows have
	return func(dst []byte, row int) []byte {
		number := v.DeniedOf[row]
		if number < 0 {
			return append(dst, f.null...)
		}
		if list := v.Denied[number]; texts[number] == nil && len(list) > 0 {
			texts[number] = f.words(nil, len(list), func(i int) string { return c.Names[list[i]] })
		} else if len(list) == 0 {
			return f.words(dst, 0, nil)
		}
		return append(dst, texts[number]...)
	}
}

// words appends a list as a JSON array, or separated by blanks, which no element has.
func (f form) words(dst []byte, n int, word func(i int) string) []byte {
	if f.json {
		dst = append(dst, '[')
	}
	for i := range n {
		switch {
		case f.json && i > 0:
			dst = append(dst, ',')
		case i > 0:
			dst = append(dst, ' ')
		}
		dst = f.appendString(dst, word(i))
	}
	if f.json {
		dst = append(dst, ']')
	}
	return dst
}
