// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestServiceAndAccount(t *testing.T) {
	run(t, []testCase{{
		name: "a foreign account",
		spec: `serviceAccount: {name: builder, automountToken: true}`,
	}, {
		name: "service",
		spec: `{ports: [{name: a, containerPort: 1}], service: {type: ExternalName, sessionAffinity: Cookie, annotations: {apps.fairlead.dev/x: y}}}`,
		want: []string{
			`spec.service.type: Unsupported value: "ExternalName": supported values: "ClusterIP", "NodePort", "LoadBalancer"`,
			`spec.service.sessionAffinity: Unsupported value: "Cookie": supported values: "None", "ClientIP"`,
			`spec.service.annotations[apps.fairlead.dev/x]: Forbidden: apps.fairlead.dev/ is reserved for Fairlead`,
		},
	}, {
		name: "account",
		spec: `serviceAccount: {name: A, annotations: {/a: b}}`,
		want: []string{
			`spec.serviceAccount.annotations[/a]: Invalid value: "/a": prefix part must be non-empty`,
			`spec.serviceAccount.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')`,
			`spec.serviceAccount.annotations: Forbidden: annotations belong to the ServiceAccount that Fairlead creates: remove them, or remove name`,
		},
	}})
}

func TestPodMetadata(t *testing.T) {
	run(t, []testCase{{
		name: "labels",
		spec: `podMetadata: {labels: {team: shop, app.kubernetes.io/instance: a, apps.fairlead.dev/application: other, app.kubernetes.io/name: a, app.kubernetes.io/managed-by: helm, pod-template-hash: a, "a b": c, d: "e f"}}`,
		want: []string{
			`spec.podMetadata.labels[a b]: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
			`spec.podMetadata.labels[d]: Invalid value: "e f": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue' or 'my_value' or '12345')`,
			`spec.podMetadata.labels[apps.fairlead.dev/application]: Forbidden: the label is reserved: selectors and ownership rest on it`,
			`spec.podMetadata.labels[pod-template-hash]: Forbidden: the label is reserved: selectors and ownership rest on it`,
		},
	}, {
		name:    "annotations, on any level",
		profile: "privileged",
		spec: `
podMetadata:
  annotations:
    Example.com/Mixed_Case: ok
    apps.fairlead.dev/config-hash: x
    kubernetes.io/config.mirror: x
    controller.kubernetes.io/pod-deletion-cost: "+5"
    scheduler.alpha.kubernetes.io/tolerations: "[]"
    seccomp.security.alpha.kubernetes.io/pod: unconfined
    container.seccomp.security.alpha.kubernetes.io/web: unconfined
    container.apparmor.security.beta.kubernetes.io/web: unconfined`,
		want: []string{
			`spec.podMetadata.annotations[apps.fairlead.dev/config-hash]: Forbidden: apps.fairlead.dev/ is reserved for Fairlead`,
			`spec.podMetadata.annotations[container.apparmor.security.beta.kubernetes.io/web]: Forbidden: use appArmorProfile in podSecurityContext or securityContext`,
			`spec.podMetadata.annotations[container.seccomp.security.alpha.kubernetes.io/web]: Forbidden: use seccompProfile in podSecurityContext or securityContext`,
			`spec.podMetadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+5": must be a 32-bit integer`,
			`spec.podMetadata.annotations[kubernetes.io/config.mirror]: Forbidden: only a kubelet makes mirror pods`,
			`spec.podMetadata.annotations[scheduler.alpha.kubernetes.io/tolerations]: Forbidden: use spec.tolerations`,
			`spec.podMetadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: Forbidden: use seccompProfile in podSecurityContext or securityContext`,
		},
	}})
}

func TestAnnotationLimits(t *testing.T) {
	app := application(t, ``)
	app.Spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{"a": strings.Repeat("x", 256<<10)}}
	want := []string{`spec.podMetadata.annotations: Too long: may not be more than 262144 bytes`}
	if diff := cmp.Diff(want, messages(ValidateApplication(app, Options{}))); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	app.Spec.PodMetadata = &v1.PodMetadata{Labels: map[string]string{}}
	for i := range 65 {
		app.Spec.PodMetadata.Labels[fmt.Sprint("label-", i)] = ""
	}
	want = []string{`spec.podMetadata.labels: Too many: 65: must have at most 64 items`}
	if diff := cmp.Diff(want, messages(ValidateApplication(app, Options{}))); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}
