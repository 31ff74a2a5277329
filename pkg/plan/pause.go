// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/pkg/child"
)

// endForeignPause renders that the rollouts go on, if another client paused the live Deployment: kubectl rollout pause. The field is not
// rendered otherwise, so the apply would leave it to that client, and a change of the Application would replace no pod. It is not rendered
// always, because the API server stores no false, and each comparison would find a difference.
func endForeignPause(desired *child.Desired, live child.Object) error {
	deployment, ok := live.(*appsv1.Deployment)
	if !ok || !deployment.Spec.Paused {
		return nil
	}
	object, err := desired.Object()
	if err != nil {
		return err
	}
	if _, rendered, _ := unstructured.NestedBool(object.Object, "spec", "paused"); rendered {
		return nil
	}
	desired.Configuration = object
	return unstructured.SetNestedField(object.Object, false, "spec", "paused")
}
