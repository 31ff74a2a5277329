// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/helm"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// DeploymentKey and ServiceKey are the parts of a backup from which a user can read what the objects were.
const (
	DeploymentKey = "deployment.json"
	ServiceKey    = "service.json"
	releaseKey    = "release.json"
)

const backupSuffix = "-before-adoption"

// BackupName is the name of the Secret with the objects as they were. It is a Secret, because variables may hold passwords.
func BackupName(name string) string { return name + backupSuffix }

// Saved is what a backup has. Service and Release are nil if there was none.
type Saved struct {
	Deployment *appsv1.Deployment
	Service    *corev1.Service
	Release    *Release
}

// Unmark makes plain objects of those of a release.
func (s Saved) Unmark() {
	helm.Unmark(s.Deployment)
	if s.Service != nil {
		helm.Unmark(s.Service)
	}
}

// Release is the Helm release that had the objects, and the part of its manifest that describes them.
type Release struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Manifest  string `json:"manifest"`
}

// Backup is the Secret. It has no owner, so it stays. A user can create its parts as they are: each says what kind of object it is, and
// none has a resource version.
func Backup(saved Saved) (*corev1.Secret, error) {
	saved.Deployment, saved.Service = saved.Deployment.DeepCopy(), saved.Service.DeepCopy()
	saved.Deployment.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(child.Deployment.Kind))
	saved.Deployment.ResourceVersion = ""
	if saved.Service != nil {
		saved.Service.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(child.Service.Kind))
		saved.Service.ResourceVersion = ""
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: saved.Deployment.Namespace, Name: BackupName(saved.Deployment.Name)}, Data: map[string][]byte{}}
	for _, part := range []struct {
		key   string
		has   bool
		value any
	}{{DeploymentKey, true, saved.Deployment}, {ServiceKey, saved.Service != nil, saved.Service}, {releaseKey, saved.Release != nil, saved.Release}} {
		if !part.has {
			continue
		}
		var err error
		if secret.Data[part.key], err = json.Marshal(part.value); err != nil {
			return nil, err
		}
	}
	return secret, nil
}

// Read reads a backup. Its name and namespace decide which objects it is about, whatever it says itself: a user with rights in
// many namespaces restores nothing in another one.
func Read(secret *corev1.Secret) (Saved, error) {
	saved := Saved{Deployment: &appsv1.Deployment{}}
	for _, part := range []struct {
		key  string
		into func() any
	}{
		{DeploymentKey, func() any { return saved.Deployment }},
		{ServiceKey, func() any { saved.Service = &corev1.Service{}; return saved.Service }},
		{releaseKey, func() any { saved.Release = &Release{}; return saved.Release }},
	} {
		encoded, has := secret.Data[part.key]
		if !has && part.key != DeploymentKey {
			continue
		}
		if err := json.Unmarshal(encoded, part.into()); err != nil {
			return Saved{}, fmt.Errorf("read %s of Secret %s: %w", part.key, secret.Name, err)
		}
	}
	saved.Deployment.Namespace, saved.Deployment.Name = secret.Namespace, strings.TrimSuffix(secret.Name, backupSuffix)
	return saved, nil
}

// Consent is the merge patch by which a user lets the Application adopt the object. It holds for the very version that was
// looked at. kubectl's copy of the manifest goes: a later kubectl apply would compare with it. So do Helm's marks: a later
// upgrade would take the object back. The digest is the backup's; "" leaves the one that the object has.
func Consent(object metav1.Object, application types.UID, digest string) ([]byte, error) {
	annotations := map[string]any{v1.AnnotationAdoptableBy: string(application)}
	if digest != "" {
		annotations[AnnotationBackup] = digest
	}
	for _, key := range theirs() {
		annotations[key] = nil
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": object.GetUID(), "resourceVersion": object.GetResourceVersion(),
		"labels":      map[string]any{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: object.GetName()},
		"annotations": annotations,
	}})
}

// theirs are the annotations of the tool that managed an object before.
func theirs() []string { return append(helm.Marks(), corev1.LastAppliedConfigAnnotation) }

// Ownership is the merge patch that gives the fields of a restored object back to their managers: those of the next apply
// or upgrade would meet conflicts with this command. It holds for any version, because status is written all the time.
func Ownership(restored, before metav1.Object) ([]byte, error) {
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": restored.GetUID(), "managedFields": before.GetManagedFields(),
	}})
}

// EndCreation is Ownership for a Deployment that was created from a backup. It also removes the digest of the backup, which marks a creation
// that has not ended.
func EndCreation(created, before metav1.Object) ([]byte, error) {
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": created.GetUID(), "managedFields": before.GetManagedFields(), "annotations": map[string]any{AnnotationBackup: nil},
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
			if strings.HasPrefix(key, v1.ReservedPrefix) && key != AnnotationBackup || slices.Contains(keys, key) {
				restored[key] = value
			}
		}
		return restored
	}
	return restore(live.GetLabels(), before.GetLabels(), v1.LabelManagedBy, v1.LabelName),
		restore(live.GetAnnotations(), before.GetAnnotations(), theirs()...)
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

// RestoreService makes a Service what it was before an adoption, but for what the cluster filled in since.
func RestoreService(live, before *corev1.Service) *corev1.Service {
	restored := live.DeepCopy()
	restored.Spec = *before.Spec.DeepCopy()
	restored.Labels, restored.Annotations = metadataBefore(live, before)
	return restored
}

// Recreated is the Service of a backup, for a cluster that does not have it any more. Of Fairlead's marks, a Service keeps the name of its
// Application alone: a ServiceMonitor finds it by that.
func Recreated(saved Saved) *corev1.Service {
	before := saved.Service
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: saved.Deployment.Namespace, Name: saved.Deployment.Name,
			Labels: withoutReserved(before.Labels, v1.LabelApplication), Annotations: withoutReserved(before.Annotations),
		},
		Spec: *before.Spec.DeepCopy(),
	}
}

// RecreatedDeployment is the Deployment of a backup, for a cluster that does not have it any more. Kubernetes counts its revisions from
// the beginning, because the old ReplicaSets went with the old Deployment.
func RecreatedDeployment(saved Saved) *appsv1.Deployment {
	before := saved.Deployment
	annotations := withoutReserved(before.Annotations)
	delete(annotations, child.RevisionAnnotation)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: before.Namespace, Name: before.Name, Labels: withoutReserved(before.Labels), Annotations: annotations},
		Spec:       *before.Spec.DeepCopy(),
	}
}

// withoutReserved is a copy without what only Fairlead sets. A backup that another user edited could otherwise consent to an adoption.
func withoutReserved(values map[string]string, except ...string) map[string]string {
	kept := maps.Clone(values)
	maps.DeleteFunc(kept, func(key, _ string) bool {
		return strings.HasPrefix(key, v1.ReservedPrefix) && !slices.Contains(except, key)
	})
	return kept
}

// IsRecreatedDeployment reports whether the live Deployment is another object than the saved one, but says the same, with the marks of a
// Helm release or without. An earlier run has created it, or the user did, from the backup.
func IsRecreatedDeployment(live *appsv1.Deployment, saved Saved) bool {
	if live.UID == saved.Deployment.UID {
		return false
	}
	marked := Saved{Deployment: RecreatedDeployment(saved)}
	plain := Saved{Deployment: RecreatedDeployment(saved)}
	plain.Unmark()
	return marked.isDeployment(live) || plain.isDeployment(live)
}

// IsRecreated reports whether the live Service is that of the backup, but for its addresses.
func IsRecreated(live *corev1.Service, saved Saved) bool {
	want := Recreated(saved)
	return equality.Semantic.DeepEqual(WithoutAddresses(live).Spec, WithoutAddresses(want).Spec) &&
		equality.Semantic.DeepEqual(live.Labels, want.Labels) && equality.Semantic.DeepEqual(live.Annotations, want.Annotations)
}

// WithoutAddresses lets the cluster choose the addresses of a Service, and its ports on the nodes. A headless one stays headless.
func WithoutAddresses(service *corev1.Service) *corev1.Service {
	free := service.DeepCopy()
	if free.Spec.ClusterIP != corev1.ClusterIPNone {
		free.Spec.ClusterIP, free.Spec.ClusterIPs = "", nil
	}
	free.Spec.HealthCheckNodePort = 0
	for i := range free.Spec.Ports {
		free.Spec.Ports[i].NodePort = 0
	}
	return free
}
