// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package applytest

import (
	"context"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
)

// Secrets and Namespaces are not kinds of children. Applications refer to Secrets and ConfigMaps.
var (
	Secrets    = child.Kind{Version: "v1", Kind: "Secret", Resource: "secrets"}
	Namespaces = child.Kind{Version: "v1", Kind: "Namespace", Resource: "namespaces"}
)

// knowReferences adds the kinds to which pods refer.
func (s *Server) knowReferences() {
	for _, k := range []child.Kind{Secrets, Namespaces} {
		s.kinds[k.GroupVersionResource()] = &kind{Kind: k, objects: map[cache.ObjectName]child.Object{}, watchers: map[*watcher]struct{}{}}
	}
}

// Metadata returns a client that can only list and watch metadata.
func (s *Server) Metadata() metadata.Interface { return metadataClient{s} }

type metadataClient struct{ server *Server }

func (c metadataClient) Resource(resource schema.GroupVersionResource) metadata.Getter {
	return metadataResource{server: c.server, resource: resource}
}

// IsWatchListSemanticsUnSupported makes the informers list before they watch.
func (c metadataClient) IsWatchListSemanticsUnSupported() bool { return true }

type metadataResource struct {
	metadata.ResourceInterface // nil: other methods panic
	server                     *Server
	resource                   schema.GroupVersionResource
	namespace                  string
}

func (r metadataResource) Namespace(namespace string) metadata.ResourceInterface {
	r.namespace = namespace
	return r
}

func (r metadataResource) List(ctx context.Context, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	k := r.server.kindOf(r.resource)
	list := &metav1.PartialObjectMetadataList{}
	err := r.server.serve(ctx, Request{Verb: "list", Kind: k.Kind, Namespace: r.namespace}, func() error {
		objects, err := r.server.list(k, scopeOf(r.namespace, options))
		if err != nil {
			return err
		}
		list.ResourceVersion = strconv.FormatInt(r.server.version, 10)
		return meta.EachListItem(objects, func(object runtime.Object) error {
			item, err := metadataOf(object)
			if err == nil {
				list.Items = append(list.Items, *item)
			}
			return err
		})
	})
	return list, err
}

func (r metadataResource) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	after, err := strconv.ParseInt(options.ResourceVersion, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("applytest: watch without the version of a list: %w", err)
	}
	k := r.server.kindOf(r.resource)
	var answer watch.Interface
	err = r.server.serve(ctx, Request{Verb: "watch", Kind: k.Kind, Namespace: r.namespace}, func() (err error) {
		answer, err = r.server.watch(k, scopeOf(r.namespace, options), after)
		return err
	})
	if err != nil {
		return nil, err
	}
	return watch.Filter(answer, func(event watch.Event) (watch.Event, bool) {
		if item, err := metadataOf(event.Object); err == nil {
			event.Object = item
		}
		return event, true // An error has no metadata, and is passed on.
	}), nil
}

func metadataOf(object runtime.Object) (*metav1.PartialObjectMetadata, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	return meta.AsPartialObjectMetadata(accessor), nil
}
