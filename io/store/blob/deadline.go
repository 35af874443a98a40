package blob

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"robotsbatch/batch/option"
)

const (
	// defaultTimeout is the time for which a store may make no progress on an operation, all
	// attempts together.
	defaultTimeout = 2 * time.Minute
	// attemptShare divides the timeout: a stalled request is given up after
	// 1/attemptShare of it, so that another connection can be tried.
	attemptShare = 2
	// connectTimeout is the time that a connection may take, TLS included.
	connectTimeout = 15 * time.Second
	// leastRate is the number of bytes a second that are progress, over a timeout: a store that
	// sends less stands still.
	leastRate = 1 << 10
)

// leastBytes returns the number of bytes that are progress within a timeout.
func leastBytes(timeout time.Duration) int64 { return max(1, int64(timeout.Seconds()*leastRate)) }

type timeoutKey struct{}

// WithTimeout sets how long a store may go without a byte of progress, for
// everything that is opened, created, listed and read with the context. The
// error then is a [*stalledError]. Attempts that fail and are made again share
// that time. 0 is defaultTimeout.
func WithTimeout(ctx context.Context, timeout time.Duration) context.Context {
	return context.WithValue(ctx, timeoutKey{}, timeout)
}

// stalledError says that a store made no progress for too long.
type stalledError struct {
	// Waited is the time for which it made none.
	Waited time.Duration
	// For is what did not come, such as "the first byte of the answer".
	For string
}

func (e *stalledError) Error() string { return e.Message().String() }

// Message is what Error says, with the options that it names.
func (e *stalledError) Message() option.Message {
	return option.Messagef("waited %v for %s: the store is down, overloaded or not reached; a longer %s gives it more time", e.Waited, e.For, option.StoreTimeout)
}

// Timeout and Temporary make the stores' libraries try again.
func (e *stalledError) Timeout() bool   { return true }
func (e *stalledError) Temporary() bool { return true }

// watch ends a context when a store makes no progress for too long.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	timer   *time.Timer
	limit   time.Duration // for which there may be no progress
	phase   phase
	counted int64 // bytes that had moved when the timer was last restarted
}

// start begins to watch: w.ctx, a child of ctx, ends when there is no progress for limit, with a
// stalledError that names what the phase waits for.
func (w *watch) start(ctx context.Context, limit time.Duration, first phase) {
	w.limit, w.phase = limit, first
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.cancel(&stalledError{w.limit, w.phase.awaited})
	})
}

// progress restarts the time limit if at least leastBytes have moved since it was last restarted.
// bytes is the number of all bytes that have moved from the start. The caller holds w.mu.
func (w *watch) progress(bytes int64) {
	if bytes-w.counted >= leastBytes(w.limit) {
		w.counted = bytes
		w.timer.Reset(w.limit)
	}
}

// finish ends the context.
func (w *watch) finish() {
	w.timer.Stop()
	w.cancel(nil)
}

// operation is a task for a store, such as reading a range, with all requests that are sent for it:
// its attempts. Its context ends when no attempt has made progress for the timeout.
type operation struct {
	watch
	kept int64 // bytes received by earlier attempts, after which later ones continue
	most int64 // bytes moved since then by the attempt that got furthest
}

type operationKey struct{}

// startOperation begins an operation with the timeout of [WithTimeout], and returns the
// context for its requests. The caller must call finish at the end.
func startOperation(ctx context.Context) (context.Context, *operation) {
	timeout, _ := ctx.Value(timeoutKey{}).(time.Duration)
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	op := new(operation)
	op.start(ctx, timeout, awaitsCredentials)
	return context.WithValue(op.ctx, operationKey{}, op), op
}

// advance records that an attempt ended after it received this number of bytes, from where the next
// one continues. It reports whether they are enough to count as progress.
func (op *operation) advance(bytes int) bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	if bytes > 0 {
		op.kept += int64(bytes)
		op.most, op.phase.order = 0, 0 // the next attempt is for other bytes
	}
	op.progress(op.kept + op.most)
	return bytes >= leastRate // what a second must bring
}

// moved records how many bytes an attempt has sent and received in all. That is progress only
// if no earlier attempt got that far.
func (op *operation) moved(bytes int64) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if bytes > op.most {
		op.most = bytes
		op.progress(op.kept + op.most)
	}
}

// enter records the phase of an attempt, unless an earlier attempt got further: the error is to name
// what the operation waited for after all that it reached.
func (op *operation) enter(now phase) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if now.order >= op.phase.order {
		op.phase = now
	}
}

// phase is what a request waits for. Those that come later in a request have a greater order.
type phase struct {
	order   int
	awaited string // for the error
}

var (
	awaitsCredentials = phase{0, "credentials"}
	awaitsConnection  = phase{1, "a connection"}
	awaitsTaking      = phase{2, "the request to be taken"}
	awaitsFirstByte   = phase{3, "the first byte of the answer"}
	awaitsMore        = phase{4, "more of the answer"}
)

// Doer sends requests, as [http.Client] does.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// WithDeadlines returns a Doer that gives up stalled requests. Drivers must send their
// requests with it.
func WithDeadlines(d Doer) Doer { return deadlines{d} }

type deadlines struct{ Doer }

// Do sends a request and ends it if the store makes no progress. Outside an operation it only
// sends it.
func (d deadlines) Do(request *http.Request) (*http.Response, error) {
	op, ok := request.Context().Value(operationKey{}).(*operation)
	if !ok {
		return d.Doer.Do(request)
	}
	a := newAttempt(request.Context(), op)
	// These may be called after the attempt is over: when another request uses a connection that
	// was made for this one.
	request = request.WithContext(httptrace.WithClientTrace(a.ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { a.enter(awaitsTaking) },
		WroteRequest: func(httptrace.WroteRequestInfo) { a.enter(awaitsFirstByte) },
	}))
	if request.Body != nil && request.Body != http.NoBody {
		request.Body = &watchedBody{request.Body, a}
	}
	response, err := d.Doer.Do(request)
	if err != nil {
		err = a.explain(err)
		a.stop()
		return nil, err
	}
	reading := awaitsMore
	if response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests { // it may be sent again
		reading.awaited = fmt.Sprintf("another answer than %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	}
	a.enter(reading)
	response.Body = &watchedAnswer{watchedBody{response.Body, a}}
	return response, nil
}

// attempt is a request on its way.
type attempt struct {
	watch
	op    *operation
	bytes int64 // sent and received
	over  bool  // stop was called
}

// newAttempt begins an attempt of an operation. It waits for a connection first.
func newAttempt(ctx context.Context, op *operation) *attempt {
	a := &attempt{op: op}
	op.enter(awaitsConnection)
	a.start(ctx, min(connectTimeout, op.limit/attemptShare), awaitsConnection)
	return a
}

// enter records the phase that the attempt has reached, and gives the store the attempt's full time
// for it.
func (a *attempt) enter(now phase) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		a.phase, a.limit = now, a.op.limit/attemptShare
		a.timer.Reset(a.limit)
		a.op.enter(now)
	}
}

// moved records that n more bytes were sent or received.
func (a *attempt) moved(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		a.bytes += int64(n)
		a.progress(a.bytes)
		a.op.moved(a.bytes)
	}
}

// explain returns the stalledError that ended the attempt, or err if none did.
func (a *attempt) explain(err error) error {
	if stalled, ok := context.Cause(a.ctx).(*stalledError); ok {
		return stalled
	}
	return err
}

// stop ends the attempt: what its connection does later does not count.
func (a *attempt) stop() {
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
	a.finish()
}

// watchedBody is the body of a request or of its answer.
type watchedBody struct {
	io.ReadCloser
	attempt *attempt
}

// Read reads, and counts the bytes as progress.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.attempt.moved(n)
	}
	if err != nil && err != io.EOF {
		err = b.attempt.explain(err)
	}
	return n, err
}

// watchedAnswer is the body of an answer. Closing it ends the attempt.
type watchedAnswer struct{ watchedBody }

// Close closes the body and ends the attempt.
func (b *watchedAnswer) Close() error {
	err := b.ReadCloser.Close()
	b.attempt.stop()
	return err
}
