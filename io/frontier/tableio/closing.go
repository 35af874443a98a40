package tableio

import (
	"errors"

	"robotsbatch/io/store/blob"
)

// Closing closes or aborts the file that a sink writes, so that Abort may follow any Close.
type Closing struct {
	File   blob.Writer
	closed bool
}

// Close calls end, which writes what is left, and then closes the file. It is called once; after an error
// the file may be aborted.
func (c *Closing) Close(end func() error) error {
	if c.closed {
		return errors.New("the output is closed already")
	}
	err := end()
	if err == nil {
		err = c.File.Close()
	}
	c.closed = err == nil
	return err
}

// Abort aborts the file, unless it is closed.
func (c *Closing) Abort() {
	if !c.closed {
		c.File.Abort()
	}
}
