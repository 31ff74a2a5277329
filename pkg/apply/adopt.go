// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// errChanged is met when the object is no longer the one that the plan saw, on which a user consented to the adoption.
var errChanged = errors.New("the object changed after its adoption was planned")

// takeOver adopts a live object in two writes. The first changes only who owns which field, and fails if the object is not
// exactly the one that the plan saw: with the consent, and with all that the plan looked at. The second applies what was
// rendered, and the ownership. Between them the object's values are as before, so a retry starts again.
func (w *Writer) takeOver(ctx context.Context, owner cache.ObjectName, application *v1.Application, result plan.Result) plan.Result {
	if result.Selects != nil {
		stranger, err := w.strangerAmong(ctx, application, result)
		if err != nil {
			result.Err = err
			return result
		}
		if stranger != "" {
			instead := result.SharedBy(application, stranger)
			result.Instead = &instead
			return result
		}
	}
	version, err := w.takeFields(ctx, result, adoptedFrom(result))
	if err != nil {
		result.Err = fmt.Errorf("adopt %s: %w", result.Ref, err)
		return result
	}
	object, err := result.Desired.Object()
	if err != nil {
		result.Err = err
		return result
	}
	object.SetUID(result.Live.GetUID())
	object.SetResourceVersion(version)
	body, err := json.Marshal(object)
	if err != nil {
		result.Err = fmt.Errorf("encode %s: %w", result.Ref, err)
		return result
	}
	applied, err := w.patch(ctx, result.Ref, types.ApplyPatchType, body, FieldManager)
	if err != nil {
		result.Err = fmt.Errorf("adopt %s: %w", result.Ref, err)
		return result
	}
	return w.recordWrite(owner, result, applied)
}

// strangerAmong returns the name of a pod that a live Service selects and that does not carry the Application's label; ""
// if there is none. A pod that is being deleted gets no new requests.
func (w *Writer) strangerAmong(ctx context.Context, application *v1.Application, result plan.Result) (string, error) {
	pods, err := w.client.ListPods(ctx, result.Ref.Namespace, result.Selects)
	if err != nil {
		return "", fmt.Errorf("list the pods that %s selects: %w", result.Ref, err)
	}
	for i := range pods {
		if pods[i].DeletionTimestamp == nil && pods[i].Labels[v1.LabelApplication] != application.Name {
			return pods[i].Name, nil
		}
	}
	return "", nil
}

// takeFields changes the managers of the fields of the live object, and returns the new resourceVersion. The object must be exactly the
// one that the plan saw.
func (w *Writer) takeFields(
	ctx context.Context, result plan.Result, taken func([]metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error),
) (version string, err error) {
	object, err := w.client.Get(ctx, result.Ref)
	if err != nil {
		return "", fmt.Errorf("get it: %w", err)
	}
	if object.GetUID() != result.Live.GetUID() || object.GetResourceVersion() != result.Live.GetResourceVersion() {
		return "", newConflict(result.Ref, errChanged)
	}
	entries, err := taken(object.GetManagedFields())
	if err != nil {
		return "", err
	}
	// The API server compares the resourceVersion that an update has, and a patch that replaces it is one.
	body, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": entries},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": object.GetResourceVersion()},
	})
	if err != nil {
		return "", fmt.Errorf("encode its managed fields: %w", err)
	}
	patched, err := w.client.Patch(ctx, result.Ref, types.JSONPatchType, body, FieldManager)
	if err != nil {
		return "", fmt.Errorf("take over its fields: %w", err)
	}
	return patched.GetResourceVersion(), nil
}

// adoptedFrom makes FieldManager the only manager of the adopted fields, and of all that becomes exactly as it is rendered.
func adoptedFrom(result plan.Result) func([]metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	return func(entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
		return takenFields(entries, result.Ref.Kind, result.Adopted, plan.AdoptedWhole())
	}
}

// takenFields returns the entries of managedFields after the adopted fields have moved to FieldManager. No other manager keeps any of the
// fields in whole. Entries of subresources stay: an autoscaler's, which owns the number of pods, and the status.
//
// What Fairlead owned before, as the manager of an Application that left the object behind, is taken over too. But what
// the apply may omit is not: it would reset the number of pods to 1, and remove the selector, which cannot change.
func takenFields(entries []metav1.ManagedFieldsEntry, kind child.Kind, adopted, whole *fieldpath.Set) ([]metav1.ManagedFieldsEntry, error) {
	ours := adopted
	var kept []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if entry.Subresource != "" || entry.FieldsV1 == nil {
			kept = append(kept, entry)
			continue
		}
		fields := &fieldpath.Set{}
		if err := fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			return nil, fmt.Errorf("read the managed fields of %s: %w", entry.Manager, err)
		}
		if entry.Manager == FieldManager {
			ours = ours.Union(fields.RecursiveDifference(omissible.Difference(adopted)))
			continue
		}
		left := fields.Difference(adopted).RecursiveDifference(whole)
		if left.Empty() {
			continue
		}
		if err := setFields(&entry, left); err != nil {
			return nil, err
		}
		kept = append(kept, entry)
	}
	taken := metav1.ManagedFieldsEntry{
		Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply,
		APIVersion: kind.GroupVersionKind().GroupVersion().String(), FieldsType: "FieldsV1",
	}
	if err := setFields(&taken, ours); err != nil {
		return nil, err
	}
	return append(kept, taken), nil
}

// omissible are the fields of a Deployment that live on if Fairlead does not render them.
var omissible = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas"), fieldpath.MakePathOrDie("spec", "selector"))

func setFields(entry *metav1.ManagedFieldsEntry, fields *fieldpath.Set) error {
	encoded, err := fields.ToJSON()
	if err != nil {
		return fmt.Errorf("write the managed fields of %s: %w", entry.Manager, err)
	}
	entry.FieldsV1 = metav1.NewFieldsV1(string(encoded))
	return nil
}
