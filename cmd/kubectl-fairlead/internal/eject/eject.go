// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package eject turns what an Application left behind into plain objects.
package eject

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/managers"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// Clean is the merge patch that removes Fairlead's marks from an object: its labels and annotations, and the record of
// the fields that it owned, so that the next server-side apply meets no conflict. It changes nothing outside of metadata.
// It holds for the very version that was read. It is nil if there is nothing to remove.
func Clean(object *unstructured.Unstructured) ([]byte, error) {
	metadata, changed, bare := map[string]any{"uid": object.GetUID(), "resourceVersion": object.GetResourceVersion()}, false, false
	for field, values := range map[string]map[string]string{"labels": object.GetLabels(), "annotations": object.GetAnnotations()} {
		remove := map[string]any{}
		for key, value := range values {
			if isMark(object, key, value) {
				remove[key] = nil
			}
		}
		if len(remove) > 0 {
			metadata[field], changed = remove, true
			bare = bare || field == "labels" && len(remove) == len(values)
		}
	}
	var others []metav1.ManagedFieldsEntry
	for _, entry := range object.GetManagedFields() {
		if entry.Manager != apply.FieldManager {
			others = append(others, entry)
		}
	}
	if len(others) < len(object.GetManagedFields()) {
		metadata["managedFields"], changed = append(others, keeper(object, bare)), true
	}
	if !changed {
		return nil, nil
	}
	return json.Marshal(map[string]any{"metadata": metadata})
}

// keeper is the entry that stays, by which plan.IsEjected knows the object. Without any entry, the API server would give all fields to an
// owner that never gives them up, as soon as a client applies the object: what leaves the manifest then would stay in the object. It names
// the labels, or the spec of a bare object: the API server drops an entry whose fields the object has lost.
func keeper(object *unstructured.Unstructured, bare bool) metav1.ManagedFieldsEntry {
	fields := `{"f:metadata":{"f:labels":{".":{}}}}`
	if bare {
		fields = `{"f:spec":{".":{}}}`
	}
	return metav1.ManagedFieldsEntry{
		Manager: plan.PluginFieldManager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: object.GetAPIVersion(),
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

// isMark reports whether only Fairlead set the label or annotation. A Service keeps the name of its Application: its
// monitor finds it by that. An adopted object keeps the digest of its backup, for a later eject --restore. What kubectl last applied to a
// Deployment counts as a mark, since Fairlead went on from there: a later kubectl apply of what eject saved would compare with it, and take
// the number of pods away.
func isMark(object *unstructured.Unstructured, key, value string) bool {
	if key == v1.LabelApplication && object.GetKind() == child.Service.Kind || key == adopt.AnnotationBackup {
		return false
	}
	if key == corev1.LastAppliedConfigAnnotation && object.GetKind() == child.Deployment.Kind {
		return true
	}
	return strings.HasPrefix(key, v1.ReservedPrefix) || key == v1.LabelManagedBy && value == v1.ManagedBy || key == v1.LabelName && isAddedToRoute(object)
}

// isAddedToRoute reports whether Fairlead added its label app.kubernetes.io/name to an Ingress or HTTPRoute that the user handed over: another
// client set the label by which Fairlead finds it, and no other set or applied this one. No backup has such an object. What the user had
// under the same key is not known, if Fairlead replaced it.
func isAddedToRoute(object *unstructured.Unstructured) bool {
	if kind := object.GetKind(); kind != child.Ingress.Kind && kind != child.HTTPRoute.Kind {
		return false
	}
	label := func(key string) fieldpath.Path { return fieldpath.MakePathOrDie("metadata", "labels", key) }
	var handedOver, added bool
	for _, entry := range object.GetManagedFields() {
		has := managers.Has(entry, label(v1.LabelName))
		switch {
		case entry.Manager == apply.FieldManager:
			added = added || has
		case has:
			return false
		case entry.Manager != plan.PluginFieldManager:
			handedOver = handedOver || managers.Has(entry, label(v1.LabelApplication))
		}
	}
	return handedOver && added && !strings.Contains(object.GetAnnotations()[corev1.LastAppliedConfigAnnotation], `"`+v1.LabelName+`"`)
}

// Manifest is the object as a file for kubectl apply.
func Manifest(object *unstructured.Unstructured, autoscaled bool) ([]byte, error) {
	return yaml.Marshal(Plain(object, autoscaled).Object)
}

// Plain is the object without Fairlead's marks, and without what the cluster fills in. The pod template is as it is, because any
// change would replace the pods. A Deployment that is autoscaled has no replicas: each apply would reset them.
func Plain(object *unstructured.Unstructured, autoscaled bool) *unstructured.Unstructured {
	plain := object.DeepCopy()
	kept := func(values map[string]string, also ...string) map[string]string {
		left := map[string]string{}
		for key, value := range values {
			if !isMark(object, key, value) {
				left[key] = value
			}
		}
		for _, key := range also {
			delete(left, key)
		}
		return left
	}
	labels := kept(object.GetLabels())
	annotations := kept(object.GetAnnotations(), child.RevisionAnnotation, corev1.LastAppliedConfigAnnotation, adopt.AnnotationBackup)
	metadata := map[string]any{"name": object.GetName(), "namespace": object.GetNamespace()}
	for field, values := range map[string]map[string]string{"labels": labels, "annotations": annotations} {
		if len(values) > 0 {
			metadata[field] = values
		}
	}
	plain.Object["metadata"] = metadata
	unstructured.RemoveNestedField(plain.Object, "status")
	if autoscaled {
		unstructured.RemoveNestedField(plain.Object, "spec", "replicas")
	}
	if object.GetKind() == child.Service.Kind {
		for _, field := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort"} {
			unstructured.RemoveNestedField(plain.Object, "spec", field)
		}
	}
	return plain
}
