// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// errTotalTime is why a stream ends that has lasted too long.
var errTotalTime = errors.New("the stream has lasted as long as it may; ask again")

// logs is the registry of applications/log. It is not called logs: kube-apiserver keeps only requests for log open
// for longer than a minute.
type logs struct {
	caches   *caches
	history  *history // It knows whether the caches are filled.
	access   access
	streams  *streams
	open     openLog
	stopping <-chan struct{} // closed when the server shuts down
}

var (
	_ rest.GetterWithOptions = &logs{}
	_ rest.StorageMetadata   = &logs{}
)

func (r *logs) New() runtime.Object { return &v1alpha1.ApplicationRuntime{} }
func (r *logs) Destroy()            {}

// NewGetOptions implements rest.GetterWithOptions.
func (r *logs) NewGetOptions() (options runtime.Object, subpath bool, subpathKey string) {
	return &v1alpha1.ApplicationLogOptions{}, false, ""
}

// ProducesMIMETypes implements rest.StorageMetadata.
func (r *logs) ProducesMIMETypes(string) []string { return []string{"text/plain"} }

// ProducesObject implements rest.StorageMetadata.
func (r *logs) ProducesObject(string) any { return "" }

// Get returns a stream, which opens the logs only when it is read.
func (r *logs) Get(ctx context.Context, name string, object runtime.Object) (runtime.Object, error) {
	if err := r.access.require(ctx, name, onApplications("get", name), onPods("list", ""), onPods("get", "log")); err != nil {
		return nil, err
	}
	if err := r.history.ready(); err != nil {
		return nil, err
	}
	options, ok := object.(*v1alpha1.ApplicationLogOptions)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%T is not ApplicationLogOptions", object))
	}
	if err := checkLogOptions(options); err != nil {
		return nil, err
	}
	key := cache.ObjectName{Namespace: request.NamespaceValue(ctx), Name: name}
	if _, found := r.caches.application(key); !found {
		return nil, apierrors.NewNotFound(v1alpha1.Resource(v1.ApplicationResource), name)
	}
	pods, err := r.caches.podsOf(key)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if limit := r.streams.limits.PodsPerRequest; len(pods) > limit {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s has %d pods, and a stream reads %d at most: use kubectl logs for single pods", name, len(pods), limit))
	}
	return &logStream{registry: r, application: key, pods: pods, options: options}, nil
}

func checkLogOptions(options *v1alpha1.ApplicationLogOptions) error {
	switch {
	case options.SinceSeconds != nil && *options.SinceSeconds < 1:
		return apierrors.NewBadRequest("sinceSeconds must be at least 1")
	case options.TailLines != nil && *options.TailLines < 0:
		return apierrors.NewBadRequest("tailLines must not be negative")
	case options.Follow && options.Previous:
		return apierrors.NewBadRequest("follow and previous exclude each other: a previous run has ended")
	default:
		return nil
	}
}

// logStream is what Get returns for the handler to stream.
type logStream struct {
	registry    *logs
	application cache.ObjectName
	pods        []*pod
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
	limits := s.registry.streams.limits
	ctx, stop := context.WithCancel(ctx)
	ctx, stopTimer := context.WithTimeoutCause(ctx, limits.TotalTime, errTotalTime)
	finished := make(chan struct{})
	var reader io.Reader
	work := func() {}
	if s.options.Follow {
		queue := newLineQueue(ctx, limits.BufferedBytes, limits.IdleTime)
		f := &follower{open: s.registry.open, namespace: s.application.Namespace, options: s.options, pods: s.present, queue: queue}
		reader, work = queue, func() { f.run(ctx) }
	} else {
		pipeReader, pipeWriter := io.Pipe()
		context.AfterFunc(ctx, func() { _ = pipeReader.CloseWithError(io.EOF) })
		reader, work = pipeReader, func() {
			_ = pipeWriter.CloseWithError(merge(ctx, s.registry.open, s.application.Namespace, containersOf(s.pods, s.options), s.options, pipeWriter))
		}
	}
	go func() {
		defer close(finished)
		work()
	}()
	go func() {
		select {
		case <-s.registry.stopping:
			stop()
		case <-ctx.Done():
		}
	}()
	return &closer{Reader: reader, close: func() {
		stop()
		stopTimer()
		<-finished
		release()
	}}, true, "text/plain", nil
}

// present returns the pods of the Application, as many as a stream reads.
func (s *logStream) present() []*pod {
	pods, err := s.registry.caches.podsOf(s.application)
	if err != nil {
		return nil
	}
	return pods[:min(len(pods), s.registry.streams.limits.PodsPerRequest)]
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
