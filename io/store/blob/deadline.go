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
	// For is what the store owed, such as "the first byte of the answer".
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
	limit   time.Duration // what the timer was set to
	owed    debt          // what the store is waited for, for the error
	counted int64         // bytes that had moved when the timer was last set
}

// start begins to watch: w.ctx ends when nothing makes progress for limit.
func (w *watch) start(ctx context.Context, limit time.Duration, owed debt) {
	w.limit, w.owed = limit, owed
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.cancel(&stalledError{w.limit, w.owed.what})
	})
}

// progress gives the store another w.limit if enough bytes have moved since it last did. bytes
// are all that have moved from the start; the caller holds w.mu.
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

// operation is a task for a store, with all attempts at it. Its context ends when no
// attempt has made progress for the timeout.
type operation struct {
	watch
	most int64 // bytes moved by the attempt that got furthest, of those since the last advance
	kept int64 // bytes that arrived before the last advance, which need not be sent again
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
	op.start(ctx, timeout, owesCredentials)
	return context.WithValue(op.ctx, operationKey{}, op), op
}

// advance records that an attempt ended after it received bytes, which need not be sent again.
// It reports whether those are enough to count as progress.
func (op *operation) advance(bytes int) bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	if bytes > 0 {
		op.kept += int64(bytes)
		op.most, op.owed.stage = 0, 0 // the next attempt is for other bytes
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

// owes records what the store is waited for. A new attempt, in an earlier step of its request,
// does not replace what an earlier attempt waited for.
func (op *operation) owes(owed debt) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if owed.stage >= op.owed.stage {
		op.owed = owed
	}
}

// debt is what a store owes, and at which stage of a request: later ones are higher.
type debt struct {
	stage int
	what  string
}

var (
	owesCredentials = debt{0, "credentials"}
	owesConnection  = debt{1, "a connection"}
	owesTaking      = debt{2, "the request to be taken"}
	owesFirstByte   = debt{3, "the first byte of the answer"}
	owesMore        = debt{4, "more of the answer"}
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
		GotConn:      func(httptrace.GotConnInfo) { a.owes(owesTaking) },
		WroteRequest: func(httptrace.WroteRequestInfo) { a.owes(owesFirstByte) },
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
	owed := owesMore
	if response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests {
		owed.what = fmt.Sprintf("another answer than %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	}
	a.owes(owed)
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
	op.owes(owesConnection)
	a.start(ctx, min(connectTimeout, op.limit/attemptShare), owesConnection)
	return a
}

// owes records what the store owes from now on, and gives it the attempt's full time for that.
func (a *attempt) owes(owed debt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		a.owed, a.limit = owed, a.op.limit/attemptShare
		a.timer.Reset(a.limit)
		a.op.owes(owed)
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
