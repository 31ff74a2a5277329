// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// TestUnregisterOnlyItself: a second controller outside of the cluster replaces the registration of the first, which must not take it
// away when it ends.
func TestUnregisterOnlyItself(t *testing.T) {
	const url = "https://127.0.0.1:9443"
	for name, test := range map[string]struct {
		registered Endpoint
		stays      bool
	}{
		"its own":                      {Endpoint{URL: url, CABundle: []byte("ca")}, false},
		"one at another URL":           {Endpoint{URL: "https://127.0.0.1:9444", CABundle: []byte("ca")}, true},
		"the next one at the same URL": {Endpoint{URL: url, CABundle: []byte("next")}, true},
	} {
		mutating, validating := Configurations(OutOfClusterConfigurationName, test.registered, "fairlead-system")
		client := fake.NewClientset(mutating, validating).AdmissionregistrationV1()
		r := Registrar{Configurations: client, URL: url, CABundle: []byte("ca")}
		for range 2 {
			if err := r.Unregister(t.Context()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		_, errMutating := client.MutatingWebhookConfigurations().Get(t.Context(), OutOfClusterConfigurationName, metav1.GetOptions{})
		_, errValidating := client.ValidatingWebhookConfigurations().Get(t.Context(), OutOfClusterConfigurationName, metav1.GetOptions{})
		if apierrors.IsNotFound(errMutating) == test.stays || apierrors.IsNotFound(errValidating) == test.stays {
			t.Errorf("%s: it stays: %t; got %v, %v", name, test.stays, errMutating, errValidating)
		}
	}
}

// TestUnregisterHalf: of two controllers that registered at once, each has one configuration.
func TestUnregisterHalf(t *testing.T) {
	const url = "https://127.0.0.1:9443"
	mutating, _ := Configurations(OutOfClusterConfigurationName, Endpoint{URL: url, CABundle: []byte("ca")}, "")
	_, validating := Configurations(OutOfClusterConfigurationName, Endpoint{URL: url, CABundle: []byte("other")}, "")
	client := fake.NewClientset(mutating, validating).AdmissionregistrationV1()
	if err := (&Registrar{Configurations: client, URL: url, CABundle: []byte("ca")}).Unregister(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.MutatingWebhookConfigurations().Get(t.Context(), OutOfClusterConfigurationName, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("its own stays: %v", err)
	}
	if _, err := client.ValidatingWebhookConfigurations().Get(t.Context(), OutOfClusterConfigurationName, metav1.GetOptions{}); err != nil {
		t.Errorf("the other one: %v", err)
	}
}

// TestMissing: the registration is missing if no other controller has one, and this one has not both.
func TestMissing(t *testing.T) {
	const url = "https://127.0.0.1:9443"
	own, other := Endpoint{URL: url, CABundle: []byte("ca")}, Endpoint{URL: url, CABundle: []byte("other")}
	for name, test := range map[string]struct {
		mutating, validating *Endpoint
		probe                time.Duration // The age of the probe of another controller; 0 if there is none.
		missing              bool
	}{
		"none":                              {nil, nil, 0, true},
		"its own":                           {&own, &own, 0, false},
		"only its mutating one":             {&own, nil, 0, true},
		"only its validating one":           {nil, &own, 0, true},
		"another's":                         {&other, &other, 0, false},
		"another's mutating one, so far":    {&other, nil, 0, false},
		"another's validating one, at last": {nil, &other, 0, false},
		"another's over its own":            {&other, &own, 0, false},
		"none, but another one is about to": {nil, nil, time.Second, false},
		"none, and another one was killed":  {nil, nil, time.Hour, true},
	} {
		client := fake.NewClientset().AdmissionregistrationV1()
		if test.probe > 0 {
			_, probe := Configurations(probeConfigurationName, other, "")
			probe.CreationTimestamp = metav1.NewTime(time.Now().Add(-test.probe))
			if _, err := client.ValidatingWebhookConfigurations().Create(t.Context(), probe, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if test.mutating != nil {
			mutating, _ := Configurations(OutOfClusterConfigurationName, *test.mutating, "")
			if _, err := client.MutatingWebhookConfigurations().Create(t.Context(), mutating, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if test.validating != nil {
			_, validating := Configurations(OutOfClusterConfigurationName, *test.validating, "")
			if _, err := client.ValidatingWebhookConfigurations().Create(t.Context(), validating, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		r := Registrar{Configurations: client, URL: url, CABundle: []byte("ca")}
		if missing, err := r.Missing(t.Context()); missing != test.missing || err != nil {
			t.Errorf("%s: it is missing: %t (%v), want %t", name, missing, err, test.missing)
		}
	}
}
