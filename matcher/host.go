package matcher

// plainHostPortable is plainHost in plain Go.
func plainHostPortable(url []byte, start int) (end int, plain bool) {
	end, plain = start, true
	label := start
	for {
		for end < len(url) && octets[url[end]]&isLabel != 0 {
			end++
		}
		if end == len(url) || octets[url[end]]&endsAuthority != 0 {
			return end, plain && end > label
		}
		plain = plain && url[end] == '.' && end > label
		end++
		label = end
	}
}
