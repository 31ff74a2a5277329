// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"
)

// log is the subresource sessions/log. kube-apiserver leaves requests of that name open, and ends others after a minute.
type log struct{ store *store }

var _ rest.Getter = &log{}

func (r *log) New() runtime.Object { return &Session{} }
func (r *log) Destroy()            {}

// Get opens a stream.
func (r *log) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	opened, err := r.store.open(nameIn(ctx, name))
	if err != nil {
		return nil, err
	}
	return &stream{store: r.store, name: nameIn(ctx, name), of: opened}, nil
}

// stream is no object. The handler of Get looks for InputStream before it encodes anything.
type stream struct {
	store *store
	name  cache.ObjectName
	of    *session
}

var _ rest.ResourceStreamer = &stream{}

func (s *stream) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }
func (s *stream) DeepCopyObject() runtime.Object   { return s }

// InputStream says goodbye when the deletion begins, and ends with its client, or with the session.
func (s *stream) InputStream(ctx context.Context, _, _ string) (_ io.ReadCloser, flush bool, mimeType string, _ error) {
	reader, writer := io.Pipe()
	go func() {
		defer s.store.closed(s.name, s.of)
		defer writer.Close()
		fmt.Fprintln(writer, "welcome")
		select {
		case <-s.of.ending:
			fmt.Fprintln(writer, "the session ends, please hang up")
		case <-s.of.ended:
		case <-ctx.Done():
		}
		select {
		case <-s.of.ended:
		case <-ctx.Done():
		}
	}()
	return reader, true, "text/plain", nil
}
