// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestWritesAfterAdoption applies the manifest from before an adoption again, as a pipeline does that was forgotten: while the pods are
// held, and after they were replaced. What the Application says stays; what it does not say is left and named; and the way back is open.
func TestWritesAfterAdoption(t *testing.T) {
	for name, apply := range map[string]func(*plugin, kubernetes.Interface){
		"kubectl apply": func(p *plugin, kube kubernetes.Interface) {
			// The adoption removed the annotation with the last manifest, so kubectl merges the manifest into what is there.
			patch, err := yaml.YAMLToJSON([]byte(chartDeployment))
			if err != nil {
				p.Fatal(err)
			}
			if _, err := kube.AppsV1().Deployments(p.namespace).Patch(p.Context(), "web", types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-client-side-apply"}); err != nil {
				p.Fatal(err)
			}
		},
		"kubectl apply --server-side --force-conflicts": func(p *plugin, _ kubernetes.Interface) {
			if !p.forceApply("kubectl", child.Deployment, chartDeployment) {
				p.Fatal("the manifest was not applied")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
			before, pods := p.runs(kube)
			adopt := []string{"adopt", "web", "--harden", "--accept=.spec.containers[web].tty"}
			p.want(0, adopt)
			held := p.deployment(kube)

			apply(p, kube)
			p.wantOurs(kube, held)
			if diff := cmp.Diff(pods, p.pods(kube)); diff != "" {
				t.Fatalf("pods were replaced while they are held:\n%s", diff)
			}
			manager := "kubectl"
			if name == "kubectl apply" {
				manager = "kubectl-client-side-apply"
			}
			p.wantRolloutRefused(kube, manager)
			p.want(0, []string{"adopt", "web", "--abort"}, "taken back; no pod was replaced")
			if diff := cmp.Diff(before.Spec, p.deployment(kube).Spec); diff != "" {
				t.Fatalf("the spec after --abort (-before +after):\n%s", diff)
			}

			p.want(0, adopt)
			p.want(0, []string{"adopt", "web", "--rollout"})
			p.eventually("the condition Adopted", func() bool { return meta.IsStatusConditionTrue(p.get("web").Status.Conditions, v1.ConditionAdopted) })
			adopted := p.deployment(kube)
			apply(p, kube)
			p.wantOurs(kube, adopted)
			p.want(0, []string{"eject", "web", "--restore"}, "ejected.")
			if diff := cmp.Diff(before.Spec, p.deployment(kube).Spec); diff != "" {
				t.Errorf("the spec after --restore (-before +after):\n%s", diff)
			}
		})
	}
}

// wantOurs waits until all that the Application says about its container is as before another client's write; what that added is left,
// and named.
func (p *plugin) wantOurs(kube kubernetes.Interface, before *appsv1.Deployment) {
	p.Helper()
	var live *appsv1.Deployment
	p.eventually("what the Application says", func() bool {
		live = p.deployment(kube)
		return cmp.Equal(container(before), container(live)) && live.Spec.Paused == before.Spec.Paused &&
			cmp.Equal(before.Spec.Strategy, live.Spec.Strategy) && live.Labels[v1.LabelManagedBy] == v1.ManagedBy && p.get("web").Status.ObservedGeneration == p.get("web").Generation
	})
	if len(live.Spec.Template.Spec.Containers) == 1 {
		return
	}
	p.eventually("the reason", func() bool {
		r := p.run("why", "web")
		return strings.Contains(r.stdout, "Container shop of the Deployment is not the Application's: kubectl") && strings.Contains(r.stdout, "kubectl -n "+p.namespace+" edit deployment web")
	})
	if r := p.run("status", "web"); !strings.Contains(r.stdout, "Note         Container shop of the Deployment is not the Application's: kubectl") {
		p.Errorf("status does not say it:\n%s", r.stdout)
	}
}

// wantRolloutRefused: no pod is replaced by one with a container that another client added, unless the user accepts it.
func (p *plugin) wantRolloutRefused(kube kubernetes.Interface, manager string) {
	p.Helper()
	if len(p.deployment(kube).Spec.Template.Spec.Containers) == 1 {
		return
	}
	what := "Container shop of the Deployment is not the Application's: " + manager + " added it, and Fairlead leaves it there."
	said := "\n  + " + what + "\n    If it comes from a manifest or chart that is older than the Application, stop applying that, and remove the container: kubectl -n " +
		p.namespace + " edit deployment web\n"
	refused := p.namespace + "/web: no pod is replaced, because the new ones would have what another client added:" + said
	for _, args := range [][]string{{"adopt", "web", "--rollout", "--dry-run=client"}, {"adopt", "web", "--rollout", "--dry-run=server"}, {"adopt", "web", "--rollout"}} {
		const want = "error: nothing was written: remove the container, or, if the new pods may have it, pass --accept='.spec.containers[shop]'\n"
		if r := p.want(2, args); r.stdout != refused || r.stderr != want {
			p.Errorf("%q says %q and %q, want %q and %q", args, r.stdout, r.stderr, refused, want)
		}
	}
	p.want(0, []string{"adopt", "web", "--rollout", "--dry-run=client", "--accept=.spec.containers[shop]"}, p.namespace+"/web: all 2 pods will be replaced.\n"+
		"  The Service web will change once every pod is replaced: the selector app=shop becomes apps.fairlead.dev/application=web."+said+"  not written (dry run)\n")
	p.want(1, []string{"status", "web"}, "Note         "+what+"\n")
	p.want(1, []string{"status", "web", "-o", "json"}, "\"notes\": [\n    \""+what+"\"")
}

// container is the Application's.
func container(deployment *appsv1.Deployment) *corev1.Container {
	containers := deployment.Spec.Template.Spec.Containers
	if at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == deployment.Name }); at >= 0 {
		return &containers[at]
	}
	return nil
}
