// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/preview"
)

// newRendering puts what the preview has computed into the types of the API.
func newRendering(application *v1.Application, rendering preview.Rendering, difference preview.Difference) (*v1alpha1.ApplicationRendering, error) {
	answer := &v1alpha1.ApplicationRendering{ObjectMeta: metadataOf(application), Revision: rendering.Revision}
	if rendering.Class != nil {
		answer.Class = rendering.Class.Name
	}
	var err error
	if answer.Pods, err = renderedPods(difference.Pods); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	for i := range difference.Children {
		c := &difference.Children[i]
		fields, err := fieldChanges(c.Changes)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		answer.Changes = append(answer.Changes, v1alpha1.RenderedChange{
			Kind: c.Kind, Name: c.Name, Action: string(c.Action), Reason: c.Reason, Fields: fields,
		})
	}
	for _, desired := range rendering.Children {
		encoded, err := json.Marshal(desired.Configuration)
		if err != nil {
			return nil, apierrors.NewInternalError(fmt.Errorf("encode %s: %w", desired.Ref, err))
		}
		answer.Children = append(answer.Children, runtime.RawExtension{Raw: encoded})
	}
	return answer, nil
}

func renderedPods(pods preview.Pods) (v1alpha1.RenderedPods, error) {
	because, err := fieldChanges(pods.Because)
	return v1alpha1.RenderedPods{
		Replaced: pods.Replaced, Because: because, Paused: pods.Paused, Strategy: string(pods.Strategy),
		Live: pods.Live, Before: pods.Before, After: pods.After,
	}, err
}

// fieldChanges has the values as JSON, which shows what is a text and what is a number.
func fieldChanges(changes []preview.Change) ([]v1alpha1.FieldChange, error) {
	var found []v1alpha1.FieldChange
	for _, change := range changes {
		before, err := jsonOf(change.Before)
		if err != nil {
			return nil, err
		}
		after, err := jsonOf(change.After)
		if err != nil {
			return nil, err
		}
		found = append(found, v1alpha1.FieldChange{Path: change.Path, Before: before, After: after})
	}
	return found, nil
}

func jsonOf(value any) (string, error) {
	if value == nil {
		return "", nil
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode %T: %w", value, err)
	}
	return string(encoded), nil
}
