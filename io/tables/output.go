package tables

import "io"

// Output is an io.Writer that counts what it writes.
type Output struct {
	To     io.Writer
	Pos    int64 // bytes written so far
	Failed bool  // To has returned an error
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.To.Write(p)
	o.Pos += int64(n)
	o.Failed = o.Failed || err != nil
	return n, err
}

// Put writes all of p. An error is that of To.
func (o *Output) Put(p []byte) error {
	_, err := o.Write(p)
	return err
}
