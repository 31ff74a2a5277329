// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/health"
)

// newRuntime computes the view of an Application. used has the pods' measurements by name; it is nil without the metrics
// API. The view has no resourceVersion; history gives it one.
func newRuntime(application *v1.Application, pods []*pod, used map[string]usage, now time.Time) *v1alpha1.ApplicationRuntime {
	view := &v1alpha1.ApplicationRuntime{
		ObjectMeta: metadataOf(application),
		Ready:      metav1.ConditionUnknown,
		Image:      application.Status.Image,
		Pods:       v1alpha1.PodCounts{Desired: application.Status.DesiredReplicas},
	}
	if ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady); ready != nil {
		view.Ready, view.Reason, view.Message = ready.Status, ready.Reason, ready.Message
	}
	var cpu, memory resource.Quantity
	var measured usage
	for _, p := range pods {
		count(&view.Pods, p.State)
		view.Restarts += p.Restarts
		if p.State == podEnded {
			continue // It uses nothing, and another pod has replaced it.
		}
		cpu.Add(p.CPU)
		memory.Add(p.Memory)
		if found, known := used[p.Name]; known {
			measured.add(found)
		}
		view.OldestProblem = older(view.OldestProblem, problemOf(p, now))
	}
	view.CPU, view.Memory = v1alpha1.ResourceUse{Requested: nonZero(cpu)}, v1alpha1.ResourceUse{Requested: nonZero(memory)}
	view.CPU.Used, view.Memory.Used = measured.quantities()
	return view
}

// metadataOf returns the metadata of an Application that a view shows.
func metadataOf(application *v1.Application) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: application.Namespace, Name: application.Name, UID: application.UID, Labels: application.Labels,
		Generation: application.Generation, CreationTimestamp: application.CreationTimestamp, DeletionTimestamp: application.DeletionTimestamp,
	}
}

func count(counts *v1alpha1.PodCounts, state podState) {
	switch state {
	case podPending:
		counts.Pending++
	case podNotReady:
		counts.NotReady++
	case podReady:
		counts.Ready++
	case podEnded:
		counts.Ended++
	case podTerminating:
		counts.Terminating++
	}
}

func problemOf(p *pod, now time.Time) *v1alpha1.PodProblem {
	worst := health.WorstOfPod(p.Problems, now)
	if worst == nil {
		return nil
	}
	return &v1alpha1.PodProblem{Reason: worst.Reason, Message: worst.Message, Container: worst.Container, Pod: p.Name, Since: p.NotReadySince}
}

// older returns the problem that has lasted longer; of equals that of the first pod by name, so that the order of the
// pods does not matter.
func older(a, b *v1alpha1.PodProblem) *v1alpha1.PodProblem {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case b.Since.Before(&a.Since), b.Since.Equal(&a.Since) && b.Pod < a.Pod:
		return b
	default:
		return a
	}
}

func nonZero(quantity resource.Quantity) *resource.Quantity {
	if quantity.IsZero() {
		return nil
	}
	return &quantity
}
