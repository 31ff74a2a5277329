// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// isServed reports whether the aggregated API answered. Where it is not installed, is down, or refuses this user, the plugin does
// the work itself, with the user's own permissions.
func isServed(err error) bool {
	return !apierrors.IsNotFound(err) && !apierrors.IsServiceUnavailable(err) && !apierrors.IsForbidden(err) && !apierrors.IsTooManyRequests(err)
}

// askServer asks the aggregated API what applying the Application would do. served is false if the plugin must find out itself.
func (t *tool) askServer(ctx context.Context, application *v1.Application) (answer *v1alpha1.ApplicationRendering, served bool, err error) {
	clients, err := t.clients()
	if err != nil {
		return nil, false, err
	}
	posted := &v1.Application{Spec: application.Spec}
	posted.Name, posted.Labels, posted.Annotations = application.Name, application.Labels, application.Annotations
	posted.APIVersion, posted.Kind = v1.SchemeGroupVersion.String(), v1.ApplicationKind
	encoded, err := json.Marshal(posted)
	if err != nil {
		return nil, false, err
	}
	options := &v1alpha1.RenderOptions{Application: runtime.RawExtension{Raw: encoded}}
	answer, err = clients.Fairlead.SubresourcesV1alpha1().ApplicationRuntimes(application.Namespace).
		Render(ctx, application.Name, options, metav1.CreateOptions{})
	if err != nil && !isServed(err) {
		return nil, false, nil
	}
	return answer, true, asRefused(err)
}

// asRefused says of the server's refusal of a class that does not exist, or of a named revision, what refused says: the API server stores the
// Application. The server does not tell the reason of the condition.
func asRefused(err error) error {
	status := apierrors.APIStatus(nil)
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return err
	}
	causes := status.Status().Details.Causes
	if slices.ContainsFunc(causes, func(cause metav1.StatusCause) bool { return isAboutPin(cause.Field, cause.Message) }) {
		return fmt.Errorf("the Application would %s: %s", wouldBeStored, strings.Join(invalidFields(status.Status().Details), ", "))
	}
	if len(causes) != 1 {
		return err
	}
	cause := causes[0]
	if cause.Type != metav1.CauseTypeFieldValueNotFound || cause.Field != "spec.className" {
		return err
	}
	return fmt.Errorf("the Application would wait for its class (%s): %s: %s", v1.ReasonClassNotFound, cause.Field, cause.Message)
}

// served is the difference that the aggregated API computes. served is false if the plugin must find out itself. old is nil if there is
// no Application yet.
func (t *tool) served(ctx context.Context, old, application *v1.Application) (d preview.Difference, served bool, err error) {
	answer, served, err := t.askServer(ctx, application)
	if err != nil || !served {
		return d, served, err
	}
	if d, err = servedDifference(answer); err != nil {
		return d, true, err
	}
	if rollback := application.Spec.Rollback; rollback != nil && rollback.ToRevision != nil {
		d.Pods.Pinned = *rollback.ToRevision
	}
	if !enforced(application) {
		d.Pods.Stopped = application.Spec.ReconcilePolicy
	}
	if old == nil || !d.Pods.Replaced {
		return d, true, nil
	}
	// The server compares the pod templates, and does not look at the ReplicaSets.
	children, err := servedChildren(answer)
	if err != nil {
		return d, true, err
	}
	if err := d.Pods.FindOutage(children); err != nil {
		return d, true, err
	}
	clients, err := t.clients()
	if err != nil {
		return d, true, err
	}
	loaded, err := clients.Load(ctx, old)
	if err != nil {
		return d, true, err
	}
	return d, true, t.besidePods(&d.Pods, children, loaded)
}

// servedChildren are the rendered children of the answer, of the kinds that this version of the plugin knows.
func servedChildren(answer *v1alpha1.ApplicationRendering) ([]child.Desired, error) {
	children := make([]child.Desired, 0, len(answer.Children))
	for _, encoded := range answer.Children {
		object := &unstructured.Unstructured{}
		if err := json.Unmarshal(encoded.Raw, object); err != nil {
			return nil, fmt.Errorf("decode a rendered child: %w", err)
		}
		at := slices.IndexFunc(child.AllKinds(), func(kind child.Kind) bool { return kind.GroupVersionKind() == object.GroupVersionKind() })
		if at < 0 {
			continue // The server is newer.
		}
		var configuration any = object
		if child.AllKinds()[at] == child.Deployment {
			configuration = &appsv1ac.DeploymentApplyConfiguration{}
			if err := json.Unmarshal(encoded.Raw, configuration); err != nil {
				return nil, fmt.Errorf("decode the rendered Deployment: %w", err)
			}
		}
		desired, err := child.NewDesired(child.AllKinds()[at], configuration)
		if err != nil {
			return nil, err
		}
		children = append(children, desired)
	}
	return children, nil
}

// servedDifference is the answer in the plugin's own form.
func servedDifference(answer *v1alpha1.ApplicationRendering) (preview.Difference, error) {
	because, err := servedChanges(answer.Pods.Because)
	d := preview.Difference{Pods: preview.Pods{
		Replaced: answer.Pods.Replaced, Because: because, Paused: answer.Pods.Paused, Strategy: appsv1.DeploymentStrategyType(answer.Pods.Strategy),
		Live: answer.Pods.Live, Before: answer.Pods.Before, After: answer.Pods.After,
	}}
	for i := range answer.Changes {
		change := &answer.Changes[i]
		fields, failed := servedChanges(change.Fields)
		if failed != nil {
			err = failed
		}
		d.Children = append(d.Children, preview.Child{
			Kind: change.Kind, Name: change.Name, Action: preview.Action(change.Action), Reason: change.Reason, Changes: fields,
		})
	}
	return d, err
}

func servedChanges(served []v1alpha1.FieldChange) ([]preview.Change, error) {
	var changes []preview.Change
	for _, field := range served {
		change := preview.Change{Path: field.Path}
		for text, into := range map[*string]*any{&field.Before: &change.Before, &field.After: &change.After} {
			if *text == "" {
				continue
			}
			if err := json.Unmarshal([]byte(*text), into); err != nil {
				return nil, fmt.Errorf("the server says that %s is %q: %w", field.Path, *text, err)
			}
		}
		changes = append(changes, change)
	}
	return changes, nil
}
