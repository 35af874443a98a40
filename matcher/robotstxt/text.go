package robotstxt

import "iter"

// Text returns the part of a body that Parse reads, as UTF-8 without byte order mark. It
// aliases the body unless that is UTF-16, which is decoded. It gives no warnings.
func Text(body []byte, o Options) []byte {
	o.Warn = nil
	return new(File).readText(body, o)
}

// Lines yields the lines of a Text, without their ends, with the line numbers of Parse.
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
