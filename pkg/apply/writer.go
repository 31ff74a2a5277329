// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apply is the only writer of children. It executes a plan, proves ownership by UID at every write, and records
// its writes in the consistency store.
package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/consistency"
	"fairlead.dev/fairlead/pkg/plan"
)

const (
	// FieldManager owns the fields that Fairlead renders.
	FieldManager = plan.FieldManager
	// HandOverManager owns spec.replicas of a Deployment after Fairlead has omitted the field, until the autoscaler
	// or a user changes it.
	HandOverManager = "fairlead-hand-over"
)

// Writer executes the steps of a plan.
type Writer struct {
	client           Client
	consistencyStore *consistency.Store
}

// NewWriter returns a Writer that records its writes in the consistency store.
func NewWriter(client Client, consistencyStore *consistency.Store) *Writer {
	return &Writer{client: client, consistencyStore: consistencyStore}
}

// ErrOwnerDeleted ends a sync whose plan needs a live look at the Application, which is deleted or being deleted.
// Nothing was written.
var ErrOwnerDeleted = errors.New("the Application is deleted, or being deleted")

// Execute executes the steps in order and returns a result for each. A step that fails does not stop the others: a
// refused Ingress is no reason to have no Deployment. When ctx ends, the remaining steps fail with its error.
//
// Before the first write it calls recheckOwner, if a step requires that, and returns its error.
func (w *Writer) Execute(ctx context.Context, application *v1.Application, steps []plan.Step, recheckOwner func(context.Context) error) ([]plan.Result, error) {
	if slices.ContainsFunc(steps, func(step plan.Step) bool { return step.RecheckOwner }) {
		if err := recheckOwner(ctx); err != nil {
			return nil, err
		}
	}
	results := make([]plan.Result, 0, len(steps))
	for _, step := range steps {
		result := w.execute(ctx, application, step, results)
		if done := result.Done(); result.Changed() {
			klog.FromContext(ctx).V(2).Info("Wrote child", "action", done.Action, "child", result.Ref.String(), "reason", done.Reason, "fields", result.Fields)
		}
		results = append(results, result)
	}
	return results, nil
}

// Observe returns the results of steps that are not executed, because reconcilePolicy is Observe. It reads what a
// step cannot know from the caches.
func (w *Writer) Observe(ctx context.Context, application *v1.Application, steps []plan.Step) []plan.Result {
	results := make([]plan.Result, 0, len(steps))
	for _, step := range steps {
		results = append(results, w.verify(ctx, application, newResult(step)))
	}
	return results
}

func newResult(step plan.Step) plan.Result {
	result := plan.Result{Step: step}
	if step.Live != nil {
		result.UID = step.Live.GetUID()
	}
	return result
}

// execute executes one step. results are those of the steps before it.
func (w *Writer) execute(ctx context.Context, application *v1.Application, step plan.Step, results []plan.Result) plan.Result {
	result := newResult(step)
	if err := ctx.Err(); err != nil && step.Action != plan.Keep {
		result.Err = err
		return result
	}
	if instead := dependsOn(step, results); instead != nil {
		result.Instead = instead
		return w.verify(ctx, application, w.meetDeployment(ctx, application, result, results))
	}
	if err := handedOver(step, results); err != nil {
		result.Err = err
		return result
	}
	owner := cache.MetaObjectToName(application)
	switch step.Action {
	case plan.Create:
		return w.create(ctx, owner, application, result)
	case plan.Apply:
		return w.apply(ctx, owner, result)
	case plan.Scale:
		return w.scale(ctx, owner, result)
	case plan.Adopt:
		return w.takeOver(ctx, owner, application, result)
	case plan.Delete:
		return w.delete(ctx, owner, w.verify(ctx, application, result))
	default:
		return w.verify(ctx, application, result)
	}
}

// create sends a POST, which costs the API server about half of an apply. If the name is taken, the informers do not
// have the object: it lacks the label by which they select, or they lag behind.
func (w *Writer) create(ctx context.Context, owner cache.ObjectName, application *v1.Application, result plan.Result) plan.Result {
	object, err := result.Desired.Object()
	if err != nil {
		result.Err = err
		return result
	}
	switch {
	case result.HandOver != nil:
		setInitialReplicas(object, *result.HandOver) // So its fields differ from the rendered ones, and it gets no field set.
	case result.FieldSet != "":
		annotate(object, v1.AnnotationCreatedFieldSet, result.FieldSet)
	}
	body, err := json.Marshal(object)
	if err != nil {
		result.Err = fmt.Errorf("encode %s: %w", result.Ref, err)
		return result
	}
	created, err := w.client.Create(ctx, result.Ref, body, FieldManager)
	if apierrors.IsAlreadyExists(err) {
		return w.handleExisting(ctx, owner, application, result)
	}
	if err != nil {
		result.Err = fmt.Errorf("create %s: %w", result.Ref, err)
		return result
	}
	return w.recordWrite(owner, result, created)
}

// apply applies the rendered child to the live one.
//
// If another writer caused the difference, the pre-patch exchanges list items first. If the Application changed, the
// apply comes first, since it removes our own old items itself. Only if the API server refuses it may items of other
// writers be in its way.
func (w *Writer) apply(ctx context.Context, owner cache.ObjectName, result plan.Result) plan.Result {
	if result.HandOver != nil {
		if _, err := w.handOverReplicas(ctx, result); err != nil {
			result.Err = err
			return result
		}
	}
	prePatch := result.PrePatch != nil && result.Drift
	applied, err := w.sendApply(ctx, result, prePatch)
	if apierrors.IsInvalid(err) && result.PrePatch != nil && !prePatch {
		applied, err = w.sendApply(ctx, result, true)
	}
	if err != nil {
		result.Err = err
		return result
	}
	result = w.recordWrite(owner, result, applied)
	result.Instead = result.Unrepaired()
	return result
}

// sendApply sends the apply, and before it the requests that it needs. The UID in the body makes the API server
// refuse it if the object was replaced.
func (w *Writer) sendApply(ctx context.Context, result plan.Result, prePatch bool) (*metav1.PartialObjectMetadata, error) {
	version := result.Live.GetResourceVersion()
	if result.Undone > 0 {
		taken, err := w.takeUndone(ctx, result)
		if err != nil {
			return nil, err
		}
		version = taken
	}
	if prePatch {
		if err := w.sendPrePatch(ctx, result, version); err != nil {
			return nil, err
		}
	}
	if CreatedByPost(result.Live) && !keepsFieldSet(result) || prePatch {
		if err := w.convertManagedFields(ctx, result); err != nil {
			return nil, err
		}
	}
	object, err := result.Desired.Object()
	if err != nil {
		return nil, err
	}
	object.SetUID(result.Live.GetUID())
	if result.Desired.IfUnchanged {
		object.SetResourceVersion(version) // After one of the requests above, the next sync applies.
	}
	body, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", result.Ref, err)
	}
	applied, err := w.patch(ctx, result.Ref, types.ApplyPatchType, body, FieldManager)
	if err != nil {
		return nil, fmt.Errorf("apply %s: %w", result.Ref, err)
	}
	return applied, nil
}

// sendPrePatch replaces list items whose keys another writer changed by the rendered items. The resourceVersion makes
// it fail if the list has changed again.
func (w *Writer) sendPrePatch(ctx context.Context, result plan.Result, version string) error {
	patch := maps.Clone(result.PrePatch)
	patch["metadata"] = map[string]any{
		"uid":             result.Live.GetUID(),
		"resourceVersion": version,
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encode list items of %s: %w", result.Ref, err)
	}
	if _, err := w.patch(ctx, result.Ref, types.StrategicMergePatchType, body, FieldManager); err != nil {
		return fmt.Errorf("exchange list items of %s: %w", result.Ref, err)
	}
	return nil
}

// patch sends a patch whose body has the UID. If another object has the name now, the API server reports an invalid
// change of an immutable field. But the child is valid and the plan is out of date, so patch returns a conflict.
func (w *Writer) patch(ctx context.Context, ref child.Ref, kind types.PatchType, body []byte, manager string) (*metav1.PartialObjectMetadata, error) {
	object, err := w.client.Patch(ctx, ref, kind, body, manager)
	var answer apierrors.APIStatus
	if apierrors.IsInvalid(err) && errors.As(err, &answer) && answer.Status().Details != nil {
		for _, cause := range answer.Status().Details.Causes {
			if cause.Field == "metadata.uid" {
				return nil, newConflict(ref, errReplaced)
			}
		}
	}
	return object, err
}

// newConflict returns the error of a write whose plan is out of date.
func newConflict(ref child.Ref, cause error) error {
	return apierrors.NewConflict(ref.Kind.GroupVersionResource().GroupResource(), ref.Name, cause)
}

// delete deletes exactly the planned object, with the same UID and resourceVersion.
func (w *Writer) delete(ctx context.Context, owner cache.ObjectName, result plan.Result) plan.Result {
	live := result.Done().Live
	if result.Err != nil || live == nil {
		return result // It does not exist, or could not be read.
	}
	uid, version := live.GetUID(), live.GetResourceVersion()
	err := w.client.Delete(ctx, result.Ref, metav1.Preconditions{UID: &uid, ResourceVersion: &version})
	if err != nil && !apierrors.IsNotFound(err) {
		result.Err = fmt.Errorf("delete %s: %w", result.Ref, err)
		return result
	}
	w.consistencyStore.Deleted(owner, result.Ref.Kind.GroupVersionResource(), cache.ObjectName{Namespace: result.Ref.Namespace, Name: result.Ref.Name}, uid)
	return result
}

// recordWrite records the response in the result and in the consistency store.
func (w *Writer) recordWrite(owner cache.ObjectName, result plan.Result, object metav1.Object) plan.Result {
	result.UID = object.GetUID()
	result.ResourceVersion = object.GetResourceVersion()
	result.Generation = object.GetGeneration()
	w.consistencyStore.WroteAt(owner, result.Ref.Kind.GroupVersionResource(), result.ResourceVersion)
	return result
}

var (
	errReplaced  = errors.New("the object was deleted and recreated")
	errNotCached = errors.New("the object exists, but the caches have not observed it")
)
