// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/dynamic"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// namedKinds are the kinds of children whose names are known in advance: all but the history.
func namedKinds() []child.Kind {
	return slices.DeleteFunc(child.Kinds(), func(kind child.Kind) bool { return kind == child.ControllerRevision })
}

func childKinds() []string {
	var names []string
	for _, kind := range namedKinds() {
		names = append(names, kind.Resource)
	}
	return names
}

func kindOf(resource string) child.Kind {
	kinds := child.Kinds()
	return kinds[slices.IndexFunc(kinds, func(kind child.Kind) bool { return kind.Resource == resource })]
}

func childName(kind child.Kind, application string) string {
	if kind == child.ConfigMap {
		return application + "-config"
	}
	return application
}

func (w *world) children(kind child.Kind) dynamic.ResourceInterface {
	return w.dynamic.Resource(kind.GroupVersionResource()).Namespace(w.namespace)
}

// list lists the objects of a kind. Of an API that is not served there are none.
func (w *world) list(ctx context.Context, kind child.Kind, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	objects, err := w.children(kind).List(ctx, options)
	if kind.Optional() && apierrors.IsNotFound(err) {
		return &unstructured.UnstructuredList{}, nil
	}
	return objects, err
}

// changeChild does to a child what a user or another controller may do.
func changeChild(ctx context.Context, w *world, arguments []string) error {
	kind, what := kindOf(arguments[1]), arguments[2]
	name := childName(kind, arguments[0])
	live, err := w.children(kind).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return tolerate(err)
	}
	if isForeign(live) {
		return nil // Not a child.
	}
	w.past.touched(string(live.GetUID()))
	if what == "delete" {
		return tolerate(w.children(kind).Delete(ctx, name, metav1.DeleteOptions{}))
	}
	switch what {
	case "edit":
		drift(live)
	case "unlabel":
		live.SetLabels(nil)
	case "disown":
		w.past.orphaned(arguments[0])
		live.SetOwnerReferences(nil)
		live.SetAnnotations(nil)
	case "take":
		w.past.orphaned(arguments[0])
		live.SetOwnerReferences([]metav1.OwnerReference{foreignOwner()})
	case "hold":
		live.SetFinalizers(append(without(live.GetFinalizers(), userFinalizer), userFinalizer))
	}
	_, err = w.children(kind).Update(ctx, live, metav1.UpdateOptions{FieldManager: user})
	return tolerate(err)
}

// drift changes a field that Fairlead sets.
func drift(live *unstructured.Unstructured) {
	spec, _ := live.Object["spec"].(map[string]any)
	switch live.GetKind() {
	case "Deployment":
		spec["progressDeadlineSeconds"] = int64(77)
	case "Service":
		spec["sessionAffinity"] = "ClientIP"
	case "HorizontalPodAutoscaler":
		spec["maxReplicas"] = int64(9)
	case "ConfigMap":
		live.Object["data"] = map[string]any{"a": "drifted"}
	default:
		live.SetLabels(map[string]string{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: live.GetName(), v1.LabelName: "drifted"})
	}
}

// foreignLabel is on objects that are not Fairlead's and must stay as they are.
const foreignLabel = "chaos.example.com/foreign"

func isForeign(object metav1.Object) bool {
	_, is := object.GetLabels()[foreignLabel]
	return is
}

// foreignOwner is an owner that the garbage collector leaves alone: it exists nowhere, but is no kind that it knows.
func foreignOwner() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "chaos.example.com/v1", Kind: "Other", Name: "other", UID: uuid.NewUUID(), Controller: new(true)}
}

// foreign makes an object that has the name of a child and is not one, or deletes it.
func foreign(ctx context.Context, w *world, arguments []string) error {
	kind := kindOf(arguments[1])
	name := childName(kind, arguments[0])
	if arguments[2] == "delete" {
		live, err := w.children(kind).Get(ctx, name, metav1.GetOptions{})
		if err != nil || !isForeign(live) {
			return tolerate(err)
		}
		w.past.foreignDeleted(string(live.GetUID()))
		return tolerate(w.children(kind).Delete(ctx, name, metav1.DeleteOptions{}))
	}
	created, err := w.children(kind).Create(ctx, foreignObject(kind, name), metav1.CreateOptions{FieldManager: user})
	if err == nil {
		w.past.foreignCreated(kind, created)
	}
	return tolerate(err)
}

// foreignObject is an object of another owner.
func foreignObject(kind child.Kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: foreignContent(kind)}
	object.SetGroupVersionKind(kind.GroupVersionKind())
	object.SetName(name)
	object.SetLabels(map[string]string{foreignLabel: ""})
	return object
}

func foreignContent(kind child.Kind) map[string]any {
	selector := map[string]any{"matchLabels": map[string]any{"foreign": "true"}}
	switch kind {
	case child.Deployment:
		return map[string]any{"spec": map[string]any{"replicas": int64(0), "selector": selector, "template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"foreign": "true"}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}},
		}}}
	case child.Service:
		return map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"port": int64(1)}}}}
	case child.NetworkPolicy:
		return map[string]any{"spec": map[string]any{"podSelector": selector}}
	case child.PodDisruptionBudget:
		return map[string]any{"spec": map[string]any{"selector": selector, "maxUnavailable": int64(1)}}
	case child.HorizontalPodAutoscaler:
		return map[string]any{"spec": map[string]any{"maxReplicas": int64(1), "scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "none"}}}
	case child.Ingress:
		return map[string]any{"spec": map[string]any{"defaultBackend": map[string]any{"service": map[string]any{"name": "none", "port": map[string]any{"number": int64(1)}}}}}
	default:
		return map[string]any{}
	}
}

// release takes the finalizers of others off all children, and what others own.
func (w *world) release(ctx context.Context) error {
	for _, kind := range namedKinds() {
		list, err := w.children(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			object := &list.Items[i]
			if slices.Contains(object.GetFinalizers(), userFinalizer) {
				_, err := w.children(kind).Patch(ctx, object.GetName(), types.JSONPatchType, removeFinalizer(object.GetFinalizers()), metav1.PatchOptions{})
				if err := tolerate(err); err != nil {
					return err
				}
			}
			if controller := metav1.GetControllerOfNoCopy(object); controller != nil && strings.HasPrefix(controller.APIVersion, "chaos.") {
				w.past.touched(string(object.GetUID()))
				if err := tolerate(w.children(kind).Delete(ctx, object.GetName(), metav1.DeleteOptions{})); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// removeFinalizer is a JSON patch that removes the finalizer of this program, and fails if the list has changed.
func removeFinalizer(finalizers []string) []byte {
	body, _ := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/finalizers", "value": finalizers},
		{"op": "replace", "path": "/metadata/finalizers", "value": without(finalizers, userFinalizer)},
	})
	return body
}
