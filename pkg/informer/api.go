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
	// askAgain is how often discovery is asked where CustomResourceDefinitions may not be watched.
	askAgain = 10 * time.Minute
	// askSoon is when it is asked again after it did not answer. After doubts it is asked at once: who has them
	// met a 404, and backs off itself.
	askSoon = 5 * time.Second
)

// Discovery tells what an API group and version serves.
type Discovery interface {
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
}

// api knows whether the API of a kind is served. It watches the CustomResourceDefinition, this one
// alone; a controller that may not do that asks discovery now and then.
type api struct {
	kind      child.Kind
	informer  cache.SharedIndexInformer // nil: discovery is asked
	synced    cache.DoneChecker
	discovery Discovery
	// changed has an entry when present may say something new.
	changed chan struct{}
	doubts  chan struct{}

	mu       sync.Mutex
	instance string
}

// newAPI makes the api of a kind. Without either client it is never served.
func newAPI(kind child.Kind, crds apiextensions.Interface, discovery Discovery) (*api, error) {
	a := &api{kind: kind, discovery: discovery, changed: make(chan struct{}, 1), doubts: make(chan struct{}, 1)}
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
	see := func(object any) {
		if definition, ok := object.(*apiextensionsv1.CustomResourceDefinition); ok {
			a.set(instanceOf(definition, kind.Version))
		}
	}
	registration, err := a.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    see,
		UpdateFunc: func(_, after any) { see(after) },
		DeleteFunc: func(any) { a.set("") },
	})
	if err != nil {
		return nil, fmt.Errorf("handle CustomResourceDefinitions: %w", err)
	}
	a.synced = registration.HasSyncedChecker()
	return a, nil
}

// instanceOf tells one life of an API from the next, by the UID of the definition; "" if the version
// is not served, not yet, or not for long any more.
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

// trimDefinition keeps what instanceOf reads: the schemas of a definition can be half a megabyte.
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

// run watches or asks until ctx ends.
func (a *api) run(ctx context.Context) {
	if a.informer == nil {
		a.ask(ctx)
		return
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { a.informer.RunWithContext(ctx) })
	if cache.WaitFor(ctx, "", a.synced) {
		a.signal() // Without a definition there was no event.
	}
}

// present is the instance that is served, or "".
func (a *api) present() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.instance
}

func (a *api) set(instance string) {
	a.mu.Lock()
	a.instance = instance
	a.mu.Unlock()
	a.signal()
}

func (a *api) signal() {
	select {
	case a.changed <- struct{}{}:
	default: // One is waiting; whoever takes it sees this too.
	}
}

// doubt is for who met a 404 of what should be served. Discovery is asked at once then; the watch of the
// definition needs no hint.
func (a *api) doubt() {
	select {
	case a.doubts <- struct{}{}:
	default:
	}
}

// ask asks discovery until ctx ends.
func (a *api) ask(ctx context.Context) {
	if a.discovery == nil {
		a.set("")
		return
	}
	for {
		next := askAgain
		if instance, err := a.discover(ctx); err == nil {
			a.set(instance)
		} else if ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Cannot find out whether an API is served; asking again", "resource", a.kind.Resource)
			next = askSoon
		}
		timer := time.NewTimer(next)
		select {
		case <-timer.C:
		case <-a.doubts:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

func (a *api) discover(ctx context.Context) (instance string, err error) {
	list, err := a.discovery.ServerResourcesForGroupVersionWithContext(ctx, a.kind.GroupVersionKind().GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("ask for the API of %s: %w", a.kind, err)
	}
	for _, resource := range list.APIResources {
		if resource.Name == a.kind.Resource {
			return "discovered", nil
		}
	}
	return "", nil
}
