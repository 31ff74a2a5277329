// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// endError is why the server ends a stream. The client reads it as the last line.
type endError string

func (e endError) Error() string { return string(e) }

const (
	errTotalTime endError = "the stream has lasted as long as it may; ask again"
	errRevoked   endError = "you may no longer read these logs; the stream ends"
	errStopping  endError = "this server stops; ask again, and another one answers"
)

// lastLine is what a client reads at the end of a stream, given its context.
func lastLine(ctx context.Context) string {
	if reason := endError(""); errors.As(context.Cause(ctx), &reason) {
		return "fairlead: " + reason.Error() + "\n"
	}
	return ""
}

// accessPeriod is how often a stream asks whether its user may still read it. A stream lasts for hours and reads pods that
// start later, while kubectl logs would ask again for each of them.
const accessPeriod = time.Minute

// logStream is what Get returns for the handler to stream.
type logStream struct {
	registry    *logs
	application cache.ObjectName
	containers  []container // when the request came
	options     *v1alpha1.ApplicationLogOptions
}

var _ rest.ResourceStreamer = &logStream{}

// GetObjectKind and DeepCopyObject make it a runtime.Object, which the handler of Get wants; it is no object of the API.
func (s *logStream) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns the stream itself: nothing changes it.
func (s *logStream) DeepCopyObject() runtime.Object { return s }

// InputStream implements rest.ResourceStreamer. The context is that of the request.
func (s *logStream) InputStream(ctx context.Context, _, _ string) (stream io.ReadCloser, flush bool, mimeType string, err error) {
	user, known := request.UserFrom(ctx)
	if !known {
		return nil, false, "", apierrors.NewInternalError(errors.New("the request has no user"))
	}
	release, err := s.registry.streams.acquire(user.GetName())
	if err != nil {
		return nil, false, "", err
	}
	deadline := newWriteDeadline(ctx, s.registry.limits.IdleTime)
	ctx, end := context.WithCancelCause(ctx)
	ctx, stopTimer := context.WithTimeoutCause(ctx, s.registry.limits.TotalTime, errTotalTime)
	reader, work, err := s.start(ctx)
	if err != nil {
		stopTimer()
		end(nil)
		release()
		return nil, false, "", err
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		work()
	}()
	go guard(ctx, end, s.registry.stopping, func(ctx context.Context) error { return s.registry.mayRead(ctx, s.application.Name) })
	context.AfterFunc(ctx, deadline.finish)
	return &closer{Reader: deadline.reader(reader), close: func() {
		deadline.close()
		end(nil)
		stopTimer()
		<-finished
		release()
	}}, true, "text/plain", nil
}

// start returns what the client reads, and what feeds it until the context ends.
func (s *logStream) start(ctx context.Context) (reader io.Reader, work func(), err error) {
	limits, readers := s.registry.limits, s.registry.readers
	if s.options.Follow {
		queue := newLineQueue(ctx, limits.BufferedBytes, limits.IdleTime)
		f := &follower{open: s.registry.open, namespace: s.application.Namespace, options: s.options, present: s.present, limit: limits.ContainersPerRequest, readers: readers, queue: queue}
		return queue, func() { f.run(ctx) }, nil
	}
	count := len(s.containers)
	if !readers.acquire(count) {
		return nil, nil, apierrors.NewTooManyRequests(fmt.Sprintf("the server reads %d logs, and cannot read %d more; try again later", len(readers), count), retryAfter)
	}
	pipeReader, pipeWriter := io.Pipe()
	// The end of the writer is the end of the log for the reader; one that closed itself would be an error.
	context.AfterFunc(ctx, func() { _ = pipeWriter.Close() })
	return io.MultiReader(pipeReader, &farewell{ctx: ctx}), func() {
		defer readers.release(count)
		defer pipeWriter.Close()
		// It ends early only because the stream has ended.
		_ = merge(ctx, s.registry.open, s.application.Namespace, s.containers, s.options, pipeWriter)
	}, nil
}

// guard ends a stream when its user loses the permission, or the server stops.
func guard(ctx context.Context, end context.CancelCauseFunc, stopping <-chan struct{}, may func(context.Context) error) {
	ticker := time.NewTicker(accessPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-stopping:
			end(errStopping)
			return
		case <-ticker.C:
			// While kube-apiserver cannot answer, nothing has been revoked.
			if apierrors.IsForbidden(may(ctx)) {
				end(errRevoked)
				return
			}
		}
	}
}

// present returns the containers of the Application now.
func (s *logStream) present() []container {
	pods, err := s.registry.caches.podsOf(s.application)
	if err != nil {
		return nil
	}
	return containersOf(pods[:min(len(pods), s.registry.limits.PodsPerRequest)], s.options)
}

// farewell reads as the last line of a stream.
type farewell struct {
	ctx  context.Context //nolint:containedctx // The life of the stream.
	line io.Reader
}

// Read implements io.Reader.
func (f *farewell) Read(into []byte) (int, error) {
	if f.line == nil {
		f.line = strings.NewReader(lastLine(f.ctx))
	}
	return f.line.Read(into)
}

// closer is a reader that ends what feeds it.
type closer struct {
	io.Reader
	close func()
}

// Close implements io.Closer.
func (c *closer) Close() error {
	c.close()
	return nil
}
