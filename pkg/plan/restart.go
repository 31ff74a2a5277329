// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// keepRestart leaves a restart out of a rendered Deployment if the live one has been restarted since. A restart of the
// Application stays in its spec. It must not undo each later kubectl rollout restart, whose pods would go before they serve,
// while kubectl says that the rollout succeeded.
func keepRestart(desired *child.Desired, live child.Object) error {
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
	if !isLater(deployment.Spec.Template.Annotations[v1.AnnotationRestartedAt], rendered) {
		return nil
	}
	unstructured.RemoveNestedField(object.Object, path...)
	above := path[:len(path)-1]
	if others, _, _ := unstructured.NestedMap(object.Object, above...); len(others) == 0 {
		unstructured.RemoveNestedField(object.Object, above...)
	}
	desired.Configuration = object
	return nil
}

// isLater reports whether both are times in RFC 3339, and a is later than b.
func isLater(a, b string) bool {
	timeA, errA := time.Parse(time.RFC3339, a)
	timeB, errB := time.Parse(time.RFC3339, b)
	return errA == nil && errB == nil && timeA.After(timeB)
}
