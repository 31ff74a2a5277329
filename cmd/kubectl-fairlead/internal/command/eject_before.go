// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// ejectedBefore returns what an earlier run made plain objects, by the label that they keep, without the given ones and without
// what has another controller since. It is advice alone: a user without permission to list a kind does without it.
func (e *ejecting) ejectedBefore(ctx context.Context, without []left) (objects []left) {
	for _, kind := range child.AllKinds() {
		if !kind.OutlivesApplication() {
			continue
		}
		list, err := e.clients.Dynamic.Resource(kind.GroupVersionResource()).Namespace(e.namespace).List(ctx, metav1.ListOptions{LabelSelector: v1.LabelName + "=" + e.name})
		if err != nil {
			continue
		}
		for i := range list.Items {
			object := &list.Items[i]
			given := func(other left) bool { return other.kind == kind && other.GetName() == object.GetName() }
			if plan.IsEjected(object) && plan.IsLeftover(object) && !slices.ContainsFunc(without, given) {
				objects = append(objects, left{object, kind})
			}
		}
	}
	return objects
}

// yoursAlready is ejectedBefore, with the Ingress and the HTTPRoute of the name that a user handed over to the Application: those do not keep
// the label.
func (e *ejecting) yoursAlready(ctx context.Context, without []left) []left {
	objects := e.ejectedBefore(ctx, without)
	for _, kind := range []child.Kind{child.Ingress, child.HTTPRoute} {
		if slices.ContainsFunc(slices.Concat(without, objects), func(other left) bool { return other.kind == kind && other.GetName() == e.name }) {
			continue
		}
		object, err := e.clients.Dynamic.Resource(kind.GroupVersionResource()).Namespace(e.namespace).Get(ctx, e.name, metav1.GetOptions{})
		if err == nil && plan.IsEjected(object) && plan.IsLeftover(object) {
			objects = append(objects, left{object, kind})
		}
	}
	return objects
}

// endedBefore is for an Application that is gone, while no object has its marks: an earlier run made them plain objects, or there is nothing.
func (e *ejecting) endedBefore(ctx context.Context) ([]left, error) {
	objects := e.yoursAlready(ctx, nil)
	if len(objects) == 0 {
		missing := fmt.Errorf("there is no Application %s in namespace %s, and none left objects behind", e.name, e.namespace)
		if _, given := e.tool.givenNamespace(); !given {
			missing = fmt.Errorf("%w. If it is in another one, pass that with -n", missing)
		}
		return nil, misspelt(ctx, e.clients, types.NamespacedName{Namespace: e.namespace, Name: e.name}, missing)
	}
	to := e.tool.screen()
	to.Printf("%s: ejected already. The Application is gone, and these objects are yours:", e.id())
	for _, object := range objects {
		to.Printf("  %s %s", object.GetKind(), object.GetName())
	}
	to.Hanging("  ", "An Application of this name can take them back: see docs/guides/take-back.md")
	if e.editing.dryRun != cmdutil.DryRunNone {
		return objects, nil
	}
	return objects, e.save(objects)
}

// announceBefore names what an earlier run made plain objects, which is not the Application's any more.
func (e *ejecting) announceBefore(to *screen.Screen, objects []left) {
	var names []string
	for _, object := range objects {
		names = append(names, object.GetKind()+" "+object.GetName())
	}
	if len(names) > 0 {
		to.Hanging("  ", "Ejected before, and not the Application's any more: "+strings.Join(names, ", ")+". An Application of this name can take them back: see docs/guides/take-back.md")
	}
}
