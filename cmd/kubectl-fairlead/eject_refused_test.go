// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// freeze refuses every update of a Deployment in the namespace.
func (p *plugin) freeze(kube kubernetes.Interface) (name string) {
	p.Helper()
	registration := kube.AdmissionregistrationV1()
	name = "frozen-" + p.namespace
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	policy.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
		RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
		},
	}}}
	policy.Spec.Validations = []admissionregistrationv1.Validation{{Expression: "false", Message: "the namespace is frozen"}}
	if _, err := registration.ValidatingAdmissionPolicies().Create(p.Context(), policy, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
	binding.Spec.PolicyName, binding.Spec.ValidationActions = name, []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
	binding.Spec.MatchResources = &admissionregistrationv1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: p.namespace}},
	}
	if _, err := registration.ValidatingAdmissionPolicyBindings().Create(p.Context(), binding, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	return name
}

// TestEjectRefused: an Application is not ejected while the Deployment would not stay, or could not lose Fairlead's marks.
func TestEjectRefused(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.create("web", "{image: example.com/web:1, replicas: 1}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})

	name := p.freeze(kube)
	tried := []string{"eject", "web", "--dry-run=server"}
	p.eventually("the policy to refuse", func() bool { return p.run(tried...).code != 0 })
	const frozen = "error: the API server refuses to remove Fairlead's marks from Deployment web, so nothing was changed: "
	for _, args := range [][]string{tried, {"eject", "web"}} {
		if r := p.want(2, args); !strings.HasPrefix(r.stderr, frozen) || !strings.Contains(r.stderr, "the namespace is frozen") {
			t.Errorf("%q says %q", args, r.stderr)
		}
	}
	if err := kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the policy to be gone", func() bool { return p.run(tried...).code == 0 })

	deployments := kube.AppsV1().Deployments(p.namespace)
	hold := []byte(`{"metadata":{"finalizers":["example.com/hold"]}}`)
	if _, err := deployments.Patch(t.Context(), "web", types.MergePatchType, hold, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := deployments.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	const going = "error: Deployment web is being deleted, and is gone once its finalizer example.com/hold is removed. " +
		"Without the Application, no controller creates it again, so nothing was changed. " +
		"Let its deletion end, so that Fairlead creates it again if the spec asks for it, and run the command again\n"
	for _, args := range [][]string{{"eject", "web", "--dry-run=client"}, {"eject", "web"}} {
		if r := p.want(2, args); r.stderr != going || r.stdout != "" {
			t.Errorf("%q says\n%s%s\nwant\n%s", args, r.stdout, r.stderr, going)
		}
	}
	if application := p.get("web"); application.DeletionTimestamp != nil || application.Spec.DeletionPolicy == v1.DeletionOrphan {
		t.Error("the Application is changed")
	}

	if _, err := deployments.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the next Deployment", func() bool {
		live, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && live.DeletionTimestamp == nil
	})
	p.want(0, []string{"eject", "web"}, "ejected. The objects are yours.")
}
