// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/admission"
)

// registered are the names of all webhook configurations.
func (f *fixture) registered() []string {
	f.Helper()
	var names []string
	mutating, err := f.kube.AdmissionregistrationV1().MutatingWebhookConfigurations().List(f.Context(), metav1.ListOptions{})
	if err != nil {
		f.Fatal(err)
	}
	for i := range mutating.Items {
		names = append(names, "mutating "+mutating.Items[i].Name)
	}
	validating, err := f.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(f.Context(), metav1.ListOptions{})
	if err != nil {
		f.Fatal(err)
	}
	for i := range validating.Items {
		names = append(names, "validating "+validating.Items[i].Name)
	}
	return names
}

// Where the API server cannot reach the webhooks, nothing stays registered, and Applications go on.
func TestUnreachable(t *testing.T) {
	f := serve(t)
	f.server.Close()
	err := f.registrar.Register(t.Context())
	unreachable := (*admission.UnreachableError)(nil)
	if !errors.As(err, &unreachable) || unreachable.URL != f.server.URL {
		t.Fatalf("the error is %v", err)
	}
	f.wantRefused(err, f.server.URL, "connection refused", "only the sync validates")
	if got := f.registered(); len(got) > 0 {
		t.Errorf("registered are %q", got)
	}
	f.create("web")
}

// A certificate that CABundle does not vouch for is as bad.
func TestF16WrongCertificateAuthority(t *testing.T) {
	f := serve(t)
	f.registrar.CABundle = []byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")
	if err := f.registrar.Register(t.Context()); err == nil {
		t.Error("it is registered")
	}
	if got := f.registered(); len(got) > 0 {
		t.Errorf("registered are %q", got)
	}
}

// A run that was killed leaves a registration that leads nowhere and refuses everything. The next run
// replaces it, and takes its own back in the end.
func TestF16RepairAfterKill(t *testing.T) {
	killed := serve(t)
	killed.register()
	killed.server.Close()
	_, err := killed.apps().Create(t.Context(), killed.application("web"), metav1.CreateOptions{})
	killed.wantRefused(err, "failed calling webhook")

	next := serve(t)
	next.register()
	next.create("web")
	if got := next.registered(); len(got) != 2 {
		t.Errorf("registered are %q", got)
	}
	next.unregister()
	if got := next.registered(); len(got) > 0 {
		t.Errorf("afterwards registered are %q", got)
	}
}

// A second controller replaces the registration of the first, which leaves it in place, and takes its own back in the end. Then the
// first one registers again.
func TestF16SecondControllerEnds(t *testing.T) {
	first := serve(t)
	first.register()
	second := serve(t)
	second.register()
	missing := func() bool {
		missing, err := first.registrar.Missing(t.Context())
		if err != nil {
			t.Error(err)
		}
		return missing
	}
	if missing() {
		t.Error("the registration of the second one counts as missing")
	}
	second.unregister()
	if !missing() {
		t.Error("the registration that the second one took back is not missing")
	}
	first.register()
	if missing() {
		t.Error("its own registration is missing")
	}
}
