// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// The keys of the backup.
const (
	deploymentKey = "deployment.json"
	serviceKey    = "service.json"
)

// BackupName is the name of the Secret with the objects as they were. It is a Secret, because variables may hold passwords.
func BackupName(name string) string { return name + "-before-adoption" }

// Backup is the Secret. It has no owner, so it stays.
func Backup(deployment *appsv1.Deployment, service *corev1.Service) (*corev1.Secret, error) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: deployment.Namespace, Name: BackupName(deployment.Name)}, Data: map[string][]byte{}}
	saved := deployment.DeepCopy()
	saved.ManagedFields = nil
	var err error
	if secret.Data[deploymentKey], err = json.Marshal(saved); err != nil || service == nil {
		return secret, err
	}
	exposed := service.DeepCopy()
	exposed.ManagedFields = nil
	secret.Data[serviceKey], err = json.Marshal(exposed)
	return secret, err
}

// Saved are the objects of a backup. Service is nil if there was none.
type Saved struct {
	Deployment *appsv1.Deployment
	Service    *corev1.Service
}

// Read reads a backup.
func Read(secret *corev1.Secret) (Saved, error) {
	saved := Saved{Deployment: &appsv1.Deployment{}}
	if err := json.Unmarshal(secret.Data[deploymentKey], saved.Deployment); err != nil {
		return Saved{}, fmt.Errorf("read Secret %s: %w", secret.Name, err)
	}
	encoded, has := secret.Data[serviceKey]
	if !has {
		return saved, nil
	}
	saved.Service = &corev1.Service{}
	if err := json.Unmarshal(encoded, saved.Service); err != nil {
		return Saved{}, fmt.Errorf("read Secret %s: %w", secret.Name, err)
	}
	return saved, nil
}

// Consent is the merge patch by which a user lets the Application adopt the object. It holds for the very version that was
// looked at. kubectl's copy of the manifest goes: a later kubectl apply would compare with it.
func Consent(object metav1.Object, application types.UID) ([]byte, error) {
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": object.GetUID(), "resourceVersion": object.GetResourceVersion(),
		"labels": map[string]any{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: object.GetName()},
		"annotations": map[string]any{
			v1.AnnotationAdoptableBy: string(application), corev1.LastAppliedConfigAnnotation: nil,
		},
	}})
}

// Withdraw is the merge patch that takes the consent back.
func Withdraw(object, before metav1.Object) ([]byte, error) {
	patch := func(now, then map[string]string) map[string]any {
		changes := map[string]any{}
		for key := range now {
			if _, stays := then[key]; !stays {
				changes[key] = nil
			}
		}
		for key, value := range then {
			changes[key] = value
		}
		return changes
	}
	labels, annotations := metadataBefore(object, before)
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": object.GetUID(), "resourceVersion": object.GetResourceVersion(),
		"labels": patch(object.GetLabels(), labels), "annotations": patch(object.GetAnnotations(), annotations),
	}})
}

// metadataBefore returns the labels and annotations of a live object without what an adoption set. What others set
// meanwhile stays.
func metadataBefore(live, before metav1.Object) (labels, annotations map[string]string) {
	restore := func(now, then map[string]string, keys ...string) map[string]string {
		restored := map[string]string{}
		for key, value := range now {
			if !strings.HasPrefix(key, v1.ReservedPrefix) && !slices.Contains(keys, key) {
				restored[key] = value
			}
		}
		for key, value := range then {
			if strings.HasPrefix(key, v1.ReservedPrefix) || slices.Contains(keys, key) {
				restored[key] = value
			}
		}
		return restored
	}
	return restore(live.GetLabels(), before.GetLabels(), v1.LabelManagedBy, v1.LabelName),
		restore(live.GetAnnotations(), before.GetAnnotations(), corev1.LastAppliedConfigAnnotation)
}

// Taken reports whether the Deployment has the pod template of an Application.
func Taken(deployment *appsv1.Deployment) bool {
	_, has := deployment.Spec.Template.Labels[v1.LabelApplication]
	return has
}

// Restore makes a Deployment that an Application left behind what it was before, in one update: then the old ReplicaSet
// fits again, and no pod is replaced. The number of pods stays as it is now.
func Restore(live, before *appsv1.Deployment) *appsv1.Deployment {
	restored := live.DeepCopy()
	restored.Spec = *before.Spec.DeepCopy()
	restored.Spec.Replicas = live.Spec.Replicas
	restored.Labels, restored.Annotations = metadataBefore(live, before)
	return restored
}
