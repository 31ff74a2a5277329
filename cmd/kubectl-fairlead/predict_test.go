// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestDiffWhileStopped: a file that leaves reconcilePolicy out, or at Observe or Suspend, replaces no pod before the Application is
// resumed. A file that resumes it carries out what waited too.
func TestDiffWhileStopped(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.create("web", "{image: example.com/web:1, replicas: 2}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	before := p.pods(kube)
	diff := func(spec string) string {
		t.Helper()
		r := p.runIn([]byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: 'example.com/web:2'"+spec+"}}"), "diff", "-f", "-")
		if r.code != 1 {
			t.Errorf("diff of %q: %+v", spec, r)
		}
		return r.stdout
	}
	for stop, policy := range map[string]string{"observe": "Observe", "suspend": "Suspend"} {
		stops := []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: 'example.com/web:1', reconcilePolicy: " + policy + "}}")
		said := p.namespace + "/web: nothing changes. Fairlead changes no child until you resume the Application (reconcilePolicy: " + policy + ").\n"
		if r := p.runIn(stops, "diff", "-f", "-"); r.code != 0 || strings.Join(strings.Fields(r.stdout), " ")+"\n" != said {
			t.Errorf("a file that stops Fairlead: %+v, want %q", r, said)
		}
		p.want(0, []string{stop, "web"})
		want := p.namespace + "/web: until it is resumed, no child changes and no pod is replaced (reconcilePolicy: " + policy + "). Below is how the two specs differ; the children may differ from both.\n"
		for _, spec := range []string{"", ", reconcilePolicy: " + policy} {
			if got := diff(spec); !strings.HasPrefix(got, want) || !strings.Contains(got, "~ Deployment/web  Update\n") {
				t.Errorf("%s, and a file with %q: %s\nwant %s", stop, spec, got, want)
			}
		}
		// The values before are those that run.
		for _, want := range []string{
			p.namespace + "/web: all 2 pods are replaced, because of containers[web].image. The desired number of pods goes from 2 to 3.\n",
			"~ Deployment/web  Update\n    .spec.replicas: 2 → 3\n" + `    .spec.template.spec.containers[web].image: "example.com/web:1" → "example.com/web:2"` + "\n",
		} {
			if got := diff(", replicas: 3, reconcilePolicy: Enforce"); !strings.Contains(got, want) {
				t.Errorf("%s, and a file that resumes: %s\nwant %s", stop, got, want)
			}
		}
	}
	p.want(0, []string{"set", "image", "web", "example.com/web:2"}, "Until it is resumed, no pod is replaced.")
	if got := diff(", reconcilePolicy: Enforce"); !strings.HasPrefix(got, p.namespace+"/web: all 2 pods are replaced, because of containers") {
		t.Errorf("a file that resumes: %s", got)
	}
	if after := p.pods(kube); !slices.Equal(before, after) {
		t.Errorf("the pods are %s, want %s", after, before)
	}
}

// TestDiffOfWhatWasRemovedWhileStopped: what the spec lost while Fairlead changed no child is removed when the Application is resumed. The
// Deployment was created by POST, and then applied: only an apply leaves the API server's defaults to the API server.
func TestDiffOfWhatWasRemovedWhileStopped(t *testing.T) {
	p := start(t)
	const resumed = ", replicas: 1, resources: {requests: {cpu: 10m}}, reconcilePolicy: Enforce"
	file := []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: 'example.com/web:1'" + resumed + "}}")
	p.create("web", "{image: example.com/web:1, args: [--verbose], resources: {requests: {cpu: 10m}}, "+
		"autoscaling: {minReplicas: 1, maxReplicas: 2, targetCPUUtilizationPercentage: 80}}")
	for i, change := range []string{`{"args":null,"autoscaling":null,"replicas":1}`, `{"args":null}`} {
		p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
		p.want(0, []string{"observe", "web"})
		patch := []byte(`{"spec":` + change + `}`)
		if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		r := p.runIn(file, "diff", "-f", "-")
		const removed = `    .spec.template.spec.containers[web].args: removed ["--verbose"]` + "\n"
		want := p.namespace + "/web: 1 pod is replaced, because of containers[web].args.\n\n"
		if i == 0 {
			want += "+ ControllerRevision/REVISION  Create\n\n~ Deployment/web  Update\n" + removed + "\n- HorizontalPodAutoscaler/web  Delete\n"
		} else {
			want += "~ ControllerRevision/REVISION  Update\n    .revision: 2 → 4\n\n~ Deployment/web  Update\n" + removed
		}
		if got := revisionName.ReplaceAllString(r.stdout, "/REVISION"); got != want {
			t.Errorf("diff %d: %s%s\nwant %s", i, got, r.stderr, want)
		}
		p.want(0, []string{"resume", "web", "--dry-run=client"}, "  1 pod is replaced, because of containers[web].args.\n")
		p.want(0, []string{"resume", "web"})
		p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
		if got, want := p.get("web").Status.Revision.Current, int64(2+2*i); got != want {
			t.Errorf("the spec without the arguments is revision %d, want %d", got, want)
		}
		again := []byte(`{"spec":{"args":["--verbose"]}}`)
		if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(t.Context(), "web", types.MergePatchType, again, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

var revisionName = regexp.MustCompile("/web-[0-9a-f]+")

// TestUndoAfterTwoRestarts: kubectl restarted the pods first, and then the plugin did while rollouts were paused. Fairlead took the
// annotation over, so after undo the pod template has none, and differs from that of the pods.
func TestUndoAfterTwoRestarts(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.create("web", "{image: example.com/web:1, replicas: 2}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.restartByKubectl(kube, time.Now().Add(-time.Minute))
	p.eventually("the restart by kubectl", func() bool { return p.updated(kube) == 2 })
	before := p.pods(kube)
	p.want(0, []string{"pause", "web"})
	p.want(0, []string{"restart", "web"}, "All 2 pods are replaced, because of the pod annotation kubectl.kubernetes.io/restartedAt.", "It waits while rollouts are paused.")
	p.eventually("the restart to wait", func() bool { return p.get("web").Status.Revision.Current == 2 && p.updated(kube) == 0 })
	p.eventually("the history to say so", func() bool { return strings.Contains(p.run("history", "web").stdout, "current, waits, restart of 1") })
	p.want(0, []string{"undo", "web", "--to-revision=1"}, "  All 2 pods are replaced, because of the pod annotation kubectl.kubernetes.io/restartedAt. It waits while rollouts are paused.\n")
	p.eventually("the undo to wait", func() bool {
		_, restarted := p.deployment(kube).Spec.Template.Annotations[v1.AnnotationRestartedAt]
		return !restarted && p.updated(kube) == 0
	})
	p.want(0, []string{"resume", "web"}, "All 2 pods are replaced")
	p.eventually("the pods to be replaced", func() bool {
		after := p.pods(kube)
		return p.updated(kube) == 2 && len(after) == 2 && !slices.ContainsFunc(after, func(pod string) bool { return slices.Contains(before, pod) })
	})
}

// TestUndoOfWhatWaits: undo of changes that wait takes their restart back too, replaces no pod, and names no field that the pods have already.
func TestUndoOfWhatWaits(t *testing.T) {
	for name, restartFirst := range map[string]bool{"no restart before": false, "a restart before": true} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
			p.create("web", "{image: example.com/web:1, replicas: 2}")
			p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
			ran := int64(1)
			if restartFirst {
				earlier := []byte(`{"spec":{"podMetadata":{"annotations":{"` + v1.AnnotationRestartedAt + `":"2026-01-02T03:04:05Z"}}}}`)
				if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(t.Context(), "web", types.MergePatchType, earlier, metav1.PatchOptions{}); err != nil {
					t.Fatal(err)
				}
				ran = 2
			}
			p.eventually("the pods to be healthy", func() bool { return p.lastHealthy("web") == ran && p.updated(kube) == 2 })
			before, restart := p.pods(kube), p.deployment(kube).Spec.Template.Annotations[v1.AnnotationRestartedAt]
			p.want(0, []string{"pause", "web"})
			p.want(0, []string{"set", "image", "web", "example.com/web:2"}, "All 2 pods are replaced, because of containers[web].image. It waits")
			p.eventually("the image to wait", func() bool { return p.get("web").Status.Revision.Current == ran+1 && p.updated(kube) == 0 })
			const restartedAt = "the pod annotation kubectl.kubernetes.io/restartedAt"
			p.want(0, []string{"restart", "web"}, "All 2 pods are replaced, because of "+restartedAt+", containers[web].image. It waits while rollouts are paused.")
			p.eventually("the restart to wait", func() bool {
				return p.get("web").Status.Revision.Current == ran+2 && p.deployment(kube).Spec.Template.Annotations[v1.AnnotationRestartedAt] != restart
			})
			p.want(0, []string{"set", "image", "web", "example.com/web:1", "--dry-run=client"}, "All 2 pods are replaced, because of "+restartedAt+". It waits")
			p.want(0, []string{"undo", "web"}, "  No pod is replaced, because all of them are of that revision already.\n")
			p.eventually("the undo", func() bool { return p.updated(kube) == 2 })
			if got := p.deployment(kube).Spec.Template.Annotations[v1.AnnotationRestartedAt]; got != restart {
				t.Errorf("the restart is %q after the undo, want %q", got, restart)
			}
			p.want(0, []string{"resume", "web"})
			p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "Ready")
			if after := p.pods(kube); !slices.Equal(before, after) {
				t.Errorf("the pods are %s after the undo, want %s", after, before)
			}
		})
	}
}

// restartByKubectl does what kubectl rollout restart does.
func (p *plugin) restartByKubectl(kube kubernetes.Interface, at time.Time) {
	p.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"template":{"metadata":{"annotations":{%q:%q}}}}}`, v1.AnnotationRestartedAt, at.Format(time.RFC3339))
	if _, err := kube.AppsV1().Deployments(p.namespace).Patch(p.Context(), "web", types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-rollout"}); err != nil {
		p.Fatal(err)
	}
}

// updated is the number of pods of the present template; -1 if that is not known yet, or a rollout is at work.
func (p *plugin) updated(kube kubernetes.Interface) int32 {
	p.Helper()
	live := p.deployment(kube)
	if live.Status.ObservedGeneration < live.Generation || live.Status.Replicas != *live.Spec.Replicas {
		return -1
	}
	return live.Status.UpdatedReplicas
}

// TestRestartWhileRolledBack: a restart in the spec would try again what failed. The command that the refusal names restarts what runs,
// and the rollback holds.
func TestRestartWhileRolledBack(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.create("web", "{image: example.com/web:1, replicas: 2, progressDeadlineSeconds: 3, rollback: {policy: OnFailure}}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.want(0, []string{"set", "image", "web", "example.com/simulate/image-pull-error:2"})
	p.eventually("the rollback", func() bool { return p.isRolledBack() && p.updated(kube) == 2 })
	spec, before := p.get("web").Spec, p.pods(kube)
	want := "error: " + p.namespace + "/web: revision 2 failed and was rolled back, and a restart would try it again. To try it again, change the pods in the spec, such as by an annotation in spec.podMetadata; " +
		"to restart what runs, which is revision 1: kubectl -n " + p.namespace + " rollout restart deployment/web\n"
	if r := p.want(2, []string{"restart", "web"}); r.stderr != want {
		t.Errorf("%q, want %q", r.stderr, want)
	}
	if diff := cmp.Diff(spec, p.get("web").Spec); diff != "" {
		t.Errorf("a refused restart changes the spec:\n%s", diff)
	}

	p.restartByKubectl(kube, time.Now())
	p.eventually("other pods", func() bool {
		after := p.pods(kube)
		return p.updated(kube) == 2 && len(after) == 2 && !slices.ContainsFunc(after, func(pod string) bool { return slices.Contains(before, pod) })
	})
	p.want(0, []string{"scale", "web", "--replicas=3"})
	p.eventually("three pods of the restart", func() bool {
		template := p.deployment(kube).Spec.Template
		return p.updated(kube) == 3 && template.Annotations[v1.AnnotationRestartedAt] != "" && template.Spec.Containers[0].Image == "example.com/web:1" && p.isRolledBack()
	})
}

// isRolledBack reports whether the present spec is rolled back to revision 1.
func (p *plugin) isRolledBack() bool {
	p.Helper()
	application := p.get("web")
	status := application.Status.Revision
	return application.Status.ObservedGeneration == application.Generation && status != nil && status.Current == 1 && status.RolledBackFrom == 2 &&
		meta.IsStatusConditionTrue(application.Status.Conditions, v1.ConditionRolledBack)
}

// TestResumeNamesFields: resume names the fields that replace the pods.
func TestResumeNamesFields(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.create("web", "{image: example.com/web:1, replicas: 3}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.want(0, []string{"pause", "web"})
	p.want(0, []string{"set", "image", "web", "example.com/web:2"}, "It waits while rollouts are paused.")
	p.eventually("the image to wait", func() bool { return p.updated(kube) == 0 })
	p.want(0, []string{"resume", "web", "--dry-run=client"}, "rollouts go on\n  All 3 pods are replaced, because of containers[web].image: a paused rollout goes on.\n")
}

// TestResumeStartsPods: resume says how many pods it starts if the Deployment was created while rollouts were paused.
func TestResumeStartsPods(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1, replicas: 3, paused: true}")
	p.eventually("the Deployment", func() bool {
		live, err := kubernetes.NewForConfigOrDie(p.cluster.Config()).AppsV1().Deployments(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && live.Status.ObservedGeneration == live.Generation
	})
	p.want(0, []string{"resume", "web", "--dry-run=client"}, "rollouts go on\n  3 pods are started, because a paused rollout goes on.\n")
}

// TestDiffSetsReplicas: the Deployment's number of pods goes to the one that the file sets, where the spec left it open.
func TestDiffSetsReplicas(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	for image, want := range map[string]string{
		"example.com/web:1": "no pod is replaced; the desired number of pods goes from 1 to 3.\n",
		"example.com/web:2": "1 pod is replaced, because of containers[web].image. The desired number of pods goes from 1 to 3.\n",
	} {
		file := []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: '" + image + "', replicas: 3}}")
		if r := p.runIn(file, "diff", "-f", "-"); r.code != 1 || !strings.HasPrefix(r.stdout, p.namespace+"/web: "+want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}
