// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// operatorFence are the policies about the controller's own identity.
var operatorFence = []string{"components/operator-fence/children.yaml", "components/operator-fence/webhooks.yaml"}

// TestS1OperatorFence acts as an attacker who runs as the controller: with its ServiceAccount and the roles that ship.
// TestS1ShippedRoles shows that the controller itself works under the same policies.
func TestS1OperatorFence(t *testing.T) {
	t.Parallel()
	e := newEnv(t, controlplane.ForTest(t))
	for _, file := range append([]string{"controller/namespace.yaml", "controller/service-account.yaml"}, shippedRoles...) {
		e.applyAnywhere(e.manifest(file))
	}
	e.createTargets()
	attacker := kubernetes.NewForConfigOrDie(e.cluster.ConfigFor(
		"system:serviceaccount:"+operatorNamespace+":"+shippedAccount, "system:serviceaccounts"))
	attacks := e.fenceAttacks(attacker)
	for name, attack := range attacks {
		if err := attack(); err != nil {
			t.Fatalf("without the policies, %s: %v; want it to work, or the test shows nothing", name, err)
		}
	}
	e.createTargets() // As they were: a repeated patch that changes nothing attacks nothing.
	for _, file := range operatorFence {
		e.applyAnywhere(e.manifest(file))
	}
	for name, attack := range attacks {
		e.eventually("denied: "+name, func() (bool, string) {
			err := attack() // The API server takes up a policy a moment after it is stored.
			return err != nil && strings.Contains(err.Error(), "the Fairlead controller may"), fmt.Sprint(err)
		})
	}
	caBundle := `[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"Cg=="}]`
	for _, patch := range e.configurationPatches(attacker) {
		if err := patch(caBundle); err != nil {
			t.Errorf("the caBundle: %v", err)
		}
	}
}

// createTargets makes, or makes again, what an attacker would like to change.
func (e *env) createTargets() {
	e.Helper()
	e.createConfigurations()
	e.createForeign()
}

func (e *env) createConfigurations() {
	e.Helper()
	e.applyAnywhere(strings.ReplaceAll(e.manifest("webhook/configurations.yaml"), "failurePolicy: Fail", "failurePolicy: Ignore"))
}

// createForeign makes an object that is not the controller's.
func (e *env) createForeign() {
	e.Helper()
	configMaps := e.kube.CoreV1().ConfigMaps(e.namespace)
	if err := configMaps.Delete(e.Context(), "foreign", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		e.Fatal(err)
	}
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}, Data: map[string]string{"a": "b"}}
	if _, err := configMaps.Create(e.Context(), foreign, metav1.CreateOptions{}); err != nil {
		e.Fatal(err)
	}
}

// fenceAttacks are what RBAC alone lets the controller do.
func (e *env) fenceAttacks(attacker kubernetes.Interface) map[string]func() error {
	foreign := attacker.CoreV1().ConfigMaps(e.namespace)
	// Each uses a new name, since it is tried until it is denied.
	create := func(namespace string, labels map[string]string) error {
		_, err := attacker.CoreV1().ServiceAccounts(namespace).Create(e.Context(), &corev1.ServiceAccount{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "implant-", Labels: labels},
		}, metav1.CreateOptions{})
		return err
	}
	managed := map[string]string{"app.kubernetes.io/managed-by": "fairlead"}
	attacks := map[string]func() error{
		"create an object in kube-system":              func() error { return create(metav1.NamespaceSystem, managed) },
		"create an object in the operator's namespace": func() error { return create(operatorNamespace, managed) },
		"create what is no child":                      func() error { return create(e.namespace, nil) },
		"take over an object of others": func() error {
			e.createForeign() // What was taken over has the label of a child, and may be changed.
			_, err := foreign.Patch(e.Context(), "foreign", types.MergePatchType,
				[]byte(`{"metadata":{"labels":{"app.kubernetes.io/managed-by":"fairlead"}},"data":{"a":"c"}}`), metav1.PatchOptions{})
			return err
		},
	}
	for kind, patch := range e.configurationPatches(attacker) {
		attacks["widen the rules of the "+kind] = func() error {
			e.createConfigurations() // What was changed before the policy held would be left as it is, which is no attack.
			return patch(`[{"op":"replace","path":"/webhooks/0/rules/0/resources","value":["*"]}]`)
		}
		attacks["redirect the "+kind] = func() error {
			e.createConfigurations()
			return patch(`[{"op":"replace","path":"/webhooks/0/clientConfig/service/name","value":"implant"}]`)
		}
	}
	return attacks
}

// configurationPatches change the webhook configurations that the controller may patch.
func (e *env) configurationPatches(attacker kubernetes.Interface) map[string]func(patch string) error {
	const name = "fairlead"
	registration := attacker.AdmissionregistrationV1()
	return map[string]func(string) error{
		"mutating webhook": func(patch string) error {
			_, err := registration.MutatingWebhookConfigurations().Patch(e.Context(), name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
			return err
		},
		"validating webhook": func(patch string) error {
			_, err := registration.ValidatingWebhookConfigurations().Patch(e.Context(), name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
			return err
		},
	}
}
