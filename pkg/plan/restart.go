// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// keepRestart renders the restart of the live Deployment if it is later than the Application's. A restart of the
// Application stays in its spec. It must not undo each later kubectl rollout restart, whose pods would go before they serve,
// while kubectl says that the rollout succeeded. To leave the annotation out would not do: if Fairlead wrote it too, beside
// another change, the apply would remove it, and the next one would write the earlier one, each with new pods. The apply fails
// if another client restarts the Deployment meanwhile. A later restart of the Application itself is taken back with its spec,
// as where the spec has no restart at all.
func keepRestart(desired *child.Desired, live child.Object, around child.Snapshot) error {
	deployment, ok := live.(*appsv1.Deployment)
	if !ok || deployment.Spec.Template.Annotations[v1.AnnotationRestartedAt] == "" {
		return nil
	}
	object, err := desired.Object()
	if err != nil {
		return err
	}
	path := []string{"spec", "template", "metadata", "annotations", v1.AnnotationRestartedAt}
	rendered, _, _ := unstructured.NestedString(object.Object, path...)
	restartedAt := deployment.Spec.Template.Annotations[v1.AnnotationRestartedAt]
	if !isLater(restartedAt, rendered) || restartOf(deployment, around) == restartedAt {
		return nil
	}
	desired.Configuration, desired.IfUnchanged = object, true
	return unstructured.SetNestedField(object.Object, restartedAt, path...)
}

// restartOf returns the restart in the revision that the live Deployment rolls out: the one that the Application asked for.
func restartOf(deployment *appsv1.Deployment, around child.Snapshot) string {
	revision := child.Get[*appsv1.ControllerRevision](around, child.ControllerRevision, deployment.Annotations[v1.AnnotationRevision])
	if revision == nil || !child.OwnedBy(revision, around.Application) {
		return ""
	}
	var content struct {
		Spec struct {
			PodMetadata struct {
				Annotations map[string]string `json:"annotations"`
			} `json:"podMetadata"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(revision.Data.Raw, &content); err != nil {
		return "" // Another client damaged it.
	}
	return content.Spec.PodMetadata.Annotations[v1.AnnotationRestartedAt]
}

// isLater reports whether both are times in RFC 3339, and a is later than b.
func isLater(a, b string) bool {
	timeA, errA := time.Parse(time.RFC3339, a)
	timeB, errB := time.Parse(time.RFC3339, b)
	return errA == nil && errB == nil && timeA.After(timeB)
}
