package robotstxt

// Parse reads a body.
func Parse(body []byte, o Options) *File { panic("todo") }
