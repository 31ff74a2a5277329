// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestNamesTheMissingPullSecret without an Event of the kubelet, and says where it is named.
func TestNamesTheMissingPullSecret(t *testing.T) {
	const (
		evidence = "   - Application/web spec.imagePullSecrets: names Secret regcred, which does not exist\n"
		next     = "   → Create Secret regcred, or correct spec.imagePullSecrets: kubectl create secret docker-registry regcred " +
			"--docker-server=REGISTRY --docker-username=USER --docker-password=PASSWORD\n"
		check = "   → Check name, tag and registry of the image"
	)
	loaded := clustertest.Load(t, "image")
	named := []corev1.LocalObjectReference{{Name: "regcred"}, {Name: "there"}}
	loaded.Application.Spec.ImagePullSecrets, loaded.Pods[0].Spec.ImagePullSecrets = named, named
	if got, want := why.Secrets(loaded), []string{"regcred", "there"}; !slices.Equal(got, want) {
		t.Errorf("asks for %q, want %q", got, want)
	}
	wantParts(t, "there", shown(t, loaded), map[string]bool{evidence: false, next: false, check: true})
	loaded.MissingSecrets = []string{"regcred"}
	wantParts(t, "missing", shown(t, loaded), map[string]bool{evidence: true, next + check: true})

	loaded.Application.Spec.ImagePullSecrets = nil
	pods := "   - Pod/" + loaded.Pods[0].Name + " spec.imagePullSecrets: names Secret regcred, which does not exist\n"
	ofAccount := strings.Replace(next, "correct spec.imagePullSecrets", "remove it from the ServiceAccount of the pods", 1)
	wantParts(t, "of the ServiceAccount", shown(t, loaded), map[string]bool{pods: true, ofAccount: true})

	loaded.Application.Status.Class = &v1.AppliedClass{Name: "platform", Defaults: &v1.ApplicationDefaults{ImagePullSecrets: named[:1]}}
	ofClass := strings.Replace(next, "correct spec.imagePullSecrets", "ask the platform team to correct ApplicationClass platform, which names it", 1)
	wantParts(t, "of the class", shown(t, loaded), map[string]bool{pods: true, ofClass: true})

	loaded.MissingSecrets = nil // The user may not read Secrets, so the Event of the kubelet has the names.
	loaded.EventsOfObjects = append(loaded.EventsOfObjects, corev1.Event{
		Reason: "FailedToRetrieveImagePullSecret", Message: "Unable to retrieve some image pull secrets (regcred, there); attempting to pull the image may not succeed.",
	})
	const byEvent = "   → Create Secret regcred and Secret there with the credentials of the registry, or " +
		"ask the platform team to correct ApplicationClass platform, which names it, and remove it from the ServiceAccount of the pods.\n"
	wantParts(t, "of the Event", shown(t, loaded), map[string]bool{byEvent: true})
	loaded.EventsOfObjects = loaded.EventsOfObjects[:len(loaded.EventsOfObjects)-1]

	loaded.Application.Status.Class, loaded.MissingSecrets = nil, []string{"regcred"}
	current := loaded.Pods[0].OwnerReferences
	loaded.Pods[0].OwnerReferences = []metav1.OwnerReference{{UID: "former", Controller: new(true)}}
	wantParts(t, "of a former pod", shown(t, loaded), map[string]bool{pods: false, "ServiceAccount": false, check: true})
	loaded.Pods[0].OwnerReferences = current
	loaded.ReplicaSets = nil
	ofEither := strings.Replace(ofAccount, "of the pods", "of the pods, unless it comes from an older revision", 1)
	wantParts(t, "without ReplicaSets", shown(t, loaded), map[string]bool{pods: true, ofEither: true})

	loaded.Application.Status.Problems[0].Reason = v1.ReasonCrashLooping
	if got := why.Secrets(loaded); len(got) > 0 {
		t.Errorf("asks for %q, although images can be pulled", got)
	}
}

// TestMissingCertificate is worth knowing, and does not keep the Application from being ready.
func TestMissingCertificate(t *testing.T) {
	const (
		headline = "is ready, but there is something to know.\n"
		what     = "Secret web-tls does not exist, so HTTPS clients do not get the certificate that the route names.\n"
		evidence = "   - Ingress/cart spec.tls: names Secret web-tls, which does not exist\n"
		create   = "   → Create it: kubectl create secret tls web-tls --cert=FILE --key=FILE\n   → Or let a controller such as cert-manager create it.\n"
		wait     = "   → Wait for cert-manager, which the annotations of the Ingress ask for it; if that lasts, see why: kubectl describe certificates\n"
	)
	routed := func() (*cluster.Loaded, *networkingv1.Ingress) {
		loaded := clustertest.Load(t, "healthy")
		remove(loaded, child.Ingress)
		ingress := &networkingv1.Ingress{Spec: networkingv1.IngressSpec{TLS: []networkingv1.IngressTLS{{SecretName: "web-tls"}}}}
		ingress.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
		addForeign(loaded, child.Ingress, ingress, v1.ResourceSynced, "")
		ingress.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(loaded.Application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))}
		loaded.MissingSecrets = []string{"web-tls"}
		loaded.Application.Spec.Routes = []v1.Route{{Name: "public"}, {Name: "private", TLS: &v1.RouteTLS{SecretName: "web-tls"}}}
		return loaded, ingress
	}
	loaded, ingress := routed()
	if got := why.Secrets(loaded); !slices.Equal(got, loaded.MissingSecrets) {
		t.Errorf("asks for %q, want %q", got, loaded.MissingSecrets)
	}
	wantParts(t, "missing", shown(t, loaded), map[string]bool{headline: true, what + evidence + create: true, wait: false})
	ingress.Annotations = map[string]string{"cert-manager.io/cluster-issuer": "ca"}
	application := loaded.Application
	application.Status.Class = &v1.AppliedClass{Name: "platform", Defaults: &v1.ApplicationDefaults{Routes: &v1.RouteDefaults{TLS: &v1.RouteTLSDefaults{SecretName: "web-tls"}}}}
	wantParts(t, "of the route and the class", shown(t, loaded), map[string]bool{what: true})
	routes := application.Spec.Routes
	application.Spec.Routes = []v1.Route{{Name: "public"}, {Name: "private", TLS: &v1.RouteTLS{SecretName: "other"}}}
	ofClass := strings.Replace(what, "the route names", "ApplicationClass platform names", 1)
	wantParts(t, "of the class", shown(t, loaded), map[string]bool{ofClass: true, what: false})
	application.Status.Class = nil
	ofIngress := strings.Replace(what, "the route names", "the Ingress names", 1)
	wantParts(t, "of the manifest before a hand-over", shown(t, loaded), map[string]bool{ofIngress + evidence: true, what: false})
	application.Spec.Routes = routes
	wantParts(t, "to be issued", shown(t, loaded), map[string]bool{headline: true, what + evidence + wait: true, create: false})
	loaded.Application.DeletionTimestamp = &metav1.Time{}
	wantParts(t, "deleted", shown(t, loaded), map[string]bool{what: false})
	loaded.Application.DeletionTimestamp, loaded.MissingSecrets = nil, nil
	wantParts(t, "there", shown(t, loaded), map[string]bool{headline: false, what: false})
	loaded, ingress = routed()
	ingress.OwnerReferences = nil
	if got := why.Secrets(loaded); len(got) > 0 {
		t.Errorf("asks for %q of another owner's Ingress", got)
	}
}
