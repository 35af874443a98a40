package robotstxt

// MaxWarnings is how many warnings a File keeps.
const MaxWarnings = 1000

// Warning is something about a body that its author should know.
type Warning struct {
	Kind WarningKind
	// Line number, from 1; 0 for the whole body.
	Line int
}

// WarningKind names what is wrong.
type WarningKind uint8
