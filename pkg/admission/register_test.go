// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

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
