package rulepack

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// bucketWriter writes buckets one after the other and builds the directory. It keeps
// one bucket in memory.
type bucketWriter struct {
	w         io.Writer
	buckets   uint32
	directory []uint64 // where each bucket that was written starts
	at        uint64   // bytes written so far

	// The authorities of the current bucket, as columns.
	count           uint32
	prints, records []byte
	ends            []uint32
	buffer          []byte // reused

	intervals *intervalWriter // gets a bucket of intervals for each bucket; nil without a history
}

// newBucketWriter returns a writer for at most that many authorities.
func newBucketWriter(w io.Writer, authorities int64) *bucketWriter {
	buckets := uint32(min(authorities/perBucket+1, math.MaxUint32-1))
	return &bucketWriter{w: w, buckets: buckets, directory: make([]uint64, 0, int64(buckets)+1)}
}

// add adds an authority. Authorities must come in the pack's order.
func (w *bucketWriter) add(hash uint64, o origin, authority []byte) error {
	if err := w.finishUpTo(bucketOf(hash, w.buckets)); err != nil {
		return err
	}
	scheme, text := cutScheme(authority)
	o.flags |= scheme
	w.records = append(o.appendTo(w.records), text...)
	if uint64(len(w.records)) > math.MaxUint32 {
		return fmt.Errorf("too many authorities have the same hash: together they have more than %d bytes", uint32(math.MaxUint32))
	}
	w.count++
	w.prints = binary.LittleEndian.AppendUint16(w.prints, uint16(hash))
	w.ends = append(w.ends, uint32(len(w.records)))
	return nil
}

// finish writes the last buckets and completes the directory.
func (w *bucketWriter) finish() error {
	err := w.finishUpTo(w.buckets)
	w.directory = append(w.directory, w.at)
	return err
}

// finishUpTo writes the buckets below number that are not written yet.
func (w *bucketWriter) finishUpTo(number uint32) error {
	for uint32(len(w.directory)) < number {
		if err := w.finishBucket(); err != nil {
			return err
		}
	}
	return nil
}

// finishBucket writes the current bucket. If it does not fit into this page, it first
// writes zeros up to the next one.
func (w *bucketWriter) finishBucket() error {
	for len(w.prints)%(2*printBlock) != 0 {
		w.prints = append(w.prints, 0)
	}
	b := append(w.buffer[:0], 0, 0, 0, 0)
	wide := len(w.records) > math.MaxUint16
	if wide {
		w.count |= wideBucket
	}
	b = binary.LittleEndian.AppendUint32(b, w.count)
	b = append(b, w.prints...)
	for _, end := range w.ends {
		if wide {
			b = binary.LittleEndian.AppendUint32(b, end)
		} else {
			b = binary.LittleEndian.AppendUint16(b, uint16(end))
		}
	}
	b = append(b, w.records...)
	binary.LittleEndian.PutUint32(b, bucketChecksum(uint32(len(w.directory)), b[4:]))
	w.buffer = b
	if err := w.intervals.finishBucket(uint32(len(w.directory))); err != nil {
		return err
	}
	w.count, w.prints, w.ends, w.records = 0, w.prints[:0], w.ends[:0], w.records[:0]
	if room := pageSize - w.at%pageSize; uint64(len(b)) > room && len(b) <= pageSize {
		if err := w.write(make([]byte, room)); err != nil {
			return err
		}
	}
	w.directory = append(w.directory, w.at)
	return w.write(b)
}

func (w *bucketWriter) write(data []byte) error {
	w.at += uint64(len(data))
	_, err := w.w.Write(data)
	return err
}
