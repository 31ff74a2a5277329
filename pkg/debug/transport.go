// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// resourceContext is the key of a ResourceRecorder in the context of its requests.
type resourceContext struct{}

func (rr *ResourceRecorder) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, resourceContext{}, rr)
}

// Transport records the HTTP side of lists and watches: status codes and bytes. Use it with rest.Config.Wrap. Other
// requests pass unchanged.
func (r *Recorder) Transport(wrapped http.RoundTripper) http.RoundTripper {
	if r == nil {
		return wrapped
	}
	return &transport{wrapped: wrapped}
}

type transport struct{ wrapped http.RoundTripper }

var _ utilnet.RoundTripperWrapper = (*transport)(nil)

func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.wrapped }

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	rr, ok := request.Context().Value(resourceContext{}).(*ResourceRecorder)
	if !ok {
		return t.wrapped.RoundTrip(request)
	}
	body := &countedBody{resource: rr, began: time.Now(), verb: "list"}
	if request.URL.Query().Get("watch") == "true" {
		body.verb = "watch"
	}
	response, err := t.wrapped.RoundTrip(request)
	if err != nil {
		if rr.breaks(Cause(err)) {
			body.record(0, err)
		}
		return response, err
	}
	body.code, body.wrapped = int32(response.StatusCode), response.Body
	response.Body = body
	if body.verb == "watch" {
		// Its body ends with the watch. Then it is recorded again.
		body.record(0, nil)
	}
	return response, nil
}

// breaks records that an attempt to list or watch failed, and reports whether to keep the event. While the API server is
// down, a watch retries every second and fails in the same way each time.
func (rr *ResourceRecorder) breaks(problem string) (news bool) {
	rr.change(func(s *resourceState) {
		news = s.state != stateBroken || s.problem != problem
		s.state, s.problem = stateBroken, problem
	})
	return news
}

// countedBody counts the bytes of a response.
type countedBody struct {
	wrapped  io.ReadCloser
	resource *ResourceRecorder
	began    time.Time
	verb     string
	code     int32
	bytes    int64
	closed   sync.Once
}

func (b *countedBody) Read(into []byte) (int, error) {
	n, err := b.wrapped.Read(into)
	b.resource.change(func(s *resourceState) { s.bytes += uint64(n); b.bytes += int64(n) })
	return n, err
}

func (b *countedBody) Close() error {
	b.closed.Do(func() { b.record(b.read(), nil) })
	return b.wrapped.Close()
}

func (b *countedBody) read() (bytes int64) {
	b.resource.change(func(*resourceState) { bytes = b.bytes })
	return bytes
}

func (b *countedBody) record(bytes int64, err error) {
	now := time.Now()
	rec := record{
		at: now.UnixNano(), took: int64(now.Sub(b.began)), stage: watching, kind: TypeRequested, resource: b.resource.Resource,
		verb: b.verb, code: b.code, bytes: bytes, problem: Cause(err),
	}
	b.resource.recorder.add(&rec, &b.resource.recorder.notable, false, "")
}
