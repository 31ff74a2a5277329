// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
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
	}{
		"missing": {
			func(spec *v1.ApplicationSpec) {
				spec.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "later"}}}}
			},
			func(e *env, _ string) { e.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: later}}") },
		},
		"paused": {
			func(spec *v1.ApplicationSpec) { spec.Paused = new(true) },
			editing(func(spec *v1.ApplicationSpec) { spec.Paused = nil }),
		},
		"failing": {
			func(spec *v1.ApplicationSpec) { spec.Image = bad + "2" },
			withImage("registry.example.com/web:3"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := e.sub(t)
			e.create(named(small, name) + "  replicas: 2\n  config: {mountPath: /etc/web, data: {a: b}}\n")
			e.waitReady(name)
			e.editSpec(name, func(spec *v1.ApplicationSpec) {
				spec.Config, spec.ServiceAccount = nil, &v1.ServiceAccount{Name: "another"}
				test.hold(spec)
			})
			e.waitObserved(name)
			account, config := get[corev1.ServiceAccount](e, name), get[corev1.ConfigMap](e, name+"-config")
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
