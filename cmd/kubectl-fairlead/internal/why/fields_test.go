// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestContainerNotOfTheSpec: the spec has no field of a container that a webhook or another client added.
func TestContainerNotOfTheSpec(t *testing.T) {
	const (
		memory    = "Raise resources.limits.memory of container istio-proxy (which an admission webhook added), or let the application use less: kubectl fairlead top web"
		probe     = "Check that readinessProbe of container istio-proxy (which an admission webhook added) fits the container: path, port and time to start."
		start     = "Check command, args and workingDir of container istio-proxy (which an admission webhook added) against what the image has."
		ofClient  = "Check command, args and workingDir of container istio-proxy (which another client added to the Deployment) against what the image has."
		ofFormer  = "Check command, args and workingDir of container istio-proxy (of revision 1, which runs) against what the image has."
		ofNobody  = "Check command, args and workingDir of container istio-proxy against what the image has."
		ofSpec    = "Check spec.command, spec.args and spec.workingDir against what the image has."
		container = "istio-proxy"
	)
	held := func(loaded *cluster.Loaded) {
		conditions := &loaded.Application.Status.Conditions
		meta.SetStatusCondition(conditions, metav1.Condition{Type: v1.ConditionAdopted, Status: metav1.ConditionFalse, Reason: "Held"})
		meta.SetStatusCondition(conditions, metav1.Condition{Type: v1.ConditionPaused, Status: metav1.ConditionTrue, Reason: v1.ReasonPaused})
	}
	heldWith := func(loaded *cluster.Loaded, containers ...string) {
		held(loaded)
		pod := &loaded.ReplicaSets[0].Spec.Template.Spec
		pod.Containers = nil
		for _, name := range containers {
			pod.Containers = append(pod.Containers, corev1.Container{Name: name})
		}
	}
	withContainer := func(loaded *cluster.Loaded) {
		pod := &childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment).Spec.Template.Spec
		pod.Containers = append(pod.Containers, corev1.Container{Name: container})
	}
	for _, test := range []struct {
		name   string
		given  func(*cluster.Loaded)
		reason string
		want   string
	}{
		{"memory", nil, v1.ReasonCrashLooping, memory},
		{"a probe", nil, v1.ReasonReadinessFailing, probe},
		{"a start", nil, v1.ReasonStartFailed, start},
		{"of another client", withContainer, v1.ReasonStartFailed, ofClient},
		{"of an earlier revision", func(loaded *cluster.Loaded) {
			withContainer(loaded)
			data := &childOf(t, loaded, child.ControllerRevision.Kind).(*appsv1.ControllerRevision).Data
			data.Raw = fmt.Appendf(nil, `{"spec":{"image":"example.com/web:1","sidecars":[{"name":%q}]}}`, container)
		}, v1.ReasonStartFailed, ofFormer},
		{"of a revision that cannot be read", func(loaded *cluster.Loaded) {
			withContainer(loaded)
			childOf(t, loaded, child.ControllerRevision.Kind).(*appsv1.ControllerRevision).Data.Raw = nil
		}, v1.ReasonStartFailed, ofNobody},
		{"of a revision that is gone", func(loaded *cluster.Loaded) {
			withContainer(loaded)
			remove(loaded, child.ControllerRevision)
		}, v1.ReasonStartFailed, ofNobody},
		{"added during an adoption", held, v1.ReasonStartFailed, start},
		{"the former name during an adoption", func(loaded *cluster.Loaded) { heldWith(loaded, container) }, v1.ReasonStartFailed, ofSpec},
		{"the former name beside a sidecar of the spec", func(loaded *cluster.Loaded) {
			heldWith(loaded, container, "logs")
			loaded.Application.Spec.Sidecars = []corev1.Container{{Name: "logs"}}
		}, v1.ReasonStartFailed, ofSpec},
		{"one of two names during an adoption", func(loaded *cluster.Loaded) { heldWith(loaded, "server", container) }, v1.ReasonStartFailed, ofNobody},
		{"beside the application's container during an adoption", func(loaded *cluster.Loaded) { heldWith(loaded, "web", container) }, v1.ReasonStartFailed, ofNobody},
		{"an init container during an adoption", func(loaded *cluster.Loaded) {
			heldWith(loaded, "server")
			loaded.ReplicaSets[0].Spec.Template.Spec.InitContainers = []corev1.Container{{Name: container}}
		}, v1.ReasonStartFailed, ofNobody},
	} {
		loaded := clustertest.Load(t, "image")
		loaded.EventsOfObjects = nil
		if test.given != nil {
			test.given(loaded)
		}
		loaded.Application.Status.Problems = []v1.Problem{{Reason: test.reason, Container: container, Pods: 1, Message: "OOMKilled"}}
		if found := why.Explain(loaded).Findings; len(found) == 0 || len(found[0].Next) == 0 || found[0].Next[0] != test.want {
			t.Errorf("%s: %+v, want %q", test.name, found, test.want)
		}
	}
}
