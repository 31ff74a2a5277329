// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestMissingRequest: the metrics are served, and a request is missing.
func TestMissingRequest(t *testing.T) {
	const share = ": the target is a share of the requests of all containers.\n"
	for container, want := range map[string]string{
		"storefront": "   → Set spec.resources.requests.cpu" + share,
		"proxy":      "   → Set spec.sidecars[proxy].resources.requests.cpu" + share,
		"agent":      "   → Set spec.initContainers[agent].resources.requests.cpu" + share,
		"istio-proxy": "   → Container istio-proxy is not in the spec, so a webhook probably injects it: have that set its resources.requests.cpu. " +
			"Or let the autoscaler measure container storefront alone: replace the target by a ContainerResource metric in spec.autoscaling.metrics.\n",
	} {
		loaded := clustertest.Load(t, "autoscaler")
		loaded.Application.Spec.Sidecars = []corev1.Container{{Name: "proxy"}}
		loaded.Application.Spec.InitContainers = []corev1.Container{{Name: "agent"}}
		meta.SetStatusCondition(&loaded.Application.Status.Conditions, metav1.Condition{
			Type: v1.ConditionAutoscalingActive, Status: metav1.ConditionFalse, Reason: "FailedGetResourceMetric",
			Message: "the HPA was unable to compute the replica count: failed to get cpu utilization: missing request for cpu in container " + container + " of Pod storefront-1",
		})
		wantParts(t, container, shown(t, loaded), map[string]bool{want: true, "kubectl get apiservices": false})
	}
}
