// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"fmt"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	definitions "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/child"
)

const (
	// discoveryInterval is how often the controller reads discovery if it may not watch CustomResourceDefinitions.
	discoveryInterval = 10 * time.Minute
	// discoveryRetry is the delay after discovery failed. A recheck has no delay: its caller got a 404, and backs off
	// itself.
	discoveryRetry = 5 * time.Second
)

// Discovery lists the resources of an API group and version.
type Discovery interface {
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
}

// apiWatcher knows whether the cluster serves the API of a kind. It watches only the kind's
// CustomResourceDefinition. A controller that may not do that polls discovery.
type apiWatcher struct {
	kind      child.Kind
	informer  cache.SharedIndexInformer // nil: discovery is polled
	synced    cache.DoneChecker
	discovery Discovery
	// changed has an entry when present may have changed.
	changed  chan struct{}
	rechecks chan struct{}

	mu       sync.Mutex
	instance string
}

// newAPIWatcher returns the apiWatcher of a kind. Without either client the API is never served.
func newAPIWatcher(kind child.Kind, crds apiextensions.Interface, discovery Discovery) (*apiWatcher, error) {
	a := &apiWatcher{kind: kind, discovery: discovery, changed: make(chan struct{}, 1), rechecks: make(chan struct{}, 1)}
	if crds == nil {
		return a, nil
	}
	only := fields.OneTermEqualSelector(metav1.ObjectNameField, definitionName(kind)).String()
	a.informer = definitions.NewFilteredCustomResourceDefinitionInformer(crds, 0, cache.Indexers{}, func(options *metav1.ListOptions) { options.FieldSelector = only })
	if err := a.informer.SetTransform(trimDefinition); err != nil {
		return nil, fmt.Errorf("trim CustomResourceDefinitions: %w", err)
	}
	if err := a.informer.SetWatchErrorHandlerWithContext(reportWatchError("customresourcedefinitions")); err != nil {
		return nil, fmt.Errorf("set watch error handler for CustomResourceDefinitions: %w", err)
	}
	observe := func(object any) {
		if definition, ok := object.(*apiextensionsv1.CustomResourceDefinition); ok {
			a.set(instanceOf(definition, kind.Version))
		}
	}
	registration, err := a.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    observe,
		UpdateFunc: func(_, after any) { observe(after) },
		DeleteFunc: func(any) { a.set("") },
	})
	if err != nil {
		return nil, fmt.Errorf("handle CustomResourceDefinitions: %w", err)
	}
	a.synced = registration.HasSyncedChecker()
	return a, nil
}

// instanceOf returns the UID of the definition, which distinguishes one life of an API from the next. It returns ""
// if the cluster does not serve the version, or is about to stop serving it.
func instanceOf(definition *apiextensionsv1.CustomResourceDefinition, version string) string {
	if definition.DeletionTimestamp != nil {
		return ""
	}
	established := false
	for _, condition := range definition.Status.Conditions {
		established = established || condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue
	}
	for _, v := range definition.Spec.Versions {
		if established && v.Name == version && v.Served {
			return string(definition.UID)
		}
	}
	return ""
}

// trimDefinition keeps what instanceOf reads. The schemas of a definition can take half a megabyte.
func trimDefinition(object any) (any, error) {
	definition, ok := object.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return object, nil
	}
	trimmed := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: definition.Name, UID: definition.UID, ResourceVersion: definition.ResourceVersion, DeletionTimestamp: definition.DeletionTimestamp,
	}}
	for _, version := range definition.Spec.Versions {
		trimmed.Spec.Versions = append(trimmed.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: version.Name, Served: version.Served})
	}
	for _, condition := range definition.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			trimmed.Status.Conditions = append(trimmed.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{Type: condition.Type, Status: condition.Status})
		}
	}
	return trimmed, nil
}

// run watches or polls until ctx ends.
func (a *apiWatcher) run(ctx context.Context) {
	if a.informer == nil {
		a.pollDiscovery(ctx)
		return
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { a.informer.RunWithContext(ctx) })
	if cache.WaitFor(ctx, "", a.synced) {
		a.signal() // If there is no definition, no event did.
	}
}

// present returns the instance that the cluster serves, or "".
func (a *apiWatcher) present() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.instance
}

func (a *apiWatcher) set(instance string) {
	a.mu.Lock()
	a.instance = instance
	a.mu.Unlock()
	a.signal()
}

func (a *apiWatcher) signal() {
	select {
	case a.changed <- struct{}{}:
	default: // A signal is pending; its receiver sees this change too.
	}
}

// recheck reads discovery at once. A caller that got a 404 from an API that should be served calls it. The watch of
// the definition needs no such hint.
func (a *apiWatcher) recheck() {
	select {
	case a.rechecks <- struct{}{}:
	default:
	}
}

// pollDiscovery reads discovery until ctx ends.
func (a *apiWatcher) pollDiscovery(ctx context.Context) {
	if a.discovery == nil {
		a.set("")
		return
	}
	for {
		next := discoveryInterval
		if instance, err := a.discover(ctx); err == nil {
			a.set(instance)
		} else if ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Cannot read discovery; retrying", "resource", a.kind.Resource)
			next = discoveryRetry
		}
		timer := time.NewTimer(next)
		select {
		case <-timer.C:
		case <-a.rechecks:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

func (a *apiWatcher) discover(ctx context.Context) (instance string, err error) {
	list, err := a.discovery.ServerResourcesForGroupVersionWithContext(ctx, a.kind.GroupVersionKind().GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("discover the API of %s: %w", a.kind, err)
	}
	if a.kind.ServedIn(list) {
		return "discovered", nil
	}
	return "", nil
}
