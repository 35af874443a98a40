package robotstxt

import "iter"

// Text returns what Parse reads of a body: the part that counts, as UTF-8 without byte
// order mark. It aliases the body, except for a UTF-16 one, which is decoded.
func Text(body []byte, o Options) []byte { return new(File).open(body, o) }

// Lines yields the lines of a Text, without their ends, with the numbers that Parse gives
// them, from 1.
func Lines(text []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		l := newLines(text)
		for number := 1; ; number++ {
			start, end, ok := l.advance()
			if !ok || !yield(number, text[start:end:end]) {
				return
			}
		}
	}
}
