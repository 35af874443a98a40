package layout

// Readers in C++ verify the whole metadata of a message before they use any of it, also
// what this package has no use for. checkFlat does as they do, so that [Framing].Strict finds what they
// refuse. The layouts below are those of the tables in Message.fbs, Schema.fbs and
// File.fbs.

// flatKind is what a field of a flatbuffer's table is.
type flatKind uint8

const (
	flatScalar flatKind = iota // of size bytes
	flatString                 // ends with a 0
	flatVector                 // of elements of size bytes
	flatTable                  // a table with the layout of
	flatTables                 // a vector of such tables
	flatUnion                  // a table with one of the layouts in union, by the number in the field before
)

// flatField is a field of a table.
type flatField struct {
	kind    flatKind
	size    int
	missing int // the value of a scalar that is absent
	of      *flatLayout
	union   map[uint8]*flatLayout
}

// flatLayout is a table's fields, by slot.
type flatLayout struct{ fields []flatField }

// or returns a scalar field whose value is missing if it is absent, instead of 0.
func (f flatField) or(missing int) flatField { f.missing = missing; return f }

// scalar returns a field of kind flatScalar with size bytes.
func scalar(size int) flatField { return flatField{kind: flatScalar, size: size} }

// vectorOf returns a field of kind flatVector with elements of size bytes.
func vectorOf(size int) flatField { return flatField{kind: flatVector, size: size} }

// tablesOf returns a field of kind flatTables.
func tablesOf(l *flatLayout) flatField { return flatField{kind: flatTables, of: l} }

// tableOf returns a field of kind flatTable.
func tableOf(l *flatLayout) flatField { return flatField{kind: flatTable, of: l} }

// layoutOf returns the layout of a table with these fields, which are in the order of their slots.
func layoutOf(fields ...flatField) *flatLayout { return &flatLayout{fields: fields} }

var (
	text = flatField{kind: flatString}

	pairLayout     = layoutOf(text, text)
	integerLayout  = layoutOf(scalar(4), scalar(1))
	encodingLayout = layoutOf(scalar(8), tableOf(integerLayout), scalar(1), scalar(2))
	fieldLayout    = &flatLayout{} // refers to itself
	schemaLayout   = layoutOf(scalar(2), tablesOf(fieldLayout), tablesOf(pairLayout), vectorOf(8))
	codecLayout    = layoutOf(scalar(1), scalar(1))
	batchLayout    = layoutOf(scalar(8), vectorOf(16), vectorOf(16), tableOf(codecLayout), vectorOf(8))
	valuesLayout   = layoutOf(scalar(8), tableOf(batchLayout), scalar(1))
	messageLayout  = layoutOf(scalar(2), scalar(1), flatField{kind: flatUnion, union: headerLayouts}, scalar(8), tablesOf(pairLayout))
	footerLayout   = layoutOf(scalar(2), tableOf(schemaLayout), vectorOf(24), vectorOf(24), tablesOf(pairLayout))

	// headerLayouts are those of the union of messages' headers.
	headerLayouts = map[uint8]*flatLayout{KindSchema: schemaLayout, KindDictionary: valuesLayout, KindRecord: batchLayout}

	// typeLayouts are those of the union of types, by kind; init adds those whose tables have no fields.
	typeLayouts = map[uint8]*flatLayout{
		typeInt: integerLayout, typeFloat: layoutOf(scalar(2)), TypeDecimal: layoutOf(scalar(4), scalar(4), scalar(4).or(128)),
		typeDate: layoutOf(scalar(2).or(1)), typeTime: layoutOf(scalar(2).or(1), scalar(4).or(32)), typeTimestamp: layoutOf(scalar(2), text),
		typeInterval: layoutOf(scalar(2)), TypeUnion: layoutOf(scalar(2), vectorOf(4)), typeFixedSizeBinary: layoutOf(scalar(4)),
		TypeFixedSizeList: layoutOf(scalar(4)), TypeMap: layoutOf(scalar(1)), typeDuration: layoutOf(scalar(2).or(1)),
	}
)

// init sets what the variables above cannot say of one another.
func init() {
	for kind := uint8(TypeNull); kind <= lastKind; kind++ {
		if typeLayouts[kind] == nil {
			typeLayouts[kind] = layoutOf()
		}
	}
	fieldLayout.fields = []flatField{
		text, scalar(1), scalar(1), {kind: flatUnion, union: typeLayouts}, tableOf(encodingLayout), tablesOf(fieldLayout), tablesOf(pairLayout),
	}
}

// checkFlat verifies the flatbuffer in buf, whose root has the given layout.
func checkFlat(buf []byte, layout *flatLayout) error {
	f := NewFlat(buf)
	f.verify(f.alignedTarget(0), layout, 1)
	return f.err
}

// alignedTarget returns the position to which the reference at pos leads: inside the buffer, after pos. Both must be
// aligned.
func (f *flat) alignedTarget(pos int) int {
	to := f.target(pos)
	if f.err == nil && (pos%4 != 0 || to%4 != 0 || to == pos || to >= len(f.Buf)) {
		f.fail("reference at %d leads nowhere, or is not aligned", pos)
	}
	return to
}

// verify checks that the table at pos, and all that it refers to, is as layout says: inside the
// buffer, aligned, and texts with a zero after them. Errors are kept by fail. A table whose layout is not
// known here (nil) is not checked. depth is that of the table, 1 for the root.
func (f *flat) verify(pos int, layout *flatLayout, depth int) {
	if f.err != nil || layout == nil {
		return
	}
	if depth > maxTableDepth {
		f.fail("table at %d is nested too deep", pos)
		return
	}
	t := f.Table(pos)
	for slot, field := range layout.fields {
		size := 4 // of a reference
		if field.kind == flatScalar {
			size = field.size
		}
		at := t.Field(slot, size)
		switch {
		case f.err != nil:
			return
		case at == 0:
			continue
		case at%size != 0:
			f.fail("field %d of the table at %d is not aligned", slot, pos)
			return
		}
		switch field.kind {
		case flatString:
			begin, n := f.elements(f.alignedTarget(at), 1)
			if end := f.at(begin+n, 1); f.err == nil && end[0] != 0 {
				f.fail("the text at %d does not end with a zero", begin)
			}
		case flatVector:
			f.elements(f.alignedTarget(at), field.size) // fails if they are outside the buffer
		case flatTable:
			f.verify(f.alignedTarget(at), field.of, depth+1)
		case flatTables:
			begin, n := f.elements(f.alignedTarget(at), 4)
			for i := range n {
				f.verify(f.alignedTarget(begin+4*i), field.of, depth+1)
			}
		case flatUnion:
			kind := t.Uint8(slot - 1) // the field before a union says which table it is
			f.verify(f.alignedTarget(at), field.union[kind], depth+1)
		}
	}
}
