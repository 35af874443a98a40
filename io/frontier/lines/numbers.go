package lines

import (
	"bytes"
	"math"
	"strconv"

	"robotsbatch/batch"
)

// Numbers is a column of numbers that a decoder fills from text, row by row. They are
// integers until a row has another number, and floats from then on.
type Numbers struct {
	ints       []int64   // of all rows, until there are floats
	floats     []float64 // of all rows, once there are floats
	isFloats   bool
	validity   []byte // a bit for each row, clear for a null
	notNumbers int    // rows with another text than a number
}

// Reset empties the column, for at most that many rows. It reuses the memory.
func (n *Numbers) Reset(rows int) {
	n.ints, n.floats, n.isFloats, n.notNumbers = n.ints[:0], n.floats[:0], false, 0
	n.validity = n.validity[:0]
	for range (rows + 7) / 8 {
		n.validity = append(n.validity, 0xFF)
	}
}

// Append adds a row with the number in text, which may have blanks around it. It adds a null for an
// empty text, and for a text that is not a number, which it counts.
func (n *Numbers) Append(text []byte) {
	text = bytes.Trim(text, " \t")
	if integer, ok := parseInt(text); ok {
		n.add(integer, float64(integer))
		return
	}
	if len(text) == 0 {
		n.Null()
		return
	}
	if x, ok := parseFloat(text); ok {
		n.toFloats()
		n.add(0, x)
		return
	}
	n.notNumbers++
	n.Null()
}

// Null adds a row without a number.
func (n *Numbers) Null() {
	row := n.len()
	n.add(0, 0)
	n.validity[row>>3] &^= 1 << (row & 7)
}

// add adds a row: integer, or float if the column has floats.
func (n *Numbers) add(integer int64, float float64) {
	if n.isFloats {
		n.floats = append(n.floats, float)
	} else {
		n.ints = append(n.ints, integer)
	}
}

func (n *Numbers) len() int {
	if n.isFloats {
		return len(n.floats)
	}
	return len(n.ints)
}

// toFloats converts the rows so far to floats.
func (n *Numbers) toFloats() {
	if n.isFloats {
		return
	}
	n.isFloats = true
	for _, integer := range n.ints {
		n.floats = append(n.floats, float64(integer))
	}
}

// Column returns the rows. They are valid until Reset.
func (n *Numbers) Column() batch.Numbers {
	c := batch.Numbers{Validity: n.validity, NotNumbers: n.notNumbers}
	if n.isFloats {
		c.Floats = n.floats
	} else {
		c.Ints = n.ints
	}
	return c
}

// parseInt parses a decimal integer of 64 bits; false for anything else, such as a larger one.
func parseInt(text []byte) (int64, bool) {
	digits := text
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 19 { // 1<<63 has 19
		return 0, false
	}
	n := uint64(0)
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	if text[0] == '-' {
		return -int64(n), n <= 1<<63 // the least integer is one further from 0 than the largest
	}
	return int64(n), n <= math.MaxInt64
}

// parseFloat parses a decimal number, which may have a fraction and an exponent; false for
// anything else.
func parseFloat(text []byte) (float64, bool) {
	const most = 100 // bytes of a number that anybody writes
	if len(text) > most {
		return 0, false
	}
	for _, c := range text {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	x, err := strconv.ParseFloat(string(text), 64)
	return x, err == nil
}
