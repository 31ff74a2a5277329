// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certstest

import (
	"bytes"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"fairlead.dev/fairlead/pkg/certs"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// Two leaders, which should never exist, start at the same time, with no more permissions than this package needs.
// They agree on one certificate.
func TestTwoRotatorsAtOnceConverge(t *testing.T) {
	cp := shared.Get(t)
	namespace := cp.Namespace(t)
	admin := clientFor(t, cp.Config())
	installWebhooks(t, admin, namespace, "https://127.0.0.1:1/")
	operator := "operator-of-" + namespace
	grant(t, admin, namespace, operator)
	config := cp.ConfigFor(operator)
	config.UserAgent = operator

	cursor := cp.AuditCursor(t)
	var stores []*certs.SecretStore
	for range 2 {
		client := clientFor(t, config)
		stores = append(stores, startReplica(t, client, namespace, certs.DefaultPolicy(), configurations(client, namespace)...))
	}
	eventually(t, "both serve the same, and the webhooks trust it", func() bool {
		first, _ := stores[0].CurrentCertKeyContent()
		second, _ := stores[1].CurrentCertKeyContent()
		return len(first) > 0 && bytes.Equal(first, second) && trustedBy(t, admin, namespace, stores[0].CABundle())
	})

	for _, store := range stores {
		if err := certs.Healthy(store, time.Now()); err != nil {
			t.Error(err)
		}
	}
	if refused := cursor.Events(t, controlplane.FromUserAgent(operator), func(e *controlplane.AuditEvent) bool { return e.Code == 403 }); len(refused) > 0 {
		t.Errorf("refused with the documented permissions: %v", refused)
	}
	// Both may have tried; one has won.
	created := cursor.Events(t, controlplane.FromUserAgent(operator), controlplane.InNamespace(namespace), controlplane.WithVerb("create"),
		func(e *controlplane.AuditEvent) bool { return e.Code == 201 })
	if len(created) != 1 {
		t.Errorf("created %v, want one Secret", created)
	}
}

func TestS17Repairs(t *testing.T) {
	cp := shared.Get(t)
	client := clientFor(t, cp.Config())
	for name, disturb := range map[string]func(t *testing.T, namespace string){
		"Secret deleted": func(t *testing.T, namespace string) {
			if err := client.CoreV1().Secrets(namespace).Delete(t.Context(), secretName, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		"Secret garbled": func(t *testing.T, namespace string) {
			err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
				secret := getSecret(t, client, namespace)
				for key := range secret.Data {
					secret.Data[key] = []byte("garbled")
				}
				_, err := client.CoreV1().Secrets(namespace).Update(t.Context(), secret, metav1.UpdateOptions{})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		},
		"key of the CA lost": func(t *testing.T, namespace string) {
			patch := []byte(`{"data": {"signer.key": null}}`)
			if _, err := client.CoreV1().Secrets(namespace).Patch(t.Context(), secretName, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		"caBundle overwritten": func(t *testing.T, namespace string) {
			patch := []byte(`[{"op": "remove", "path": "/webhooks/1/clientConfig/caBundle"}]`)
			if _, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().
				Patch(t.Context(), namespace, types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := cp.Namespace(t)
			installWebhooks(t, client, namespace, "https://127.0.0.1:1/")
			long := policy
			long.CAValidity, long.LeafValidity = 24*time.Hour, time.Hour // Nothing is due on its own.
			store := startReplica(t, client, namespace, long, configurations(client, namespace)...)
			inOrder := func() bool {
				secret, err := client.CoreV1().Secrets(namespace).Get(t.Context(), secretName, metav1.GetOptions{})
				if apierrors.IsNotFound(err) {
					return false
				}
				certificate, _ := store.CurrentCertKeyContent()
				return err == nil && bytes.Equal(secret.Data[corev1.TLSCertKey], certificate) && len(secret.Data[certs.KeyCAKey]) > 0 &&
					len(secret.Data[certs.KeyNextKey]) == 0 && certs.Healthy(store, time.Now()) == nil &&
					trustedBy(t, client, namespace, secret.Data[certs.KeyCABundle])
			}
			eventually(t, "a first start", inOrder)
			disturb(t, namespace)
			eventually(t, "repaired", inOrder)
		})
	}
}

// configurations returns the two configurations of the namespace. They are cluster-scoped, so they are named after
// it.
func configurations(client kubernetes.Interface, namespace string) []certs.Configuration {
	return []certs.Configuration{
		certs.ValidatingConfiguration(client.AdmissionregistrationV1().ValidatingWebhookConfigurations(), namespace),
		certs.MutatingConfiguration(client.AdmissionregistrationV1().MutatingWebhookConfigurations(), namespace),
		certs.MutatingConfiguration(client.AdmissionregistrationV1().MutatingWebhookConfigurations(), namespace+"-not-installed"),
	}
}

// installWebhooks registers three webhooks for ConfigMaps of the namespace.
func installWebhooks(t *testing.T, client kubernetes.Interface, namespace, url string) {
	t.Helper()
	fail, none, equivalent, timeout := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Equivalent, int32(5)
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	rules := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	meta := metav1.ObjectMeta{Name: namespace}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta}
	for _, name := range []string{"one.fairlead.test", "two.fairlead.test"} {
		validating.Webhooks = append(validating.Webhooks, admissionregistrationv1.ValidatingWebhook{
			Name: name, ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url}, Rules: rules, NamespaceSelector: selector,
			FailurePolicy: &fail, SideEffects: &none, MatchPolicy: &equivalent, TimeoutSeconds: &timeout, AdmissionReviewVersions: []string{"v1"},
		})
	}
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta, Webhooks: []admissionregistrationv1.MutatingWebhook{{
		Name: "three.fairlead.test", ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url}, Rules: rules, NamespaceSelector: selector,
		FailurePolicy: &fail, SideEffects: &none, MatchPolicy: &equivalent, TimeoutSeconds: &timeout, AdmissionReviewVersions: []string{"v1"},
	}}}
	if _, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), validating, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), namespace, metav1.DeleteOptions{})
	})
	if _, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), mutating, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// trustedBy reports whether every webhook has this caBundle.
func trustedBy(t *testing.T, client kubernetes.Interface, namespace string, caBundle []byte) bool {
	t.Helper()
	validating, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), namespace, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mutating, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), namespace, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Equal(validating.Webhooks[0].ClientConfig.CABundle, caBundle) && bytes.Equal(validating.Webhooks[1].ClientConfig.CABundle, caBundle) &&
		bytes.Equal(mutating.Webhooks[0].ClientConfig.CABundle, caBundle)
}

// grant gives a user the permissions that package certs needs, as narrow as RBAC can be.
func grant(t *testing.T, admin kubernetes.Interface, namespace, user string) {
	t.Helper()
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	meta := metav1.ObjectMeta{Name: user}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{secretName}, Verbs: []string{"get", "list", "watch", "update"}},
	}}
	binding := &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user}}
	clusterRole := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups:     []string{admissionregistrationv1.GroupName},
		Resources:     []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"},
		ResourceNames: []string{namespace, namespace + "-not-installed"},
		Verbs:         []string{"get", "list", "watch", "patch"},
	}}}
	clusterBinding := &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user}}
	rbac := admin.RbacV1()
	if _, err := rbac.Roles(namespace).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.ClusterRoles().Create(t.Context(), clusterRole, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.ClusterRoleBindings().Create(t.Context(), clusterBinding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
