package batch

// Batch is a run of consecutive rows of one input.
type Batch struct {
	// Input names the input for people: a path or "stdin".
	Input string
	// Output is the number of the output to which the batch goes, among those that share a
	// [Pool]. The job sets it.
	Output int
	// Index is the batch's number within its input, from 0.
	Index int
	// FirstRow is the number of the first row within its input, from 0.
	FirstRow int64
	// URLs has a value for each row.
	URLs Column
	// Weights has a number for each row when ExtraColumns.Weight was asked for.
	Weights Numbers
	// Times has the time of each row when ExtraColumns.Time was asked for: seconds since
	// 1970, rounded down, and NoTime where a row has none. Else it is nil.
	Times []int64
	// Table is the batch in its source's form, for sinks that pass columns
	// through: an arrow.Record whose rows are those of URLs, or nil when the
	// URLs are all there is. This package never looks inside.
	Table any
	// Undeclared is how many bytes of memory the batch takes beyond its piece's
	// Size.
	Undeclared int64
	// Grant is where a sink takes the memory that it needs for the batch. The job
	// sets it.
	Grant *Grant
	// Start has a worker of the job call do, before all work on later batches. A sink may call
	// Start until the batch's chunk is written. do must not wait for other work. The job sets it.
	Start func(do func())
	// Release gives the batch's memory back; nil when nothing needs it. It is
	// called once, after the batch was encoded.
	Release func()
}

// Column is a column of strings in Arrow's layout: value i is
// Data[Offsets[i]:Offsets[i+1]]. Exactly one of Offsets32 and Offsets64 is
// used. Nothing in a Column is changed by this package.
//
// Offsets must be monotonic and inside Data, and Indices inside the offsets:
// sources check that, see [Column.Validate].
type Column struct {
	// Offsets32 has one element more than there are values (utf8, binary).
	Offsets32 []int32
	// Offsets64 is the same for large_utf8 and large_binary.
	Offsets64 []int64
	// Data are the bytes of all values.
	Data []byte
	// Validity has a bit a row, least significant first, 1 for a value and 0
	// for null, starting at bit ValidityOffset; nil means that there is no
	// null.
	Validity []byte
	// ValidityOffset is the first row's bit in Validity.
	ValidityOffset int
	// Indices, when not nil, has one element a row: the value of row i is value
	// Indices[i] (Arrow's dictionary layout). A null row's index may be
	// anything.
	Indices []int32
}
