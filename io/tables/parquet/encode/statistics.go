package encode

import (
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
)

// maxStatistic is the most bytes that a value may have in the statistics, for they go into the footer.
const maxStatistic = 256

// extremes returns copies of the least and the greatest of a leaf's values as PLAIN stores them. Both are nil
// if it has no value, the format has no order for them, they are FIXED_LEN_BYTE_ARRAY, or one has more than
// maxStatistic bytes.
func extremes(n *columns.Node, l *columns.Leaf) (low, high []byte) {
	order, width, count := n.Order(), n.Width(), len(l.Offsets)-1
	if order == columns.NoOrder || n.Type == layout.FixedLenByteArray {
		return nil, nil
	}
	if width > 0 {
		count = len(l.Fixed) / width
	}
	var b layout.Bounds
	for i := range count {
		order.Extend(&b, l.Value(i, width))
	}
	if len(b.Low) > maxStatistic || len(b.High) > maxStatistic {
		return nil, nil
	}
	b = order.Detach(b)
	return b.Low, b.High
}
