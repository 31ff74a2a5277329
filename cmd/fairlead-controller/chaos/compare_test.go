// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// state is what two worlds with the same inputs must have in common.
type state map[string]any

// state reads the Applications and what they own.
func (w *world) state(ctx context.Context) (state, error) {
	list, err := w.fairlead.AppsV1().Applications(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	s := state{}
	for i := range list.Items {
		application := &list.Items[i]
		reason := readyReason(application)
		s["Application "+application.Name] = map[string]any{"ready": reason, "observed": application.Status.ObservedGeneration == application.Generation}
		if keepsChildren(reason) {
			continue
		}
		for _, kind := range append(namedKinds(), child.OptionalKinds()...) {
			children, err := w.list(ctx, kind, metav1.ListOptions{})
			if err != nil {
				return nil, err
			}
			for j := range children.Items {
				object := &children.Items[j]
				if child.OwnedBy(object, application) && object.GetDeletionTimestamp() == nil && !mayBeKept(application, kind) && !mayServe(application, kind) {
					s[kind.Kind+" "+object.GetName()] = w.content(object, application)
				}
			}
		}
	}
	return s, nil
}

// readyReason is how the Application stands. A paused one is not judged: which pods it has depends on when it was paused.
func readyReason(application *v1.Application) string {
	ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
	switch {
	case ready == nil:
		return "unknown"
	case keepsChildren(ready.Reason):
		return ready.Reason
	case application.Spec.Paused != nil && *application.Spec.Paused:
		return "paused"
	default:
		return ready.Reason
	}
}

// keepsChildren reports whether the Application keeps the children of an earlier spec.
func keepsChildren(reason string) bool {
	switch reason {
	case v1.ReasonInvalid, v1.ReasonClassNotFound, v1.ReasonRouteConflict:
		return true
	default:
		return false
	}
}

// mayBeKept reports whether a child may be there for pods of an earlier spec. A ConfigMap then has its former content too, if those pods
// run as another ServiceAccount, and the Deployment has the hash of that content.
func mayBeKept(application *v1.Application, kind child.Kind) bool {
	return application.Spec.Paused != nil && *application.Spec.Paused && (kind == child.ConfigMap || kind == child.ServiceAccount)
}

// mayServe reports whether a child may be an Ingress that was there before the HTTPRoute. It stays until a Gateway accepts that, and
// this cluster has none.
func mayServe(application *v1.Application, kind child.Kind) bool {
	return kind == child.Ingress && slices.ContainsFunc(application.Spec.Routes, func(route v1.Route) bool { return len(route.ParentRefs) > 0 })
}

// content is what matters of a child: without its identity, its history, and what the cluster chose.
func (w *world) content(object *unstructured.Unstructured, owner *v1.Application) any {
	c := object.DeepCopy()
	c.SetOwnerReferences(nil)
	fields := map[string]any{"labels": c.GetLabels(), "collectable": child.Collectable(object, owner)}
	annotations := c.GetAnnotations()
	for _, ours := range []string{
		"deployment.kubernetes.io/revision", v1.AnnotationRenderedHash, v1.AnnotationRevision, v1.AnnotationCreatedFieldSet, v1.AnnotationOwnerUID,
		v1.AnnotationReplicasManaged, v1.AnnotationFormerNumbers, v1.AnnotationRolledBackBefore, v1.AnnotationServicePorts,
		v1.AnnotationConfigMapsVersions, v1.AnnotationSecretsVersions,
	} {
		delete(annotations, ours)
	}
	fields["annotations"] = annotations
	for _, field := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort", "externalName"} {
		unstructured.RemoveNestedField(c.Object, "spec", field)
	}
	if ports, found, _ := unstructured.NestedSlice(c.Object, "spec", "ports"); found {
		for _, port := range ports {
			if p, ok := port.(map[string]any); ok {
				delete(p, "nodePort")
			}
		}
		_ = unstructured.SetNestedSlice(c.Object, ports, "spec", "ports")
	}
	if c.GetKind() == child.Deployment.Kind && mayBeKept(owner, child.ConfigMap) {
		unstructured.RemoveNestedField(c.Object, "spec", "template", "metadata", "annotations", v1.AnnotationConfigHash)
	}
	if c.GetKind() == child.Deployment.Kind && owner.Spec.Replicas == nil {
		unstructured.RemoveNestedField(c.Object, "spec", "replicas")
	}
	for _, field := range []string{"spec", "data", "automountServiceAccountToken"} {
		if value, found := c.Object[field]; found {
			fields[field] = value
		}
	}
	encoded, _ := json.Marshal(fields)
	var renamed any
	_ = json.Unmarshal([]byte(strings.ReplaceAll(string(encoded), w.namespace, "namespace")), &renamed)
	return renamed
}

// copyTo makes the Applications and what they refer to in another world. An object exists already if the answer to its creation
// was lost in an outage.
func (w *world) copyTo(ctx context.Context, fresh *world) error {
	for _, copyAll := range []func(context.Context, *world) error{w.copyReferences, w.copyClass, w.copyApplications} {
		if err := copyAll(ctx, fresh); err != nil {
			return fmt.Errorf("copy the inputs: %w", err)
		}
	}
	return nil
}

func (w *world) copyReferences(ctx context.Context, fresh *world) error {
	selector := metav1.ListOptions{LabelSelector: inputLabel}
	configMaps, err := w.kube.CoreV1().ConfigMaps(w.namespace).List(ctx, selector)
	if err != nil {
		return err
	}
	for _, object := range configMaps.Items {
		object.ObjectMeta = metav1.ObjectMeta{Name: object.Name, Labels: object.Labels}
		if _, err := fresh.kube.CoreV1().ConfigMaps(fresh.namespace).Create(ctx, &object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	secrets, err := w.kube.CoreV1().Secrets(w.namespace).List(ctx, selector)
	if err != nil {
		return err
	}
	for _, object := range secrets.Items {
		object.ObjectMeta = metav1.ObjectMeta{Name: object.Name, Labels: object.Labels}
		if _, err := fresh.kube.CoreV1().Secrets(fresh.namespace).Create(ctx, &object, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

func (w *world) copyClass(ctx context.Context, fresh *world) error {
	object, err := w.fairlead.AppsV1().ApplicationClasses().Get(ctx, w.namespace, metav1.GetOptions{})
	if err != nil {
		return ignoreNotFound(err)
	}
	object.ObjectMeta = metav1.ObjectMeta{Name: fresh.namespace, Annotations: object.Annotations}
	object.Spec.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"] = fresh.namespace
	_, err = fresh.fairlead.AppsV1().ApplicationClasses().Create(ctx, object, metav1.CreateOptions{})
	return tolerate(err)
}

func (w *world) copyApplications(ctx context.Context, fresh *world) error {
	list, err := w.fairlead.AppsV1().Applications(w.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, object := range list.Items {
		copied := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: object.Name, Labels: object.Labels, Annotations: object.Annotations}, Spec: object.Spec}
		if copied.Spec.ClassName == w.namespace {
			copied.Spec.ClassName = fresh.namespace
		}
		if _, err := fresh.fairlead.AppsV1().Applications(fresh.namespace).Create(ctx, copied, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// TestConfigOfPausedPods takes the ServiceAccount of pods, and pauses the rollout to another one (draw pauses). The pods go on, and
// their ConfigMap keeps its content. A fresh controller has no such pods.
func TestConfigOfPausedPods(t *testing.T) {
	replay(t, `
		create b full
		wait
		child b serviceaccounts take
		draw b 10
	`)
}
