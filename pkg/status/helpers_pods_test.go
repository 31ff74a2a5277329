// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/pkg/child"
)

const currentUID = types.UID("current-replicaset-uid")

// at is a time so many seconds after noon.
func at(seconds int) metav1.Time {
	return metav1.NewTime(noon.Add(time.Duration(seconds) * time.Second))
}

// withPods gives the Deployment its current ReplicaSet with so many pods, which all have the trouble but
// for the last one: that serves. A single pod has it.
func withPods(number int, trouble func() *child.PodProblems) func(*Input, *appsv1.Deployment) {
	return func(in *Input, d *appsv1.Deployment) {
		d.Annotations = map[string]string{child.RevisionAnnotation: "2"}
		in.Snapshot.ReplicaSets = []*child.ReplicaSet{
			{ObjectMeta: metav1.ObjectMeta{Name: "web-1"}, Deployment: deploymentUID, Revision: "1"},
			{ObjectMeta: metav1.ObjectMeta{Name: "web-2", UID: currentUID}, Deployment: deploymentUID, Revision: "2"},
			{ObjectMeta: metav1.ObjectMeta{Name: "web-0"}, Deployment: "another", Revision: "2"},
		}
		in.Snapshot.Pods = nil
		for i := range number {
			pod := &child.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("web-2-%d", i)}, ReplicaSet: currentUID}
			if i < number-1 || number == 1 {
				pod.Problems = trouble()
			}
			in.Snapshot.Pods = append(in.Snapshot.Pods, pod)
		}
	}
}

func pulling() *child.PodProblems {
	return &child.PodProblems{Containers: []child.Container{{
		Name: "web", Waiting: &child.ReasonMessage{Reason: "ErrImagePull", Message: `failed to pull and unpack image "web:2": not found`},
	}}}
}

func crashing() *child.PodProblems {
	return &child.PodProblems{Containers: []child.Container{{Name: "web", Termination: &child.Termination{ExitCode: 3, Reason: "Error"}}}}
}

func evictedPod() *child.PodProblems {
	return &child.PodProblems{Failed: &child.ReasonMessage{Reason: "Evicted", Message: "The node was low on resource: memory."}}
}

func onLostNode() *child.PodProblems {
	return &child.PodProblems{NodeUnreachable: new(at(-60))}
}

// starting has until noon, and 20 more seconds, to become ready.
func starting() *child.PodProblems {
	return &child.PodProblems{Containers: []child.Container{{Name: "web", Unready: &child.Unready{Since: at(-10), Due: at(20)}}}}
}
