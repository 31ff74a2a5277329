// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestF14QuotaExceeded lets a ResourceQuota refuse the Deployment, and then the pods.
func TestF14QuotaExceeded(t *testing.T) {
	t.Parallel()
	e := start(t)
	h := e.record()
	setQuota := func(resource string, hard int) func(*env, string) {
		return func(e *env, _ string) {
			e.Helper()
			e.apply(fmt.Sprintf("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: small}\nspec: {hard: {%s: %d}}\n", resource, hard))
			e.eventually("the quota is known", func() (bool, string) {
				quota := get[corev1.ResourceQuota](e, "small")
				quantity, found := quota.Status.Hard[corev1.ResourceName(resource)]
				return found && quantity.Value() == int64(hard), quota.Status.String()
			})
		}
	}
	setQuota("count/deployments.apps", 0)(e, "")
	h.follow(e, "web",
		step{applySpec("replicas: 2, progressDeadlineSeconds: 3"), stalled("QuotaExceeded",
			`Deployment web: deployments.apps "web" is forbidden: exceeded quota: small, requested: count/deployments.apps=1, used: count/deployments.apps=0, limited: count/deployments.apps=0.`, absent)},
		step{setQuota("count/deployments.apps", 5), standing{ready: "True/Ready", kstatus: kstatus.CurrentStatus, others: serving}},
	)
	if got := e.waitEvent("web", "QuotaExceeded", "Deployment", "web"); got.Type != corev1.EventTypeWarning {
		t.Errorf("the Event is of type %s", got.Type)
	}

	setQuota("pods", 2)(e, "")
	exceeded := standing{
		ready: "False/QuotaExceeded", also: v1.ConditionReconciling + "/" + v1.ReasonRollingOut, kstatus: kstatus.InProgressStatus,
		message: "Exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2. ",
		others:  []string{"Available=True/MinimumReplicasAvailable", "Progressing=True/NewReplicaSetCreated"},
	}
	past := exceeded
	past.also, past.kstatus = v1.ConditionStalled+"/"+v1.ReasonProgressDeadlineExceeded, kstatus.FailedStatus
	past.others = []string{"Available=True/MinimumReplicasAvailable", "Progressing=False/ProgressDeadlineExceeded"}
	h.follow(e, "web",
		step{editing(func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" }), exceeded},
		step{nil, past},
		step{setQuota("pods", 10), standing{ready: "True/Ready", kstatus: kstatus.CurrentStatus, others: serving}},
	)
}

// TestF14PolicyDenied lets a ValidatingAdmissionPolicy refuse a child.
func TestF14PolicyDenied(t *testing.T) {
	t.Parallel()
	e := start(t)
	h := e.record()
	// The policy is of the whole cluster, so it must look at this namespace alone.
	policy := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [services]}]
  validations: [{expression: "object.spec.type != 'NodePort'", message: no node ports here}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, e.namespace)
	e.create(policy)
	e.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_ = e.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(ctx, e.namespace, metav1.DeleteOptions{})
		_ = e.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, e.namespace, metav1.DeleteOptions{})
	})
	e.eventually("the policy works", func() (bool, string) {
		probe := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}}}
		_, err := e.kube.CoreV1().Services(e.namespace).Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil && strings.Contains(err.Error(), "no node ports here"), fmt.Sprint(err)
	})
	h.follow(e, "web",
		step{applySpec("ports: [{name: http, containerPort: 8080}], service: {type: NodePort}"), stalled("PolicyDenied",
			`Service web: services "web" is forbidden: ValidatingAdmissionPolicy 'NAMESPACE' with binding 'NAMESPACE' denied request: no node ports here.`, serving)},
		step{editing(func(spec *v1.ApplicationSpec) { spec.Service = nil }), oneReady},
	)
	e.waitEvent("web", "PolicyDenied", "Service", "web")
}

// TestF15PermissionDenied runs the controller as a user who has all the permissions that it needs, except to create
// Services.
func TestF15PermissionDenied(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	grant := func(e *env, name string, rule rbacv1.PolicyRule) {
		e.Helper()
		e.create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{rule}})
		e.create(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "limited"}},
		})
	}
	all := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	grant(e, "fairlead", rbacv1.PolicyRule{
		APIGroups: []string{"apps.fairlead.dev", "apps", "autoscaling", "policy", "networking.k8s.io", "events.k8s.io"},
		Resources: []string{"*"}, Verbs: all,
	})
	grant(e, "core", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts", "configmaps", "pods"}, Verbs: all})
	grant(e, "services", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"get", "list", "watch", "patch", "delete"}})
	e.run(func(s *setup) {
		s.Classes = false // They are in no namespace, so this user cannot read them.
		s.Config = func(config *app.Config) { config.Client.Impersonate = rest.ImpersonationConfig{UserName: "limited"} }
	})
	h := e.record()
	h.follow(e, "web",
		step{applySpec("ports: [{name: http, containerPort: 8080}]"), stalled("PermissionDenied",
			`Service web: services is forbidden: User "limited" cannot create resource "services" in API group "" in the namespace "NAMESPACE".`, serving)},
		step{func(e *env, _ string) {
			grant(e, "more", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"create"}})
		}, oneReady},
	)
	e.waitEvent("web", "PermissionDenied", "Service", "web")
}
