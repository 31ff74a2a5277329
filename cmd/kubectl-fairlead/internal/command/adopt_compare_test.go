// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// TestTakenMessage names all that is in the way at once, what an earlier Application left behind, and what the deletion costs.
func TestTakenMessage(t *testing.T) {
	of := func(kind child.Kind, left bool) takenRef { return takenRef{child.Ref{Kind: kind, Name: "web"}, left} }
	account, ingress, budget := of(child.ServiceAccount, false), of(child.Ingress, false), of(child.PodDisruptionBudget, false)
	leftAccount, leftPolicy := of(child.ServiceAccount, true), of(child.NetworkPolicy, true)
	for _, test := range []struct {
		taken    []takenRef
		account  string
		existing bool
		want     string
	}{
		{[]takenRef{account}, "", true, "ServiceAccount web exists already, and the Application would create one of its own: replace it by one of another name, or delete it if nothing needs it. " +
			"The pods of the Deployment do not run as ServiceAccount web"},
		{[]takenRef{account}, "web", true, "ServiceAccount web exists already, and the pods of the Deployment run as it: name it in spec.serviceAccount.name"},
		{[]takenRef{account, ingress}, "other", false, "ServiceAccount web, Ingress web exist already, and the Application would create its own: replace each by one of another name, or delete what nothing needs. " +
			"The pods of the Deployment do not run as ServiceAccount web. Without Ingress web, no request arrives until the Application has its own"},
		{[]takenRef{ingress, budget}, "", true, "Ingress web, PodDisruptionBudget web exist already, and the Application would create its own: replace each by one of another name, or delete what nothing needs. " +
			"Without Ingress web, no request arrives until the Application has its own. To keep what serves the pods now, remove spec.routes " +
			"and set spec.disruptionBudget to mode Disabled in the Application until the condition Adopted is True"},
		{[]takenRef{leftAccount}, "", false, "ServiceAccount web was left behind by an earlier Application: delete it if nothing needs it " +
			"(kubectl delete serviceaccount/web), or take it back as docs/guides/take-back.md says. The pods of the Deployment do not run as ServiceAccount web"},
		{[]takenRef{leftAccount}, "web", true, "ServiceAccount web was left behind by an earlier Application, and the pods of the Deployment run as it: " +
			"take it back as docs/guides/take-back.md says, or name it in spec.serviceAccount.name"},
		{[]takenRef{ingress, leftAccount, leftPolicy}, "web-2", false, "Ingress web exists already, and the Application would create one of its own: replace it by one of another name, or delete it if nothing needs it. " +
			"ServiceAccount web, NetworkPolicy web were left behind by an earlier Application: delete them if nothing needs them " +
			"(kubectl delete serviceaccount/web networkpolicy/web), or take them back as docs/guides/take-back.md says. " +
			"The pods of the Deployment do not run as ServiceAccount web. Without Ingress web, no request arrives until the Application has its own"},
		{[]takenRef{{child.Ref{Kind: child.ServiceAccount, Name: "default"}, false}}, "", true,
			"ServiceAccount default exists already, and the pods of the Deployment run as it: name it in spec.serviceAccount.name"},
		{},
	} {
		if got := takenMessage(test.taken, test.account, test.existing); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

// TestExplainRefusal: no other Application would make up for the kind of the Service.
func TestExplainRefusal(t *testing.T) {
	const refusal = "Service web cannot be adopted because of spec.clusterIP: it is None"
	const correct = ". Correct the Application; or delete it, and kubectl fairlead -n shop adopt web --harden writes one that fits"
	const move = ". Move its clients to the same Service under another name, delete this one, and run the command again; " +
		"or replace the Deployment without stopping its pods: see 'Move an existing Deployment' in docs/applications.md"
	headless := &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": "web"}}}
	both := []child.Desired{{Ref: child.Ref{Kind: child.Deployment}}, {Ref: child.Ref{Kind: child.Service}}}
	for _, test := range []struct {
		service  *corev1.Service
		children []child.Desired
		existing bool
		want     string
	}{
		{headless, both, false, move},
		{headless, both, true, move},
		{headless, both[:1], true, correct},
		{&corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}}}, both, true, correct},
		{nil, both, true, correct},
		{nil, both, false, ""},
	} {
		a := &adopting{tool: toolWith(*clientcmdapi.NewConfig(), "shop"), namespace: "shop", name: "web", existing: test.existing, service: test.service}
		if got := a.explainRefusal(errors.New(refusal), test.children).Error(); got != refusal+test.want {
			t.Errorf("%s, want %s", got, refusal+test.want)
		}
	}
}

// TestExplainLimits: the user has no Application in which to change a field.
func TestExplainLimits(t *testing.T) {
	limits := refused(v1.ReasonClassLimitExceeded, field.ErrorList{field.Invalid(field.NewPath("spec", "serviceAccount", "name"), "web-sa", "remove name")})
	const refusal = `the Application would be refused (ClassLimitExceeded): spec.serviceAccount.name: Invalid value: "web-sa": remove name`
	for _, test := range []struct {
		err      error
		existing bool
		want     string
	}{
		{limits, false, refusal + ". The spec comes from the Deployment: change that first, which may replace its pods; or write the Application yourself, " +
			"with adoptionPolicy: Consented and paused: true, and pass --existing; or name another class with --class=NAME: 'kubectl fairlead classes' lists them"},
		{limits, true, refusal},
		{refused(v1.ReasonInvalid, field.ErrorList{field.Required(field.NewPath("spec", "image"), "")}), false, "the Application would be refused (Invalid): spec.image: Required value"},
	} {
		if got := (&adopting{existing: test.existing}).explainLimits(test.err).Error(); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

// TestWouldLose: what an Application can have, the user may have left out by mistake.
func TestWouldLose(t *testing.T) {
	annotation, env, port := ".metadata.annotations[prometheus.io/scrape]", ".spec.containers[web].env[POD]", ".spec.containers[web].ports[9090]"
	for _, test := range []struct {
		lost     []string
		existing bool
		want     string
	}{
		{[]string{".spec.hostNetwork"}, false, "the pods would lose what an Application does not have; if they can, pass --accept"},
		{[]string{".spec.hostNetwork", ".spec.dnsPolicy"}, true, "the pods would lose what the Application does not have; if they can, pass --accept"},
		{
			[]string{".spec.containers[proxy].env[POD]", ".spec.volumes[cache]", ".spec.containers[web].volumeMounts[cache]", ".spec.initContainers[migrate]"}, true,
			"the pods would lose what the Application does not have: add what they need to spec.sidecars, spec.mounts and spec.initContainers, or, if they can do without, pass --accept",
		},
		{[]string{annotation, env, ".spec.containers[web].env[NODE]", port, ".spec.hostNetwork"}, true, "the pods would lose what the Application does not have: " +
			"add what they need to spec.podMetadata.annotations, spec.env and spec.ports, or, if they can do without, pass --accept"},
		{[]string{".spec.containers[web].envFrom", ".spec.nodeSelector.disk", ".metadata.labels"}, true, "the pods would lose what the Application does not have: " +
			"add what they need to spec.envFrom, spec.nodeSelector and spec.podMetadata.labels, or, if they can do without, pass --accept"},
	} {
		a := &adopting{existing: test.existing, name: "web"}
		if got := a.wouldLose(test.lost, []string{"--accept"}); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
	a := &adopting{service: &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}}
	const want = "the pods would lose what an Application does not have; if they can, pass --accept. Beside the port of the Service, which has no name, an Application can have no other"
	if got := a.wouldLose([]string{".spec.containers[web].ports[9090]"}, []string{"--accept"}); got != want {
		t.Errorf("beside a port without a name: %q, want %q", got, want)
	}
}

// TestKeepHashes: that only the controller computes a hash is no change of pods that an earlier Application has left.
func TestKeepHashes(t *testing.T) {
	live, next := &appsv1.Deployment{}, &appsv1.Deployment{}
	live.Spec.Template.Annotations = map[string]string{v1.AnnotationSecretsHash: "3c6a"}
	next.Spec.Template.Annotations = map[string]string{v1.AnnotationSecretsHash: preview.ComputedHash, v1.AnnotationConfigMapsHash: preview.ComputedHash, "team": "shop"}
	keepHashes(live, next)
	want := map[string]string{v1.AnnotationSecretsHash: "3c6a", v1.AnnotationConfigMapsHash: preview.ComputedHash, "team": "shop"}
	if diff := cmp.Diff(want, next.Spec.Template.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	keepHashes(live, &appsv1.Deployment{}) // Pods without references have no hash.
}
