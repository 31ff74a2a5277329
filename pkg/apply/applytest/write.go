// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package applytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
)

// Callers of these functions hold the lock. The functions return copies.

func (s *Server) get(k *kind, name cache.ObjectName) (child.Object, error) {
	object, found := k.objects[name]
	if !found {
		return nil, apierrors.NewNotFound(k.GroupVersionResource().GroupResource(), name.Name)
	}
	return copyOf(object), nil
}

func (s *Server) create(k *kind, namespace string, object child.Object, manager string) (child.Object, error) {
	object = copyOf(object)
	object.SetNamespace(namespace)
	if _, found := k.objects[cache.MetaObjectToName(object)]; found {
		return nil, apierrors.NewAlreadyExists(k.GroupVersionResource().GroupResource(), object.GetName())
	}
	object.SetUID(s.nextUID())
	object.SetGeneration(1)
	object.SetCreationTimestamp(metav1.NewTime(time.Now().Truncate(time.Second)))
	object.SetManagedFields(nil)
	object.SetResourceVersion("")
	object = s.withStatusOf(k, object, s.newObject(k))
	defaulter{}.Default(object)
	object, err := s.manage(k, s.newObject(k), object, manager)
	if err != nil {
		return nil, err
	}
	s.commit(k, watch.Added, nil, object)
	return copyOf(object), nil
}

// manage lets the field manager record which manager changed which fields.
func (s *Server) manage(k *kind, before, after child.Object, manager string) (child.Object, error) {
	if k.fields == nil {
		return after, nil
	}
	managed, err := k.fields.Update(before, after, manager)
	if err != nil {
		return nil, err
	}
	object, ok := managed.(child.Object)
	if !ok {
		return nil, fmt.Errorf("the field manager returned a %T", managed)
	}
	return object, nil
}

// update replaces an object, or only its status.
func (s *Server) update(k *kind, object child.Object, subresource, manager string) (child.Object, error) {
	before, err := s.get(k, cache.MetaObjectToName(object))
	if err != nil {
		return nil, err
	}
	after := copyOf(object)
	if subresource == "status" {
		meta := after
		after = s.withStatusOf(k, before, after)
		after.SetUID(meta.GetUID())
		after.SetResourceVersion(meta.GetResourceVersion())
	} else {
		after = s.withStatusOf(k, after, before)
	}
	if err := s.precondition(k, before, after); err != nil {
		return nil, err
	}
	if subresource == "" {
		defaulter{}.Default(after)
		if after, err = s.manage(k, before, after, manager); err != nil {
			return nil, err
		}
	}
	return s.store(k, before, after)
}

// precondition is the optimistic concurrency of the API server. It compares the version if there is one. The API
// server refuses another UID as a change of an immutable field, with 422 and not with 409.
func (s *Server) precondition(k *kind, before, after child.Object) error {
	if version := after.GetResourceVersion(); version != "" && version != before.GetResourceVersion() {
		return conflict(k, before, "the object has been modified; please apply your changes to the latest version and try again")
	}
	switch after.GetUID() {
	case before.GetUID():
	case "":
		after.SetUID(before.GetUID())
	default:
		return apierrors.NewInvalid(k.GroupVersionKind().GroupKind(), before.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("metadata", "uid"), after.GetUID(), "field is immutable"),
		})
	}
	return nil
}

func conflict(k *kind, object child.Object, message string) error {
	return apierrors.NewConflict(k.GroupVersionResource().GroupResource(), object.GetName(), fmt.Errorf("%s", message))
}

// store commits a change unless nothing changed. It deletes an object that has lost its last finalizer.
func (s *Server) store(k *kind, before, after child.Object) (child.Object, error) {
	after.SetCreationTimestamp(before.GetCreationTimestamp())
	after.SetDeletionTimestamp(before.GetDeletionTimestamp())
	after.SetGeneration(before.GetGeneration())
	if changesSpec(before, after) {
		after.SetGeneration(before.GetGeneration() + 1)
	}
	if err := validate(k, after); err != nil {
		return nil, err
	}
	switch {
	case sameObject(before, after):
		return before, nil
	case after.GetDeletionTimestamp() != nil && len(after.GetFinalizers()) == 0:
		s.commit(k, watch.Deleted, before, after)
	default:
		s.commit(k, watch.Modified, before, after)
	}
	return copyOf(after), nil
}

func (s *Server) patch(k *kind, name cache.ObjectName, kind types.PatchType, body []byte, subresource, manager string) (child.Object, error) {
	if kind == types.ApplyPatchType {
		return s.apply(k, name, body, manager)
	}
	before, err := s.get(k, name)
	if err != nil {
		return nil, err
	}
	old, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	var patched []byte
	switch kind {
	case types.JSONPatchType:
		var operations jsonpatch.Patch
		if operations, err = jsonpatch.DecodePatch(body); err == nil {
			patched, err = operations.Apply(old)
			if errors.Is(err, jsonpatch.ErrTestFailed) {
				return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
			}
		}
	case types.MergePatchType:
		patched, err = jsonpatch.MergePatch(old, body)
	case types.StrategicMergePatchType:
		patched, err = strategicpatch.StrategicMergePatch(old, body, s.newObject(k))
	default:
		err = fmt.Errorf("unknown patch type %s", kind)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	after := s.newObject(k)
	if err := json.Unmarshal(patched, after); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return s.update(k, after, subresource, manager)
}

// apply is server-side apply, always with force.
func (s *Server) apply(k *kind, name cache.ObjectName, body []byte, manager string) (child.Object, error) {
	applied := &unstructured.Unstructured{}
	if err := json.Unmarshal(body, &applied.Object); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	before, err := s.get(k, name)
	exists := err == nil
	if !exists {
		before = s.newObject(k)
		if applied.GetUID() != "" {
			before.SetName(name.Name)
			return nil, conflict(k, before, fmt.Sprintf("uid mismatch: the provided object specified uid %s, and no existing object was found", applied.GetUID()))
		}
	}
	managed, err := k.fields.Apply(before, applied, manager, true)
	if err != nil {
		return nil, err
	}
	after, ok := managed.(child.Object)
	if !ok {
		return nil, fmt.Errorf("the field manager made a %T", managed)
	}
	after.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind())
	if !exists {
		after.SetUID(s.nextUID())
		after.SetGeneration(1)
		after.SetCreationTimestamp(metav1.NewTime(time.Now().Truncate(time.Second)))
		s.commit(k, watch.Added, nil, after)
		return copyOf(after), nil
	}
	if err := s.precondition(k, before, after); err != nil {
		return nil, err
	}
	return s.store(k, before, after)
}

func (s *Server) delete(k *kind, name cache.ObjectName, preconditions *metav1.Preconditions) error {
	before, err := s.get(k, name)
	if err != nil {
		return err
	}
	if p := preconditions; p != nil {
		if p.UID != nil && *p.UID != before.GetUID() {
			return conflict(k, before, fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, before.GetUID()))
		}
		if p.ResourceVersion != nil && *p.ResourceVersion != before.GetResourceVersion() {
			return conflict(k, before, fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, before.GetResourceVersion()))
		}
	}
	if before.GetDeletionTimestamp() != nil {
		return nil
	}
	after := copyOf(before)
	if len(before.GetFinalizers()) == 0 {
		s.commit(k, watch.Deleted, before, after)
		return nil
	}
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	after.SetDeletionTimestamp(&now)
	after.SetGeneration(before.GetGeneration() + 1)
	s.commit(k, watch.Modified, before, after)
	return nil
}
