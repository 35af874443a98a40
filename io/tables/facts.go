package tables

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/matcher"
)

// factsColumn returns a column of facts of the output rows.
func (g gatherer) factsColumn(column batch.VerdictColumn, v *batch.Verdicts, runs []run) (*array.Data, error) {
	if len(v.FactsOf) < v.Rows {
		return nil, fmt.Errorf("column %q: the verdicts have no facts", column.Name)
	}
	f := factRows{gatherer: g, facts: v.Facts, rows: make([]int32, 0, countRows(runs))}
	for _, r := range runs {
		f.rows = append(f.rows, v.FactsOf[r.low:r.high]...)
	}
	switch column.Kind {
	case batch.CrawlDelayColumn:
		return fixedFacts(f, arrow.PrimitiveTypes.Float64, func(facts *matcher.Facts) (float64, bool) { return facts.CrawlDelay(column.Agent) }), nil
	case batch.SitemapsColumn:
		data, err := f.sitemaps()
		if err != nil {
			err = columnError(column.Name, err)
		}
		return data, err
	case batch.StatusColumn:
		return fixedFacts(f, arrow.PrimitiveTypes.Int32, func(facts *matcher.Facts) (int32, bool) { return int32(facts.Status), facts.Status != 0 }), nil
	case batch.FetchedColumn:
		return fixedFacts(f, arrow.FixedWidthTypes.Timestamp_ms, func(facts *matcher.Facts) (int64, bool) { return facts.Fetched * 1000, facts.Fetched != 0 }), nil
	case batch.BodyKindColumn:
		return f.kinds(column.Name)
	case batch.UntilColumn:
		return fixedFacts(f, arrow.FixedWidthTypes.Timestamp_ms, func(facts *matcher.Facts) (int64, bool) { return facts.Until * 1000, facts.Until != 0 }), nil
	default:
		return g.ages(v, runs), nil
	}
}

// ages returns the column of ages of the output rows.
func (g gatherer) ages(v *batch.Verdicts, runs []run) *array.Data {
	n := countRows(runs)
	valid := make([]int32, 0, n)
	buffer, ages := allocate[int64](g, n)
	for _, r := range runs {
		for row := r.low; row < r.high; row++ {
			age, known := v.Age(row)
			if !known {
				valid = append(valid, -1)
				continue
			}
			ages[len(valid)] = age
			valid = append(valid, 0)
		}
	}
	validity, nulls := g.present(valid)
	return newData(arrow.PrimitiveTypes.Int64, n, buffers(validity, buffer), nil, nulls)
}

// factRows holds, for each row, an index into facts, negative for none.
type factRows struct {
	gatherer
	facts []matcher.Facts
	rows  []int32
}

// fixedFacts returns a column of numbers of type dt. value returns the number of a
// robots.txt, if it has one; it is called once for a run of equal rows.
func fixedFacts[T int32 | int64 | float64](f factRows, dt arrow.DataType, value func(*matcher.Facts) (T, bool)) *array.Data {
	valid := make([]int32, len(f.rows))
	buffer, values := allocate[T](f.gatherer, len(f.rows))
	var last T
	known := int32(-1)
	for row, of := range f.rows {
		if row == 0 || of != f.rows[row-1] {
			last, known = 0, -1
			if of >= 0 {
				if v, ok := value(&f.facts[of]); ok {
					last, known = v, 0
				}
			}
		}
		values[row], valid[row] = last, known
	}
	validity, nulls := f.present(valid)
	return newData(dt, len(f.rows), buffers(validity, buffer), nil, nulls)
}

// kinds returns the column of bodies' kinds.
func (f factRows) kinds(name string) (*array.Data, error) {
	kinds := make([]string, len(f.facts))
	index := make([]int32, len(f.rows))
	for i := range kinds {
		kinds[i] = f.facts[i].Kind.String()
	}
	for row, of := range f.rows {
		if index[row] = of; of >= 0 && !f.facts[of].Kind.Known() {
			index[row] = -1
		}
	}
	return f.strings(name, kinds, index)
}

// sitemaps returns the column of sitemaps: lists of strings, null if there are no
// records.
func (f factRows) sitemaps() (*array.Data, error) {
	packed := make([]*stringsOf, len(f.facts))
	for i := range f.facts {
		if records := f.facts[i].Records; records != nil {
			packed[i] = packStrings(len(records.Sitemaps), func(i int) string { return records.Sitemaps[i] })
		}
	}
	return f.lists(len(f.rows), func(row int) *stringsOf {
		if f.rows[row] < 0 {
			return nil
		}
		return packed[f.rows[row]]
	})
}
