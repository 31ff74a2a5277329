// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// objectMeta returns the metadata of a child: name and namespace, the owner, the labels, and the annotations that the
// spec has for this child. It never copies the Application's own annotations, which belong to the tools that manage
// the Application.
//
// With deletionPolicy Orphan an annotation names the owner, because the garbage collector would delete a child with
// an ownerReference.
func objectMeta(app *v1.Application, name string, annotations map[string]string) *metav1ac.ObjectMetaApplyConfiguration {
	if app.Spec.DeletionPolicy != v1.DeletionOrphan {
		return collectableMeta(app, name, annotations)
	}
	return unownedMeta(app, name, annotations).
		WithAnnotations(map[string]string{v1.AnnotationOwnerUID: string(app.UID)})
}

// collectableMeta returns the metadata of a child that is deleted with the Application, whatever deletionPolicy says.
func collectableMeta(app *v1.Application, name string, annotations map[string]string) *metav1ac.ObjectMetaApplyConfiguration {
	return unownedMeta(app, name, annotations).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(v1.SchemeGroupVersion.String()).
			WithKind(v1.ApplicationKind).
			WithName(app.Name).
			WithUID(app.UID).
			WithController(true).
			WithBlockOwnerDeletion(true))
}

func unownedMeta(app *v1.Application, name string, annotations map[string]string) *metav1ac.ObjectMetaApplyConfiguration {
	return metav1ac.ObjectMeta().
		WithName(name).
		WithNamespace(app.Namespace).
		WithLabels(childLabels(app)).
		WithAnnotations(allowedAnnotations(annotations))
}

// Selector returns the labels that select the pods of the Application, and only those. Nothing
// in the spec can change them.
func Selector(app *v1.Application) map[string]string {
	return map[string]string{v1.LabelApplication: app.Name}
}

func labelSelector(app *v1.Application) *metav1ac.LabelSelectorApplyConfiguration {
	return metav1ac.LabelSelector().WithMatchLabels(Selector(app))
}

// ourLabels returns the labels of every child and pod. On a child they override all others.
func ourLabels(app *v1.Application) map[string]string {
	return map[string]string{
		v1.LabelName:        app.Name,
		v1.LabelManagedBy:   v1.ManagedBy,
		v1.LabelApplication: app.Name,
	}
}

// childLabels returns the labels of a child: those of the Application that it may have, and ours.
func childLabels(app *v1.Application) map[string]string {
	labels := make(map[string]string, len(app.Labels)+3)
	for key, value := range app.Labels {
		if !reserved(key) && !toolLabel(key) {
			labels[key] = value
		}
	}
	maps.Copy(labels, ourLabels(app))
	return labels
}

// PodLabels returns the labels of the pods. The Application's labels are not among them, because a new label of the
// Application should not replace its pods. The spec may replace the recommended labels, by which other objects may
// select the pods; Fairlead selects by the reserved one alone.
func PodLabels(app *v1.Application) map[string]string {
	labels := ourLabels(app)
	if metadata := app.Spec.PodMetadata; metadata != nil {
		for key, value := range metadata.Labels {
			if !reserved(key) {
				labels[key] = value
			}
		}
	}
	return labels
}

// reserved reports whether only Fairlead sets this label or annotation.
func reserved(key string) bool {
	return strings.HasPrefix(key, v1.ReservedPrefix)
}

// toolLabel reports whether a deployment tool recognises what it created by this label. A child with a copy of it
// looks like a leftover to that tool, and is pruned.
func toolLabel(key string) bool {
	if key == "app.kubernetes.io/instance" {
		return true
	}
	prefix, _, _ := strings.Cut(key, "/")
	switch prefix {
	case "argocd.argoproj.io", "kustomize.toolkit.fluxcd.io", "helm.sh", "helm.toolkit.fluxcd.io":
		return true
	}
	return false
}

// allowedAnnotations removes the annotations that only Fairlead sets, and kubectl's copy of the manifest.
func allowedAnnotations(annotations map[string]string) map[string]string {
	allowed := make(map[string]string, len(annotations))
	for key, value := range annotations {
		if !reserved(key) && key != corev1.LastAppliedConfigAnnotation {
			allowed[key] = value
		}
	}
	return allowed
}
