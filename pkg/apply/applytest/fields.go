// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package applytest

import (
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/applyconfigurations"
	kubescheme "k8s.io/client-go/kubernetes/scheme"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	fairleadscheme "fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"
)

// fieldManager is the API server's own code for managed fields and server-side apply.
type fieldManager = managedfields.FieldManager

// machinery is shared by all servers: it is expensive to create and never changes.
type machinery struct {
	scheme *runtime.Scheme
	fields map[child.Kind]*fieldManager
}

var sharedMachinery = sync.OnceValues(func() (machinery, error) {
	m := machinery{scheme: runtime.NewScheme(), fields: map[child.Kind]*fieldManager{}}
	for _, add := range []func(*runtime.Scheme) error{kubescheme.AddToScheme, fairleadscheme.AddToScheme} {
		if err := add(m.scheme); err != nil {
			return machinery{}, fmt.Errorf("build scheme: %w", err)
		}
	}
	converter := applyconfigurations.NewTypeConverter(m.scheme)
	for _, k := range child.Kinds() {
		gvk := k.GroupVersionKind()
		manager, err := managedfields.NewDefaultFieldManager(converter, m.scheme, defaulter{}, m.scheme, gvk, gvk.GroupVersion(), "", nil)
		if err != nil {
			return machinery{}, fmt.Errorf("create field manager of %s: %w", k, err)
		}
		m.fields[k] = manager
	}
	return m, nil
})

// defaulter sets the defaults on which the code under test relies. Those of the API server are in k8s.io/kubernetes,
// which is not a library.
type defaulter struct{}

func (defaulter) Default(object runtime.Object) {
	switch o := object.(type) {
	case *appsv1.Deployment:
		// This default makes a hand-over necessary.
		if o.Spec.Replicas == nil {
			o.Spec.Replicas = new(int32(1))
		}
		// An apply that removes the last field of an emptyDir removes the emptyDir too; this restores it.
		for i := range o.Spec.Template.Spec.Volumes {
			if volume := &o.Spec.Template.Spec.Volumes[i]; volume.VolumeSource == (corev1.VolumeSource{}) {
				volume.EmptyDir = &corev1.EmptyDirVolumeSource{}
			}
		}
	case *v1.Application:
		// The defaults of the CRD.
		if o.Spec.ReconcilePolicy == "" {
			o.Spec.ReconcilePolicy = v1.ReconcileEnforce
		}
		if o.Spec.DeletionPolicy == "" {
			o.Spec.DeletionPolicy = v1.DeletionDelete
		}
		if equality.Semantic.DeepEqual(o.Status, v1.ApplicationStatus{}) {
			o.Status.ObservedGeneration = -1
		}
	}
}

// validate refuses objects that can result when an apply meets changes of other writers: two ports with one name, two
// numbers in one budget. The code under test relies on no other validation.
func validate(k *kind, object child.Object) error {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	switch o := object.(type) {
	case *corev1.Service:
		names := map[string]bool{}
		for i, port := range o.Spec.Ports {
			if names[port.Name] {
				errs = append(errs, field.Duplicate(spec.Child("ports").Index(i).Child("name"), port.Name))
			}
			names[port.Name] = true
		}
	case *policyv1.PodDisruptionBudget:
		if o.Spec.MinAvailable != nil && o.Spec.MaxUnavailable != nil {
			errs = append(errs, field.Invalid(spec, o.Spec, "minAvailable and maxUnavailable cannot be both set"))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(k.GroupVersionKind().GroupKind(), object.GetName(), errs)
}

// newObject returns an empty object of the kind.
func (s *Server) newObject(k *kind) child.Object {
	created, err := s.scheme.New(k.GroupVersionKind())
	if err != nil {
		panic(err)
	}
	object, ok := created.(child.Object)
	if !ok {
		panic(created)
	}
	object.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind())
	return object
}

// asMap returns the JSON form of an object.
func asMap(object child.Object) map[string]any {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		panic(err)
	}
	return fields
}

// withStatusOf returns object with the status of other. An update of the main resource stores the new object with the
// old status; an update of the status stores the old object with the new status.
func (s *Server) withStatusOf(k *kind, object, other child.Object) child.Object {
	fields, status := asMap(object), asMap(other)["status"]
	delete(fields, "status")
	if status != nil {
		fields["status"] = status
	}
	merged := s.newObject(k)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, merged); err != nil {
		panic(err)
	}
	return merged
}

// changesSpec reports whether a write changes more than metadata and status, and so increments the generation. For a Deployment, another
// annotation does too, because its ReplicaSets get it.
func changesSpec(before, after child.Object) bool {
	if _, ok := after.(*appsv1.Deployment); ok && !equality.Semantic.DeepEqual(before.GetAnnotations(), after.GetAnnotations()) {
		return true
	}
	was, is := asMap(before), asMap(after)
	for _, fields := range []map[string]any{was, is} {
		for _, name := range []string{"apiVersion", "kind", "metadata", "status"} {
			delete(fields, name)
		}
	}
	return !equality.Semantic.DeepEqual(was, is)
}

// sameObject reports whether a write changes nothing. The times in managed fields do not count.
func sameObject(before, after child.Object) bool {
	was, is := copyOf(before), copyOf(after)
	for _, object := range []child.Object{was, is} {
		object.SetResourceVersion("")
		entries := object.GetManagedFields()
		for i := range entries {
			entries[i].Time = nil
		}
		if len(entries) == 0 {
			entries = []metav1.ManagedFieldsEntry{}
		}
		object.SetManagedFields(entries)
	}
	return equality.Semantic.DeepEqual(was, is)
}
