// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	externalversions "fairlead.dev/fairlead/pkg/generated/informers/externalversions"
	appslisters "fairlead.dev/fairlead/pkg/generated/listers/apps/v1"
)

// ClassHandler handles the events of ApplicationClasses. It must return quickly.
type ClassHandler = cache.TypedResourceEventHandler[*v1.ApplicationClass]

// byClass is the name of the index that finds the Applications that name a class. Applications that name none are
// under noClass.
const (
	byClass = "class"
	noClass = ""
)

// classes is the cache of ApplicationClasses. They are cluster-scoped, so there is one cache, whichever namespaces
// are watched. It is nil if ApplicationClasses are disabled.
type classes struct {
	factory  externalversions.SharedInformerFactory
	informer cache.TypedSharedIndexInformer[*v1.ApplicationClass]
	lister   appslisters.ApplicationClassLister
	// instrumentation is nil if nothing is recorded.
	instrumentation *instrumentation
}

func newClasses(fairlead versioned.Interface, recorder *debug.Recorder) (*classes, error) {
	instrumentation := newInstrumentation(recorder, metav1.NamespaceAll)
	if err := instrumentation.begin(); err != nil {
		return nil, err
	}
	// Classes need no resync: the resync of the Applications covers them.
	factory := externalversions.NewSharedInformerFactoryWithOptions(fairlead, 0, externalversions.WithTransform(trimClass))
	recordClasses(instrumentation, factory)
	resource := factory.Apps().V1().ApplicationClasses()
	informer := resource.TypedInformer()
	if err := informer.SetWatchErrorHandlerWithContext(reportClassWatchError); err != nil {
		return nil, fmt.Errorf("set watch error handler for ApplicationClasses: %w", err)
	}
	return &classes{factory: factory, informer: informer, lister: resource.Lister(), instrumentation: instrumentation}, nil
}

// reportClassWatchError also says what waits, because a class that cannot be read is never treated as absent.
func reportClassWatchError(ctx context.Context, reflector *cache.Reflector, err error) {
	if !apierrors.IsForbidden(err) {
		reportWatchError(v1.ApplicationClassResource)(ctx, reflector, err)
		return
	}
	klog.FromContext(ctx).Error(err, "No permission to read ApplicationClasses; until it is granted, a restarted controller syncs no Application: "+
		"grant get, list and watch, or start the controller with --classes=false")
}

func (c *classes) start(ctx context.Context) {
	if c != nil {
		c.factory.StartWithContext(ctx)
	}
}

func (c *classes) shutdown() {
	if c != nil {
		c.factory.Shutdown()
		c.instrumentation.end()
	}
}

// trimClass removes what no sync reads from a class before it enters the cache.
func trimClass(object any) (any, error) {
	if class, ok := object.(*v1.ApplicationClass); ok {
		class.ManagedFields = nil
		delete(class.Annotations, corev1.LastAppliedConfigAnnotation)
	}
	return object, nil
}

// HandleClasses registers a handler and returns what to wait for, like Handle.
func (i *Informers) HandleClasses(handler ClassHandler) ([]cache.DoneChecker, error) {
	if i.classes == nil {
		return nil, nil
	}
	registration, err := i.classes.informer.AddTypedEventHandler(instrumentedHandler(i.classes.instrumentation.resource(classesGVR, roleClasses), handler))
	if err != nil {
		return nil, fmt.Errorf("handle ApplicationClasses: %w", err)
	}
	return []cache.DoneChecker{registration.HasSyncedChecker()}, nil
}

// Classes returns all cached ApplicationClasses, in no order. The cache owns them: never change them.
func (i *Informers) Classes() ([]*v1.ApplicationClass, error) {
	if i.classes == nil {
		return nil, nil
	}
	if !i.classes.informer.HasSynced() {
		return nil, errors.New("ApplicationClasses have not been listed yet")
	}
	return i.classes.lister.List(labels.Everything())
}

// SeesAllNamespaces reports whether OfClass knows the Applications of all namespaces.
func (i *Informers) SeesAllNamespaces() bool {
	_, all := i.scopes[metav1.NamespaceAll]
	return all
}

// OfClass returns the cached Applications that name the class, of all watched namespaces and in no order. For "" it
// returns those that name none. The cache owns them: never change them.
func (i *Informers) OfClass(name string) ([]*v1.Application, error) {
	var all []*v1.Application
	for _, s := range i.scopes {
		found, err := s.applications.GetTypedIndexer().ByTypedIndex(byClass, name)
		if err != nil {
			return nil, fmt.Errorf("find the Applications of class %q: %w", name, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// classIndexers returns the indexers that the informers of Applications need to find them by class.
func classIndexers() cache.Indexers {
	return cache.Indexers{byClass: func(object any) ([]string, error) {
		application, ok := object.(*v1.Application)
		if !ok {
			return nil, fmt.Errorf("index classes: %T is not an Application", object)
		}
		if application.Spec.ClassName == "" {
			return []string{noClass}, nil
		}
		return []string{application.Spec.ClassName}, nil
	}}
}
