// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/childcodec"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/render"
)

// Platform has the settings of the controller that a rendering depends on. Its flags have the controller's names.
type Platform struct {
	Validation   validation.Options
	RequireClass bool
	Facts        render.Facts
}

// liveReader reads what a rendering compares with, from the API server: the caches of this server keep less.
type liveReader struct {
	caches   *caches
	access   access
	clients  Clients
	platform Platform
}

// mayRead returns an error unless the user may apply the Application, and read its children of the kinds that every cluster has.
func (l *liveReader) mayRead(ctx context.Context, name string) error {
	needed := []permission{onApplications("get", name), onApplications("patch", name), onPods("list", "")}
	for _, kind := range child.Kinds() {
		needed = append(needed, onChildren(kind))
	}
	return l.access.require(ctx, name, needed...)
}

func onChildren(kind child.Kind) permission {
	return permission{verb: "list", group: kind.Group, version: kind.Version, resource: kind.Resource}
}

// application returns the live Application, or nil if there is none and the user may create it.
func (l *liveReader) application(ctx context.Context, name string) (*v1.Application, error) {
	application, err := l.clients.Fairlead.AppsV1().Applications(request.NamespaceValue(ctx)).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, l.access.require(ctx, name, onApplications("create", ""))
	case err != nil:
		return nil, fmt.Errorf("get Application: %w", err)
	case len(application.DecodeErrors) > 0:
		return nil, apierrors.NewBadRequest("this version of the server cannot read the live Application; the Application's condition Stalled says why")
	default:
		return application, nil
	}
}

// snapshot reads the children of an Application. Optional kinds that the user may not list are left out, and returned.
func (l *liveReader) snapshot(ctx context.Context, application *v1.Application) (child.Snapshot, unreadKinds, error) {
	live := child.Snapshot{Application: application, Children: map[child.Ref]child.Object{}}
	unread := unreadKinds{}
	for _, kind := range child.AllKinds() {
		if kind.Optional() {
			if err := l.access.require(ctx, application.Name, onChildren(kind)); apierrors.IsForbidden(err) {
				unread[kind] = err
				continue
			} else if err != nil {
				return live, nil, err
			}
		}
		found, err := l.children(ctx, application, kind)
		if err != nil {
			return live, nil, err
		}
		maps.Copy(live.Children, found)
	}
	return live, unread, l.addPods(&live)
}

// children lists the children of one kind, and gets those that only the status names: they may have lost the label.
func (l *liveReader) children(ctx context.Context, application *v1.Application, kind child.Kind) (map[child.Ref]child.Object, error) {
	client := l.clients.Dynamic.Resource(kind.GroupVersionResource()).Namespace(application.Namespace)
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + application.Name})
	if kind.Optional() && apierrors.IsNotFound(err) {
		return nil, nil // The cluster does not serve it.
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", kind.Resource, err)
	}
	found := map[child.Ref]child.Object{}
	for i := range list.Items {
		if err := addChild(found, kind, &list.Items[i]); err != nil {
			return nil, err
		}
	}
	for _, resource := range application.Status.Resources {
		ref, known := child.RefOf(application, resource)
		if !known || ref.Kind != kind || found[ref] != nil {
			continue
		}
		object, err := client.Get(ctx, ref.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get %s: %w", ref, err)
		}
		if err := addChild(found, kind, object); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// maxForeign is how many objects of other owners a rendering looks for. An Application without many routes has fewer children.
const maxForeign = 10

// addForeign gets the objects that have the names of children to create, and reports whether there are any: they lack the label. The user may
// list each of these kinds, and so read them, because a rendering with another kind was refused before.
func (l *liveReader) addForeign(ctx context.Context, live child.Snapshot, difference preview.Difference) (found bool, err error) {
	looked := 0
	for _, c := range difference.Children {
		kind, known := child.KindNamed(c.Kind)
		if !known || c.Action != preview.Create {
			continue
		}
		if looked == maxForeign {
			break
		}
		looked++
		object, err := l.clients.Dynamic.Resource(kind.GroupVersionResource()).Namespace(live.Application.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("get %s %s: %w", kind.Kind, c.Name, err)
		}
		if err := addChild(live.Children, kind, object); err != nil {
			return false, err
		}
		found = true
	}
	return found, nil
}

func addChild(to map[child.Ref]child.Object, kind child.Kind, object *unstructured.Unstructured) error {
	decoded, err := childcodec.Decode(kind, object)
	if err == nil {
		to[child.Ref{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()}] = decoded
	}
	return err
}

// addPods adds what the caches have: an automatic rollback depends on how the pods are.
func (l *liveReader) addPods(live *child.Snapshot) error {
	key := cache.MetaObjectToName(live.Application)
	below, err := l.caches.family(live.Application, key)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	for _, p := range below.pods {
		live.Pods = append(live.Pods, p.Pod)
	}
	for _, replicaSet := range below.replicaSets {
		live.ReplicaSets = append(live.ReplicaSets, child.NewReplicaSet(replicaSet))
	}
	return nil
}

// platformOf returns the settings with the classes, the labels by which they select the namespace of the request, and whether
// the cluster lacks the HTTPRoutes of the Application.
func (l *liveReader) platformOf(ctx context.Context, application *v1.Application) (preview.Platform, error) {
	name := request.NamespaceValue(ctx)
	result := preview.Platform{
		Rules:      class.Rules{Namespace: class.Namespace{Name: name}, Required: l.platform.RequireClass},
		Validation: l.platform.Validation, Facts: l.platform.Facts,
	}
	list, err := l.clients.Fairlead.AppsV1().ApplicationClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return result, fmt.Errorf("list ApplicationClasses: %w", err)
	}
	for i := range list.Items {
		result.Rules.Classes = append(result.Rules.Classes, &list.Items[i])
	}
	if len(application.Spec.Routes) > 0 {
		served, err := l.clients.Kubernetes.Discovery().ServerResourcesForGroupVersionWithContext(ctx, child.HTTPRoute.GroupVersionKind().GroupVersion().String())
		if err != nil && !apierrors.IsNotFound(err) {
			return result, fmt.Errorf("find out whether the cluster serves HTTPRoutes: %w", err)
		}
		result.Facts.WithoutHTTPRoutes = !child.HTTPRoute.ServedIn(served)
	}
	if class.NeedsNamespace(result.Rules.Classes) {
		namespace, err := l.clients.Kubernetes.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return result, fmt.Errorf("get Namespace: %w", err)
		}
		result.Rules.Namespace.Labels = namespace.Labels
	}
	return result, nil
}
