// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/difference"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// announce says what happens.
func (e *ejecting) announce(to *screen.Screen, objects []left, gone bool) {
	switch none := len(objects) == 0; {
	case gone && none:
		to.Printf("%s: the Application is gone, and no object has Fairlead's marks.", e.id())
	case gone:
		to.Printf("%s: the Application is gone. What it left behind loses Fairlead's marks:", e.id())
	case none:
		to.Printf("%s: the Application is deleted. It has no objects that could stay.", e.id())
	default:
		to.Printf("%s: the Application is deleted, and these objects stay:", e.id())
	}
	for _, object := range objects {
		to.Printf("  %s %s", object.GetKind(), object.GetName())
	}
	if e.restore {
		to.Hanging("  ", e.describeRestored())
		if e.lost != nil {
			to.Hanging("  ", e.lost.describe(e.tool, false))
		}
		if e.release != nil {
			to.Hanging("  ", "The "+e.release.String()+" has them again. If you took them out of the chart, put them back before the next helm upgrade, which deletes them otherwise.")
		}
	} else if len(objects) > 0 {
		to.Hanging("  ", replacesNone(objects))
		for _, object := range objects {
			if marks := keptInTemplate(object); marks != "" {
				to.Hanging("  ", fmt.Sprintf("The pod template of the Deployment keeps Fairlead's %s, because any change of it would replace the pods.", marks))
			}
		}
		if slices.ContainsFunc(objects, func(object left) bool { return object.kind == child.Service }) {
			to.Hanging("  ", "The Service keeps the label "+v1.LabelApplication+", by which a ServiceMonitor finds it.")
		}
		e.announcePaused(to, objects)
	}
}

// replacesNone says that the ejection replaces no pod, while a rollout of the Deployment may do.
func replacesNone(objects []left) string {
	for _, object := range objects {
		live := &appsv1.Deployment{}
		if object.kind != child.Deployment || runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, live) != nil {
			continue
		}
		if goesOn := difference.GoesOn(difference.Unfinished(live), live.Status.Replicas, live.Spec.Strategy.Type); goesOn != "" {
			return "The ejection replaces no pod." + goesOn
		}
	}
	return "No pod is replaced."
}

// keptInTemplate is what the pod template of a Deployment has of Fairlead's; "" if that is nothing, or the object is of another kind.
func keptInTemplate(object left) string {
	labels, _, _ := unstructured.NestedStringMap(object.Object, "spec", "template", "metadata", "labels")
	annotations, _, _ := unstructured.NestedStringMap(object.Object, "spec", "template", "metadata", "annotations")
	isReserved := func(key string) bool { return strings.HasPrefix(key, v1.ReservedPrefix) }
	switch {
	case object.kind != child.Deployment || labels[v1.LabelApplication] == "":
		return ""
	case slices.ContainsFunc(slices.Collect(maps.Keys(annotations)), isReserved):
		return "labels and annotations"
	default:
		return "labels"
	}
}

// announcePaused names what a user would look for in vain when a later change of the Deployment starts no pods.
func (e *ejecting) announcePaused(to *screen.Screen, objects []left) {
	for _, object := range objects {
		if paused, _, _ := unstructured.NestedBool(object.Object, "spec", "paused"); paused && object.kind == child.Deployment {
			resume := e.tool.withNamespace(e.namespace, "kubectl rollout resume deployment/"+object.GetName())
			to.Hanging("  ", "The Deployment stays paused. To start the pods that its template asks for: "+resume)
		}
	}
}

// announceBackup says what of the Secret of the adoption is not restored, and whether the Secret stays. For a user without permission
// to read it, there is no line.
func (e *ejecting) announceBackup(ctx context.Context, to *screen.Screen, before adopt.Saved) {
	name := adopt.BackupName(e.name)
	if len(e.unrestored) > 0 {
		to.Hanging("  ", fmt.Sprintf("The Deployment is not as the Secret %s says. This is not restored:", name))
		printRestored(to, e.unrestored)
	}
	deletion := e.tool.withNamespace(e.namespace, "kubectl delete secret "+name)
	switch {
	case e.lost.keepsBackup():
		return // What became of the Service says so.
	case e.keepsBackup(before):
		to.Hanging("  ", fmt.Sprintf("The Secret %s stays: it has the part of the Helm release, for %s. To delete it: %s",
			name, e.tool.commandLine(e.namespace, "eject "+e.name+" --to-helm"), deletion))
		return
	case len(e.unrestored) > 0:
		to.Hanging("  ", fmt.Sprintf("The Secret %s is deleted at the end.", name))
		return
	case e.restore:
		to.Hanging("  ", fmt.Sprintf("The Secret %s is deleted at the end: the objects are then what it says.", name))
		return
	}
	if _, err := e.clients.Kube.CoreV1().Secrets(e.namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
		return
	}
	to.Hanging("  ", fmt.Sprintf("The Secret %s stays too: it says what the objects were before the adoption, for %s. Without it they cannot be restored. To delete it: %s",
		name, e.tool.commandLine(e.namespace, "eject "+e.name+" --restore"), deletion))
}

// keepsBackup reports whether the Secret stays after a restoration: a Helm release can have its objects again only with what it says, and
// another Service of the name is not replaced.
func (e *ejecting) keepsBackup(before adopt.Saved) bool {
	return e.restore && (e.release == nil && before.Release != nil || e.lost.keepsBackup())
}
