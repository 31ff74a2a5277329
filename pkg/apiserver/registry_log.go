// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// logs is the registry of applications/log. It is not called logs: kube-apiserver keeps only requests for log open
// for longer than a minute.
type logs struct {
	caches   *caches
	history  *history // It knows whether the caches are filled.
	access   access
	limits   Limits
	streams  *quota
	readers  readers
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
	if err := r.mayRead(ctx, name); err != nil {
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
	if limit := r.limits.PodsPerRequest; len(pods) > limit {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s has %d pods, and a stream reads %d at most: use kubectl logs for single pods", name, len(pods), limit))
	}
	containers := containersOf(pods, options)
	if len(containers) == 0 && len(pods) > 0 {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("no pod of %s has a container %s: choose %s", name, options.Container, strings.Join(containerNames(pods), ", ")))
	}
	if limit := r.limits.ContainersPerRequest; len(containers) > limit {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the pods of %s have %d containers, and a stream reads %d at most: select one with container", name, len(containers), limit))
	}
	return &logStream{registry: r, application: key, containers: containers, options: options}, nil
}

func containerNames(pods []*pod) []string {
	var names []string
	for _, p := range pods {
		names = append(names, p.Containers...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// mayRead returns an error unless the user of the request may read the logs of all pods of the namespace.
func (r *logs) mayRead(ctx context.Context, name string) error {
	return r.access.require(ctx, name, onApplications("get", name), onPods("list", ""), onPods("get", "log"))
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
