// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"fmt"
	"slices"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gateway "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// OptionalAPIs are the clients of the kinds that are not built into Kubernetes.
type OptionalAPIs struct {
	// Gateway reads HTTPRoutes. nil disables them.
	Gateway gateway.Interface
	// Dynamic reads ServiceMonitors. nil disables them.
	Dynamic dynamic.Interface
	// CRDs watches the definitions of the optional kinds. If it is nil, the controller reads Discovery at the start
	// and every ten minutes.
	CRDs      apiextensions.Interface
	Discovery Discovery
}

// byOptionalKind is the name of the index that finds the Applications that have, or may want, a child of an optional
// kind.
const byOptionalKind = "optionalKind"

func optionalKindIndexers() cache.Indexers {
	return cache.Indexers{byOptionalKind: func(object any) ([]string, error) {
		application, ok := object.(*v1.Application)
		if !ok {
			return nil, fmt.Errorf("index optional kinds: %T is not an Application", object)
		}
		var kinds []string
		for _, kind := range child.OptionalKinds() {
			if mayUse(application, kind) {
				kinds = append(kinds, kind.Kind)
			}
		}
		return kinds, nil
	}}
}

// ListedElsewhere reports whether the status of an Application outside the namespace lists a child of the kind.
func (i *Informers) ListedElsewhere(kind child.Kind, namespace string) bool {
	for _, s := range i.scopes {
		concerned, err := s.applications.GetTypedIndexer().ByTypedIndex(byOptionalKind, kind.Kind)
		if err == nil && slices.ContainsFunc(concerned, func(a *v1.Application) bool { return a.Namespace != namespace && hasChild(a, kind) }) {
			return true
		}
	}
	return false
}

func hasChild(application *v1.Application, kind child.Kind) bool {
	return slices.ContainsFunc(application.Status.Resources, func(r v1.ResourceStatus) bool { return r.Group == kind.Group && r.Kind == kind.Kind })
}

// mayUse reports whether the Application is concerned when the API of the kind comes or goes: its status lists a
// child of the kind, its spec asks for one or would do so, or it was refused a host name that such a child may serve.
// The status also has the defaults of its class.
func mayUse(application *v1.Application, kind child.Kind) bool {
	if hasChild(application, kind) {
		return true
	}
	stalled := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionStalled)
	if kind == child.HTTPRoute && stalled != nil && stalled.Reason == v1.ReasonRouteConflict {
		return true
	}
	if kind == child.ServiceMonitor {
		return application.Spec.Monitoring != nil
	}
	byClass := false
	if class := application.Status.Class; class != nil && class.Defaults != nil && class.Defaults.Routes != nil {
		byClass = len(class.Defaults.Routes.ParentRefs) > 0
	}
	for i := range application.Spec.Routes {
		if route := &application.Spec.Routes[i]; route.MayBeHTTPRoute() || byClass && route.Type != v1.RouteIngress {
			return true
		}
	}
	return false
}

// newOptionals creates the caches of the optional kinds that have clients.
func (i *Informers) newOptionals(namespaces []string, options Options) error {
	apis := options.Optional
	if apis.Gateway != nil {
		if err := i.addOptional(child.HTTPRoute, namespaces, options, &gatewayv1.HTTPRoute{}, newChildCache[gatewayv1.HTTPRoute], func(namespace string) cache.ListerWatcher {
			return listerWatcher(apis.Gateway, apis.Gateway.GatewayV1().HTTPRoutes(namespace), managedSelector)
		}); err != nil {
			return err
		}
	}
	if apis.Dynamic != nil {
		monitors := apis.Dynamic.Resource(child.ServiceMonitor.GroupVersionResource())
		return i.addOptional(child.ServiceMonitor, namespaces, options, &unstructured.Unstructured{}, newChildCache[unstructured.Unstructured], func(namespace string) cache.ListerWatcher {
			return listerWatcher(apis.Dynamic, monitors.Namespace(namespace), managedSelector)
		})
	}
	return nil
}

// addOptional creates the caches of one kind. It uses no factory, which would create each informer only once.
func (i *Informers) addOptional(
	kind child.Kind, namespaces []string, options Options,
	example runtime.Object, cacheOf func(child.Kind, cache.SharedIndexInformer) *children, list func(namespace string) cache.ListerWatcher,
) error {
	api, err := newAPIWatcher(kind, options.Optional.CRDs, options.Optional.Discovery)
	if err != nil {
		return err
	}
	o := newOptional(kind, namespaces, api, options.Access)
	o.concerned = i.concerned
	o.instrumentations = recordOptional(options.Debug, kind, namespaces, example)
	o.open = func(namespace string) (*children, error) {
		instrumentation := o.instrumentations[namespace]
		if err := instrumentation.begin(); err != nil {
			return nil, err
		}
		c := cacheOf(kind, instrumentation.informer(kind.GroupVersionResource(), roleChildren, recordedChild(kind, example), list(namespace), example,
			cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}, ObjectDescription: kind.String()}))
		if err := c.informer.SetTransform(encodeChild); err != nil {
			return nil, fmt.Errorf("encode %s: %w", kind, err)
		}
		return c, c.addIndexers()
	}
	i.optional = append(i.optional, o)
	return nil
}

// waitForAccess reports whether the controller may read a resource. It retries until the API server answers. A nil
// Access permits everything.
func waitForAccess(ctx context.Context, access Access, resource schema.GroupResource, namespace string) bool {
	if access == nil {
		return true
	}
	permitted := false
	_ = wait.PollUntilContextCancel(ctx, accessRetry, true, func(ctx context.Context) (bool, error) {
		var err error
		if permitted, err = access(ctx, resource, namespace); err != nil {
			klog.FromContext(ctx).Error(err, "Cannot review own access; retrying", "resource", resource.Resource, "namespace", namespace)
			return false, nil
		}
		return true, nil
	})
	return permitted
}
