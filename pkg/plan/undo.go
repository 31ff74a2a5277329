// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// kubectl rollout undo puts the pod template and the annotations of a former ReplicaSet on the Deployment, the name of the
// former revision included. That looks as if the Application had changed, because the hash of the rendering differs. But the
// status says that the rendered revision was rolled out before.

// undone returns the number of the former revision that another client put on the Deployment in place of the rendered one;
// 0 if none did.
func undone(in Input, desired child.Desired, live child.Object) int64 {
	former, status := live.GetAnnotations()[v1.AnnotationRevision], in.Snapshot.Application.Status.Revision
	rendered := renderedRevision(desired)
	if desired.Kind != child.Deployment || status == nil || former == "" || former == rendered {
		return 0
	}
	current := child.Get[*appsv1.ControllerRevision](in.Snapshot, child.ControllerRevision, rendered)
	if current == nil || current.Revision != status.Current {
		return 0 // It was not rolled out yet.
	}
	if known := child.Get[*appsv1.ControllerRevision](in.Snapshot, child.ControllerRevision, former); known != nil && child.OwnedBy(known, in.Snapshot.Application) {
		return known.Revision
	}
	return 0
}

// renderedRevision is the name of the revision that a rendered Deployment rolls out; "" if there is none.
func renderedRevision(desired child.Desired) string {
	metadata, _ := fieldsOf(desired.Configuration).get("metadata")
	annotations, _ := metadata.get("annotations")
	name, found := annotations.get(v1.AnnotationRevision)
	if !found {
		return ""
	}
	return name.String()
}

// undoReason returns the reason of a step that restores the revision.
func undoReason(former int64) string {
	return fmt.Sprintf("another client, such as kubectl rollout undo, put revision %d back; to go back, set spec.rollback.toRevision: %d in the Application", former, former)
}
