// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestWhatPodsUseIsNotDeleted makes one edit that takes the configuration and the ServiceAccount away while the
// pods cannot follow, each time for another reason. Both stay until they can, so that lost pods come back.
func TestWhatPodsUseIsNotDeleted(t *testing.T) {
	t.Parallel()
	e := start(t, func(s *setup) { s.AllowUnreviewedServiceAccounts = true })
	e.create("{apiVersion: v1, kind: ServiceAccount, metadata: {name: another}}")
	for name, test := range map[string]struct {
		// hold is a part of the edit that keeps the pods from following, and release ends that.
		hold    func(*v1.ApplicationSpec)
		release func(e *env, name string)
		// before happens before the edit, and held waits until the pods are kept from following; nil: until both wait.
		before, held func(e *env, name string)
	}{
		"missing": {
			hold: func(spec *v1.ApplicationSpec) {
				spec.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "later"}}}}
			},
			release: func(e *env, _ string) { e.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: later}}") },
		},
		"paused": {
			hold:    func(spec *v1.ApplicationSpec) { spec.Paused = new(true) },
			release: editing(func(spec *v1.ApplicationSpec) { spec.Paused = nil }),
		},
		"failing": {
			hold:    func(spec *v1.ApplicationSpec) { spec.Image = bad + "2" },
			release: withImage("registry.example.com/web:3"),
		},
		"denied": {
			hold:    func(*v1.ApplicationSpec) {},
			release: (*env).allowDeployment,
			before:  (*env).denyDeployment,
		},
		// What it is rolled back to uses both again.
		"rolled-back": {
			hold: func(spec *v1.ApplicationSpec) {
				spec.Image, spec.ProgressDeadlineSeconds = bad+"2", new(int32(3))
				spec.Rollback = &v1.Rollback{Policy: v1.RollbackOnFailure}
			},
			release: withImage("registry.example.com/web:3"),
			held: func(e *env, name string) {
				e.waitCondition(name, v1.ConditionRolledBack, metav1.ConditionTrue, v1.ReasonRolledBack)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := e.sub(t)
			e.create(named(small, name) + "  replicas: 2\n  config: {mountPath: /etc/web, data: {a: b}}\n")
			e.waitReady(name)
			account, config := get[corev1.ServiceAccount](e, name), get[corev1.ConfigMap](e, name+"-config")
			if test.before != nil {
				test.before(e, name)
			}
			e.editSpec(name, func(spec *v1.ApplicationSpec) {
				spec.Config, spec.ServiceAccount = nil, &v1.ServiceAccount{Name: "another"}
				test.hold(spec)
			})
			e.waitObserved(name)
			if test.held == nil {
				test.held = (*env).waitBothWait
			}
			test.held(e, name)
			// The pods of before come back.
			pods, err := e.kube.CoreV1().Pods(e.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + name})
			if err != nil {
				t.Fatal(err)
			}
			for i := range pods.Items {
				pod := &pods.Items[i]
				if pod.Spec.ServiceAccountName == name {
					body := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: new(pod.UID)}}
					if err := e.kube.CoreV1().Pods(e.namespace).Delete(t.Context(), pod.Name, body); err != nil {
						t.Fatal(err)
					}
				}
			}
			e.eventually("two pods of before serve", func() (bool, string) {
				deployment := get[appsv1.Deployment](e, name)
				return deployment.Status.AvailableReplicas >= 2, fmt.Sprint(deployment.Status)
			})
			if got := get[corev1.ServiceAccount](e, name).UID; got != account.UID {
				t.Errorf("the ServiceAccount is another one")
			}
			if got := get[corev1.ConfigMap](e, name+"-config").UID; got != config.UID {
				t.Errorf("the ConfigMap is another one")
			}
			test.release(e, name)
			e.waitReady(name)
			e.eventually("what no pod uses any more is deleted", func() (bool, string) {
				return find[corev1.ServiceAccount](e, name) == nil && find[corev1.ConfigMap](e, name+"-config") == nil, ""
			})
			e.waitReady(name)
		})
	}
}

// waitBothWait waits until the status says that the ServiceAccount and the ConfigMap are not deleted yet, and why.
func (e *env) waitBothWait(name string) {
	e.Helper()
	for _, kind := range []string{"ServiceAccount", "ConfigMap"} {
		e.waitApplication(name, kind+" waits", func(a *v1.Application) bool {
			for _, resource := range a.Status.Resources {
				if resource.Kind == kind {
					return resource.State == v1.ResourcePending && resource.Message != ""
				}
			}
			return false
		})
	}
}

// denyDeployment lets a policy deny every update of the Deployment, except by Kubernetes itself, until allowDeployment.
func (e *env) denyDeployment(name string) {
	e.Helper()
	policy := "deny-" + e.namespace
	e.create(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[2]s}}
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [UPDATE]}]
  matchConditions: [{name: here, expression: 'request.name == "%[3]s" && !request.userInfo.username.startsWith("system:")'}]
  validations: [{expression: "false", message: frozen}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, policy, e.namespace, name))
	e.Cleanup(func() {
		ctx := context.WithoutCancel(e.Context())
		_ = e.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(ctx, policy, metav1.DeleteOptions{})
		_ = e.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, policy, metav1.DeleteOptions{})
	})
	e.eventually("the policy denies", func() (bool, string) {
		_, err := e.children(child.Deployment).Patch(e.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`),
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil, fmt.Sprint(err)
	})
}

func (e *env) allowDeployment(string) {
	e.Helper()
	if err := e.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(e.Context(), "deny-"+e.namespace, metav1.DeleteOptions{}); err != nil {
		e.Fatal(err)
	}
}
