// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// TestDescribeOthers: the NetworkPolicy comes first, and what waits for the new pods, or for the Service, says so.
func TestDescribeOthers(t *testing.T) {
	var o others
	for _, kind := range []child.Kind{child.ServiceAccount, child.ControllerRevision, child.PodDisruptionBudget, child.Ingress, child.NetworkPolicy} {
		o.missing = append(o.missing, child.Ref{Kind: kind, Name: "web"})
	}
	const restricts = "From then on, it restricts the connections to and from the pods. It allows what spec.networkPolicy of the Application says."
	adopted, application := pods(2, 2), &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	adopted.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}
	adopted.Spec.Template.Labels = map[string]string{"app": "shop"}
	differences := &adopt.Differences{Changed: []preview.Change{{Path: ".metadata.labels"}}}
	for _, test := range []struct {
		what string
		date func()
		want []string
	}{
		{"an adoption", func() { o.fromAdoption(application, adopted, differences) }, []string{
			"Also created, once every pod is replaced: NetworkPolicy web. " + restricts, "Also created, at the adoption: ServiceAccount web.",
			"Also created, once every pod is replaced: PodDisruptionBudget web.", "Also created, at the adoption: Ingress web.",
		}},
		{"one that replaces no pod", func() { o.fromAdoption(application, adopted, &adopt.Differences{}) }, []string{
			"Also created, at the adoption: NetworkPolicy web. " + restricts, "Also created, at the adoption: ServiceAccount web.",
			"Also created, at the adoption: PodDisruptionBudget web.", "Also created, at the adoption: Ingress web.",
		}},
		{"one with a Service", func() {
			o.live, o.service = serviceOf(nil), serviceOf(nil)
			o.fromAdoption(application, adopted, differences)
			o.missing = o.missing[3:4]
		}, []string{"Also created, once every pod is replaced: Ingress web."}},
		{"one without pods", func() { o.fromAdoption(application, pods(0, 0), differences) }, []string{"Also created, once you release the rollout: Ingress web."}},
		{"a rollout", func() { o.fromRollout(pods(2, 0)) }, []string{"Also created, once every pod is replaced: Ingress web."}},
		{"a rollout that replaces no pod", func() { o.fromRollout(pods(2, 2)) }, []string{"Also created, at once: Ingress web."}},
	} {
		test.date()
		if diff := cmp.Diff(test.want, o.describe()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.what, diff)
		}
	}
}

func serviceOf(selector map[string]string, ports ...corev1.ServicePort) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Selector: selector, Ports: ports},
	}
}

// TestDescribePolicyThatExists: an Application that was in conflict first has created its NetworkPolicy, which selects no pod before the rollout.
func TestDescribePolicyThatExists(t *testing.T) {
	const exists = "NetworkPolicy web exists already, and restricts the connections to and from each new pod. "
	for class, want := range map[string]string{
		"":         exists + "It allows what spec.networkPolicy of the Application says.",
		"platform": exists + "It comes from class platform, because the Application does not say what it needs: set spec.networkPolicy before you release the pods.",
	} {
		o := others{policy: "web", class: class, missing: []child.Ref{{Kind: child.ServiceAccount, Name: "web"}}, atOnce: "at once"}
		if diff := cmp.Diff([]string{want, "Also created, at once: ServiceAccount web."}, o.describe()); diff != "" {
			t.Errorf("class %q (-want +got):\n%s", class, diff)
		}
	}
}

// TestDescribeService: clients of the Service learn of every port that joins, and of what it selects.
func TestDescribeService(t *testing.T) {
	live := serviceOf(map[string]string{"app": "shop"}, corev1.ServicePort{Port: 80, Protocol: corev1.ProtocolTCP})
	rendered := serviceOf(map[string]string{v1.LabelApplication: "web"}, corev1.ServicePort{Port: 80}, corev1.ServicePort{Name: "metrics", Port: 9090},
		corev1.ServicePort{Name: "dns", Port: 80, Protocol: corev1.ProtocolUDP})
	o := others{service: rendered, live: live, served: "once every pod is replaced"}
	want := []string{"The Service web will change once every pod is replaced: port 9090 (metrics) is added; port 80/UDP (dns) is added; " +
		"the selector app=shop becomes apps.fairlead.dev/application=web."}
	if diff := cmp.Diff(want, o.describe()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	rendered.Spec = *live.Spec.DeepCopy()
	if said := o.describe(); said != nil {
		t.Errorf("of a Service that stays as it is: %q", said)
	}
	rendered.Spec.Type = corev1.ServiceTypeNodePort
	if diff := cmp.Diff([]string{"The Service web will change once every pod is replaced: the type ClusterIP becomes NodePort."}, o.describe()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
