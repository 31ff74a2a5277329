// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// observedBeside returns an observed Application for which an object of the kind is in the way, which the controller does not see. With
// deployment, its name is also that of a Deployment that runs.
func observedBeside(t *testing.T, kind child.Kind, object child.Object, deployment bool) *cluster.Loaded {
	t.Helper()
	const missing = "It is missing, or not the Application's."
	loaded := clustertest.Load(t, "observe")
	remove(loaded, kind)
	addForeign(loaded, kind, object, v1.ResourceDrifted, missing)
	if deployment {
		setResource(loaded, child.Deployment.Kind, v1.ResourceDrifted, missing)
		live := childOf(t, loaded, child.Deployment.Kind)
		live.SetOwnerReferences(nil)
		live.SetAnnotations(nil)
		live.SetLabels(nil)
		for i := range loaded.Application.Status.Resources {
			loaded.Application.Status.Resources[i].UID = ""
		}
	}
	return loaded
}

// TestObservedBesideForeign: to end the observation would end in a conflict with what the controller does not see. The advice is to adopt
// only if there is a Deployment to adopt.
func TestObservedBesideForeign(t *testing.T) {
	const (
		resume = "kubectl fairlead resume web"
		adopt  = "adopt web"
		first  = "→ First follow the advice about %s web above. To carry the spec out before would end in a conflict.\n"
		unseen = "It exists without the label apps.fairlead.dev/application=web, so the controller does not see it.\n"
	)
	for _, test := range []struct {
		name       string
		kind       child.Kind
		object     child.Object
		deployment bool
		parts      map[string]bool
	}{
		{"an Ingress", child.Ingress, &networkingv1.Ingress{}, false, map[string]bool{
			"Ingress web exists and does not belong to this Application, so Fairlead would not touch it.\n":                            true,
			"→ Hand it over to the Application: docs/guides/migrate.md says how, at 'An Ingress or HTTPRoute leads to the Service'.\n": true,
			"→ Or delete the Ingress, if nothing needs it, or give the Application another name.\n":                                    true,
			unseen: true, fmt.Sprintf(first, "Ingress"): true, resume: false, adopt: false,
		}},
		{"a Service", child.Service, &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "shop"}}}, false, map[string]bool{
			"→ Delete the Service, or give the Application another name.\n": true,
			unseen: true, fmt.Sprintf(first, "Service"): true, resume: false, adopt: false, "To keep the Service and its address": false,
		}},
		{"a Service with its Deployment", child.Service, &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "shop"}}}, true, map[string]bool{
			unseen: true, "First follow": false, resume: false, "adopt web --harden\n": true, "Delete the Service": false,
		}},
		{"a ServiceAccount beside a Deployment", child.ServiceAccount, &corev1.ServiceAccount{}, true, map[string]bool{
			"Name it in spec.serviceAccount.name, if the class allows that": true,
			unseen: true, fmt.Sprintf(first, "ServiceAccount"): true, resume: false, "adopt web --harden\n": true,
		}},
	} {
		loaded := observedBeside(t, test.kind, test.object, test.deployment)
		wantParts(t, test.name, shown(t, loaded), test.parts)

		remove(loaded, test.kind)
		if text := shown(t, loaded); !test.deployment && !strings.Contains(text, "Carry it out: "+resume) {
			t.Errorf("%s is gone:\n%s", test.name, text)
		}
	}
}

// TestObservedWithoutConsent: once the Deployment is adopted, the Service needs the consent too, which the message explains.
func TestObservedWithoutConsent(t *testing.T) {
	loaded := adopting(t, v1.ReasonPodsHeld)
	loaded.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
	deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}
	deployment.Spec.Template.Labels["app"] = "shop"
	remove(loaded, child.Service)
	addForeign(loaded, child.Service, &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "shop"}}}, v1.ResourceDrifted, "It is missing, or not the Application's.")
	wantParts(t, "a Service without consent", shown(t, loaded), map[string]bool{
		"Service web exists and has no consent to its adoption; annotate it with apps.fairlead.dev/adoptable-by=": true,
		"→ Do what the message says, so that the Application adopts the Service too.":                             true,
		"Delete the Service": false,
	})
}

// TestObservedWithAPause: resume would end the pause too.
func TestObservedWithAPause(t *testing.T) {
	loaded := observedBeside(t, child.Ingress, &networkingv1.Ingress{}, false)
	remove(loaded, child.Ingress)
	loaded.Application.Spec.Paused = new(true)
	wantParts(t, "paused", shown(t, loaded), map[string]bool{
		"   → Let Fairlead change the children again, which replaces no pod while rollouts are paused: kubectl patch ": true, "kubectl fairlead resume": false,
	})
}

func shown(t *testing.T, loaded *cluster.Loaded) string {
	t.Helper()
	text, _ := printed(t, loaded)
	return text
}
