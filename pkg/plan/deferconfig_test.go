// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

const (
	asDeployer = "serviceAccount: {name: deployer}, config: {mountPath: /etc/web, data: {a: before}}"
	dropped    = "config: {mountPath: /etc/web, data: {a: before}}"
	edited     = "config: {mountPath: /etc/web, data: {a: after}}"
)

const renderedHash = ".metadata.annotations." + v1.AnnotationRenderedHash

func flow(spec string) string { return "{" + spec + "}" }

var webConfig = child.Ref{Kind: child.ConfigMap, Namespace: "shop", Name: "web-config"}

// replacing is what is seen of an Application that ran as one account and asks for another, once the Deployment has the new
// template: pods of before still run.
func replacing(t *testing.T, before, after string) child.Snapshot {
	t.Helper()
	old := settled(t, application(t, flow(before)))
	snapshot := settled(t, application(t, flow(after)))
	deployment := live[*appsv1.Deployment](snapshot, child.Deployment)
	deployment.Annotations[child.RevisionAnnotation] = "2"
	deployment.Status.ObservedGeneration = deployment.Generation
	snapshot.ReplicaSets = []*child.ReplicaSet{{
		ObjectMeta: metav1.ObjectMeta{Name: "web-1"}, HasPods: true,
		References: child.ReferencesOf(&live[*appsv1.Deployment](old, child.Deployment).Spec.Template.Spec),
	}}
	return snapshot
}

// While pods run as an account that the spec has dropped, an edit of config does not reach them. It does so, and rolls out, once
// they are gone.
func TestConfigWaitsForPodsOfAnotherAccount(t *testing.T) {
	snapshot := replacing(t, asDeployer, dropped)
	snapshot.Application = application(t, flow(edited))
	wantSteps(t, compute(t, snapshot),
		"WaitDependency ConfigMap shop/web-config: ReplicaSet web-1 reads it as another ServiceAccount than web; it changes once no pod does; .data.a "+renderedHash,
		"Apply Deployment shop/web: the Application changed; "+renderedHash)

	snapshot.ReplicaSets[0].HasPods = false
	steps := compute(t, snapshot)
	if got := step(t, steps, webConfig); got.Action != plan.Apply || got.Drift {
		t.Errorf("%s %s, drift: %t", got.Action, got.Ref, got.Drift)
	}
	if got := step(t, steps, ref(child.Deployment)); got.Action != plan.Apply || got.Drift {
		t.Errorf("%s %s, drift: %t", got.Action, got.Ref, got.Drift)
	}
}

// An edit of both the account and config replaces the pods with the content that there is, and changes it afterwards.
func TestConfigRollsOutAfterTheAccount(t *testing.T) {
	snapshot := settled(t, application(t, flow(asDeployer)))
	hash := live[*appsv1.Deployment](snapshot, child.Deployment).Spec.Template.Annotations[v1.AnnotationConfigHash]
	snapshot.Application = application(t, flow(edited))
	steps := compute(t, snapshot)
	if got := step(t, steps, webConfig); got.Action != plan.WaitDependency {
		t.Errorf("%s %s: %s", got.Action, got.Ref, got.Reason)
	}
	first := step(t, steps, ref(child.Deployment))
	if first.Action != plan.Apply {
		t.Fatalf("%s %s: %s", first.Action, first.Ref, first.Reason)
	}
	deployment := stored(t, *first.Desired).(*appsv1.Deployment)
	if got := deployment.Spec.Template.Annotations[v1.AnnotationConfigHash]; got != hash || deployment.Spec.Template.Spec.ServiceAccountName != "web" {
		t.Errorf("the new pods run as %s with config %s, want web and what is live, %s", deployment.Spec.Template.Spec.ServiceAccountName, got, hash)
	}

	// No pod of before is left.
	account := ref(child.ServiceAccount)
	snapshot.Children[ref(child.Deployment)] = deployment
	snapshot.Children[account] = stored(t, *step(t, steps, account).Desired)
	steps = compute(t, snapshot)
	got := map[child.Kind]plan.Action{child.ConfigMap: step(t, steps, webConfig).Action, child.Deployment: step(t, steps, ref(child.Deployment)).Action}
	if diff := cmp.Diff(map[child.Kind]plan.Action{child.ConfigMap: plan.Apply, child.Deployment: plan.Apply}, got); diff != "" {
		t.Errorf("once no pod runs as deployer (-want +got):\n%s", diff)
	}
	if step(t, steps, ref(child.Deployment)).Drift {
		t.Error("the second rollout is taken for a repair")
	}
}

// Nothing waits where the pods of before may read what comes: they run as the Application's own account, or as the one that is
// asked for; nor for a repair.
func TestConfigDoesNotWait(t *testing.T) {
	for name, test := range map[string]struct{ before, dropped, edited string }{
		"the own account":  {dropped, asDeployer, "serviceAccount: {name: deployer}, " + edited},
		"the same account": {asDeployer, asDeployer, "serviceAccount: {name: deployer}, " + edited},
	} {
		t.Run(name, func(t *testing.T) {
			snapshot := replacing(t, test.before, test.dropped)
			own := settled(t, application(t, flow(dropped)))
			snapshot.Children[ref(child.ServiceAccount)] = own.Children[ref(child.ServiceAccount)]
			snapshot.Application = application(t, flow(test.edited))
			if got := step(t, compute(t, snapshot), webConfig); got.Action != plan.Apply {
				t.Errorf("%s %s: %s", got.Action, got.Ref, got.Reason)
			}
		})
	}
	t.Run("a repair", func(t *testing.T) {
		snapshot := replacing(t, asDeployer, dropped)
		snapshot.Children[webConfig].(*corev1.ConfigMap).Data["a"] = "changed"
		if got := step(t, compute(t, snapshot), webConfig); got.Action != plan.Apply || !got.Drift {
			t.Errorf("%s %s: %s, drift: %t", got.Action, got.Ref, got.Reason, got.Drift)
		}
	})
}
