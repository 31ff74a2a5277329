// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// TestEdit makes the typed edits, one after the other.
func TestEdit(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1, replicas: 2}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	name := p.namespace + "/web: "

	p.want(0, []string{"scale", "web", "--replicas=3", "--dry-run=server"}, name+"replicas 2 → 3", "the desired number of pods goes from 2 to 3", "not written (server dry run)")
	p.want(2, []string{"scale", "web", "--replicas=3", "--current-replicas=1"})
	if replicas := *p.get("web").Spec.Replicas; replicas != 2 {
		t.Fatalf("%d replicas after a dry run and a refused edit, want 2", replicas)
	}
	const tag = "Warning: 1.3 is taken as an image: if it is a tag, write the image before it, as in example.com/web:1.3\n"
	if r := p.want(0, []string{"set", "image", "web", "1.3", "--dry-run=client"}, "image of container web: example.com/web:1 → 1.3"); !strings.Contains(r.stderr, tag) {
		t.Errorf("no %q in %q", tag, r.stderr)
	}
	p.want(0, []string{"set", "image", "web", "example.com/web:2"}, "image of container web: example.com/web:1 → example.com/web:2",
		"All 2 pods are replaced, because of containers[web].image.", "  written")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "revision 2")
	p.eventually("revision 2 to be healthy", func() bool { return p.get("web").Status.Revision.LastHealthy == 2 })
	p.want(0, []string{"history", "web", "--no-headers"}, "example.com/web:2   current, last healthy", "example.com/web:1   was healthy")
	p.want(0, []string{"undo", "web"}, "the pods of revision 1 (example.com/web:1) in the spec\n")
	if image := p.get("web").Spec.Image; image != "example.com/web:1" {
		t.Errorf("the image is %s after undo", image)
	}
	p.want(2, []string{"undo", "web", "--to-revision=9"})
	p.want(0, []string{"pause", "web"}, "rollouts are paused")
	p.want(0, []string{"pause", "web"}, "unchanged")
	p.want(0, []string{"restart", "-l", "!none"}, "a restart of the pods", "It waits while rollouts are paused.")
	p.want(0, []string{"observe", "web"}, "reconcilePolicy: Observe")
	p.want(0, []string{"resume", "web"}, "rollouts go on; Fairlead enforces the children again")
	if spec := p.get("web").Spec; spec.Paused != nil || spec.ReconcilePolicy != "Enforce" {
		t.Errorf("paused %v, reconcilePolicy %s after resume", spec.Paused, spec.ReconcilePolicy)
	}
}

// TestWhatWaits: a change that was made while Fairlead did nothing takes effect when it is resumed, and undo goes back to
// what runs while the spec is not carried out.
func TestWhatWaits(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1, replicas: 2}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	for _, stop := range []string{"suspend", "observe"} {
		p.want(0, []string{stop, "web"})
		p.want(0, []string{"set", "image", "web", "example.com/web:2"}, "Until it is resumed, no pod is replaced.")
		p.want(0, []string{"resume", "web", "--dry-run=client"}, "All 2 pods are replaced, because of", "image")
		p.want(0, []string{"set", "image", "web", "example.com/web:1"})
		p.want(0, []string{"resume", "web"}, "No pod is replaced.")
	}

	patch := []byte(`{"spec":{"rollback":{"policy":"OnFailure"},"envFrom":[{"secretRef":{"name":"later"}}]}}`)
	if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the Secret to be missed", func() bool { return strings.Contains(p.run("get", "web").stdout, "ConfigMissing") })
	same := []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: 'example.com/web:1'}}")
	if r := p.runIn(same, "diff", "-f", "-"); r.code != 0 || !strings.HasPrefix(r.stdout, p.namespace+"/web: nothing changes. What is stored already waits: Secret later does not exist") {
		t.Errorf("a file that changes nothing: %+v", r)
	}
	p.want(1, []string{"why", "web"}, "New pods that need it wait. The policy OnFailure does not roll back for that: the running pods stay as they are, and the change waits.\n",
		"\n   → Or go back to revision 1, the last one that was healthy: kubectl fairlead -n "+p.namespace+" undo web --to-revision=1\n")
	p.want(0, []string{"undo", "web"}, "the pods of revision 1 (example.com/web:1) in the spec", "No pod is replaced.")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "Ready")
}

// TestResumeKeepsRestart: resume replaces no pod because of a restart before the last kubectl rollout restart, and says so.
func TestResumeKeepsRestart(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.create("web", "{image: example.com/web:1, replicas: 2}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.want(0, []string{"restart", "web"}, "All 2 pods are replaced, because of the pod annotation kubectl.kubernetes.io/restartedAt.")
	p.eventually("revision 2 to be healthy", func() bool { return p.lastHealthy("web") == 2 })
	later := time.Now().Add(time.Minute).Format(time.RFC3339)
	restart := []byte(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"` + later + `"}}}}}`)
	if _, err := kube.AppsV1().Deployments(p.namespace).Patch(t.Context(), "web", types.StrategicMergePatchType, restart, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, stop := range []string{"observe", "suspend"} {
		p.want(0, []string{stop, "web"})
		p.want(0, []string{"resume", "web", "--dry-run=client"}, " → Enforce)\n  No pod is replaced.\n")
	}
	if _, err := kube.AppsV1().Deployments(p.namespace).Patch(t.Context(), "web", types.StrategicMergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.want(0, []string{"resume", "web"}, "  No pod is replaced; the desired number of pods goes from 3 to 2.\n")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "Ready")
	p.eventually("two pods, restarted last by kubectl", func() bool {
		live := p.deployment(kube)
		return *live.Spec.Replicas == 2 && live.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] == later
	})
}

// TestScaleWithoutReplicas: where the spec leaves the number of pods out, the cluster knows it.
func TestScaleWithoutReplicas(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "Ready")
	p.want(0, []string{"scale", "web", "--replicas=3"}, "replicas 1 → 3\n  No pod is replaced; the desired number of pods goes from 1 to 3.\n  written\n")
}

// TestUndoOfStuckRollout: the pods of the former ReplicaSet, which the rollout has not replaced, stay.
func TestUndoOfStuckRollout(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	p.create("web", "{image: example.com/web:1, replicas: 2}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	before := p.pods(kube)
	p.want(0, []string{"set", "image", "web", "example.com/simulate/image-pull-error:2"}, "All 2 pods are replaced, because of containers[web].image.")
	p.eventually("the rollout to be stuck", func() bool {
		live, err := kube.AppsV1().Deployments(p.namespace).Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && live.Status.Replicas == 3 && live.Status.UpdatedReplicas == 1 && p.get("web").Status.Revision.Current == 2
	})
	p.want(1, []string{"status", "web"}, "Image        example.com/web:1 runs; the spec says example.com/simulate/image-pull-error:2")
	p.want(0, []string{"undo", "web"}, "1 pod is stopped, and none is started: the others are of that revision already.")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "Ready")
	p.eventually("the failed pod to be gone", func() bool { return slices.Equal(before, p.pods(kube)) })
}

// TestUndoLeavesFailuresOut: neither a revision that failed, nor a restart, is a way back, also not if the Application is pinned to it.
func TestUndoLeavesFailuresOut(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1, replicas: 1}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.want(0, []string{"set", "image", "web", "example.com/simulate/image-pull-error:2"})
	p.eventually("revision 2 to fail", func() bool { return strings.Contains(p.run("get", "web").stdout, "ImagePullFailed") })
	p.want(1, []string{"why", "web"}, "Or go back to revision 1, the last one that was healthy: kubectl fairlead -n "+p.namespace+" undo web --to-revision=1\n")
	if r := p.want(0, []string{"undo", "web"}, p.namespace+"/web: the pods of revision 1 (example.com/web:1) in the spec\n"); strings.Contains(r.stdout, "healthy") {
		t.Errorf("undo warns of what is healthy: %s", r.stdout)
	}
	p.eventually("revision 3 to be healthy", func() bool { return p.lastHealthy("web") == 3 })
	p.want(0, []string{"history", "web", "--no-headers"}, "example.com/web:1                         current, last healthy", "example.com/simulate/image-pull-error:2   never healthy")
	const none = "there is no former revision to go back to that was healthy. To go back to one that was not, name it with --to-revision: 2\n"
	if r := p.want(2, []string{"undo", "web"}); !strings.Contains(r.stderr, none) {
		t.Errorf("%q, want %q", r.stderr, none)
	}

	p.pin("web", "2")
	p.eventually("revision 2 to fail again", func() bool { return strings.Contains(p.run("get", "web").stdout, "ImagePullFailed") })
	p.want(1, []string{"why", "web"}, "1. Revision 2 runs, because spec.rollback.toRevision names it, whatever else the spec says about the pods.",
		"kubectl -n "+p.namespace+` patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"rollback":{"toRevision":null}}}'`,
		"undo web --to-revision=3\n")
	p.want(0, []string{"history", "web", "--no-headers"}, "current, pinned")
	p.want(0, []string{"undo", "web", "--to-revision=2", "--dry-run=client"}, "revision 2 runs, and has not been healthy since it was rolled out")
	p.want(0, []string{"undo", "web"}, "the pods of revision 3 (example.com/web:1) in the spec; rollback.toRevision 2 is removed\n")
	if spec := p.get("web").Spec; spec.Image != "example.com/web:1" || spec.Rollback != nil {
		t.Errorf("after undo the image is %s, and rollback %+v", spec.Image, spec.Rollback)
	}

	p.want(0, []string{"set", "image", "web", "example.com/web:4"})
	p.eventually("revision 4 to be healthy", func() bool { return p.lastHealthy("web") == 4 })
	p.want(0, []string{"restart", "web"})
	p.eventually("revision 5 to be healthy", func() bool { return p.lastHealthy("web") == 5 })
	p.want(0, []string{"history", "web", "--no-headers"}, "current, last healthy, restart of 4")
	p.want(0, []string{"undo", "web"}, "the pods of revision 3 (example.com/web:1) in the spec\n")
}

// TestHealthyRevisionsAreRemembered: history tells which former revisions were healthy, and undo goes back to the newest of
// them, also after a restart of the controller, and when no ReplicaSet or pod shows it any more.
func TestHealthyRevisionsAreRemembered(t *testing.T) {
	p := start(t)
	const bad = "example.com/simulate/image-pull-error:3"
	p.create("web", "{image: example.com/web:1, replicas: 1}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.want(0, []string{"set", "image", "web", "example.com/web:2"})
	p.eventually("revision 2 to be healthy", func() bool { return p.lastHealthy("web") == 2 })
	p.want(0, []string{"set", "image", "web", bad})
	p.eventually("revision 3 to fail", func() bool { return strings.Contains(p.run("get", "web").stdout, "ImagePullFailed") })
	p.wantHistory("web", "3 "+bad+" current", "2 example.com/web:2 last healthy", "1 example.com/web:1 was healthy")
	p.want(0, []string{"set", "image", "web", "example.com/web:4"})
	p.eventually("revision 4 to be healthy", func() bool { return p.lastHealthy("web") == 4 })

	p.stop()
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	if err := kube.AppsV1().ReplicaSets(p.namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	p.control()
	p.want(0, []string{"scale", "web", "--replicas=2"})
	p.eventually("the controller to be back", func() bool { return p.lastHealthy("web") == 4 && *p.deployment(kube).Spec.Replicas == 2 })
	p.wantHistory("web", "4 example.com/web:4 current, last healthy", "3 "+bad+" never healthy", "2 example.com/web:2 was healthy", "1 example.com/web:1 was healthy")
	p.want(0, []string{"undo", "web", "--to-revision=3", "--dry-run=client"}, "revision 3 was never healthy\n")
	p.want(0, []string{"undo", "web"}, "the pods of revision 2 (example.com/web:2) in the spec\n")
}

// wantHistory compares the revisions and their states, without their ages.
func (p *plugin) wantHistory(name string, want ...string) {
	p.Helper()
	var got []string
	for line := range strings.Lines(p.want(0, []string{"history", name, "--no-headers"}).stdout) {
		fields := strings.Fields(line)
		got = append(got, strings.Join(fields[:len(fields)-1], " "))
	}
	if !slices.Equal(got, want) {
		p.Errorf("the history is %q, want %q", got, want)
	}
}

// lastHealthy is the number of the last healthy revision, once it is the one of the present spec.
func (p *plugin) lastHealthy(name string) int64 {
	application := p.get(name)
	if revision := application.Status.Revision; revision != nil && application.Status.ObservedGeneration == application.Generation {
		return revision.LastHealthy
	}
	return 0
}

// pin sets spec.rollback.toRevision.
func (p *plugin) pin(name, revision string) {
	p.Helper()
	patch := []byte(`{"spec":{"rollback":{"toRevision":` + revision + `}}}`)
	if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(p.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		p.Fatal(err)
	}
}

// TestNamesWhatHoldsPods: an edit says that new pods wait for a Secret, or that the pods stay at a revision, and so does status.
func TestNamesWhatHoldsPods(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "db"}, StringData: map[string]string{"password": "x"}}
	if _, err := kube.CoreV1().Secrets(p.namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.create("web", "{image: example.com/web:1, replicas: 2, envFrom: [{secretRef: {name: db}}]}")
	p.create("new", "{image: example.com/web:1, replicas: 2, envFrom: [{secretRef: {name: none}}]}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.eventually("the other Secret to be missed", func() bool { return strings.Contains(p.run("get", "new").stdout, "ConfigMissing") })
	p.want(0, []string{"restart", "new", "--dry-run=client"}, "a restart of the pods\n  The Deployment does not exist, so no pod is replaced. 2 pods start once it can be written. That waits: Secret none does not exist; no pod starts without it.\n")
	p.want(0, []string{"set", "image", "web", "example.com/web:2"}, "All 2 pods are replaced")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "revision 2")

	p.pin("web", "1")
	const pinned = "The pods stay at revision 1 until you remove spec.rollback.toRevision."
	p.want(0, []string{"set", "image", "web", "example.com/web:3"}, "No pod is replaced. "+pinned)
	p.want(0, []string{"restart", "web", "--dry-run=client"}, "No pod is replaced. "+pinned)
	p.want(0, []string{"scale", "web", "--replicas=3"}, "the desired number of pods goes from 2 to 3. "+pinned)
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "Image        example.com/web:1 runs; the spec says example.com/web:3",
		"the pods stay at revision 1, whatever the spec says about them (spec.rollback.toRevision)")
	file := []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: 'example.com/web:4'}}")
	if r := p.runIn(file, "diff", "-f", "-"); r.stdout != p.namespace+"/web: nothing changes. "+pinned+"\n" {
		t.Errorf("diff: %+v", r)
	}
	p.want(2, []string{"undo", "web", "--to-revision=-1"})
	if r := p.want(0, []string{"undo", "web"}, "the pods of revision 1 (example.com/web:1) in the spec; rollback.toRevision 1 is removed", "No pod is replaced."); strings.Contains(r.stdout, pinned) {
		t.Errorf("undo removes toRevision, and says %q", r.stdout)
	}
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})

	if err := kube.CoreV1().Secrets(p.namespace).Delete(t.Context(), "db", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the Secret to be missed", func() bool { return strings.Contains(p.run("get", "web").stdout, "ConfigMissing") })
	p.want(0, []string{"scale", "web", "--replicas=2", "--dry-run=client"}, "the desired number of pods goes from 3 to 2.\n")
	p.want(0, []string{"restart", "web"}, "All 3 pods are replaced, because of", "That waits: Secret db does not exist; running pods stay as they are, and new ones that need it wait.")
	const goesOn = "No pod is replaced; the desired number of pods goes from 3 to 5. The earlier change of the pods (the pod annotation kubectl.kubernetes.io/restartedAt) goes on waiting: " +
		"Secret db does not exist; running pods stay as they are, and new ones that need it wait.\n"
	p.eventually("the restart to wait", func() bool {
		return strings.Contains(p.run("scale", "web", "--replicas=5", "--dry-run=client").stdout, goesOn)
	})
	p.want(0, []string{"scale", "web", "--replicas=0", "--dry-run=client"}, "No pod is replaced; the desired number of pods goes from 3 to 0.\n")
	p.want(0, []string{"set", "image", "web", "example.com/web:5", "--dry-run=client"}, "All 3 pods are replaced, because of containers[web].image, ")

	p.want(0, []string{"suspend", "web"})
	p.want(1, []string{"status", "web", "--watch", "--timeout=60s"}, p.namespace+"/web  Suspended\n")
}

// TestTenant: a user with permissions in one namespace may list no classes, and no kinds that the cluster does not serve. An
// Application that has none of them needs neither.
func TestTenant(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config()).RbacV1()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "tenant"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"", "apps", "apps.fairlead.dev", "autoscaling", "discovery.k8s.io", "events.k8s.io", "networking.k8s.io", "policy"},
		Resources: []string{"*"}, Verbs: []string{"*"},
	}}}
	if _, err := kube.Roles(p.namespace).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	user := "tenant-of-" + p.namespace
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "tenant"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "tenant"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: user}},
	}
	if _, err := kube.RoleBindings(p.namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.create("web", "{image: example.com/web:1, replicas: 2}")
	as := "--as=" + user
	p.eventually("the permissions", func() bool { return p.run("get", "web", as).code == 0 })
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})

	if r := p.want(0, []string{"status", "web", as}, "2 Ready"); strings.Contains(r.stdout, "Not shown") {
		t.Errorf("%s", r.stdout)
	}
	p.want(0, []string{"set", "image", "web", "example.com/web:2", "--dry-run=server", as}, "All 2 pods are replaced, because of containers[web].image.")
	file := []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: 'example.com/web:2'}}")
	if r := p.runIn(file, "diff", "-f", "-", as); r.code != 1 || !strings.Contains(r.stdout, "all 2 pods are replaced") {
		t.Errorf("diff: %+v", r)
	}
	file = []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: 'example.com/web:2', className: standard}}")
	if r := p.runIn(file, "diff", "-f", "-", as); r.code != 2 || !strings.Contains(r.stderr, "or pass the classes as files with --class-file") {
		t.Errorf("diff with a class: %+v", r)
	}
	p.want(0, []string{"eject", "web", "--dry-run=client", as}, "Deployment web")

	p.leaveBehind("old")
	const advice = "or pass the classes as files with --class-file; an empty directory, if there are none.\n"
	if r := p.want(2, []string{"adopt", "old", "--harden", as}); !strings.HasSuffix(r.stderr, advice) || strings.Contains(r.stderr, "another --context or --namespace") {
		t.Errorf("adopt: %q", r.stderr)
	}
	p.want(0, []string{"adopt", "old", "--harden", "--accept=.spec.containers[old].tty", "--class-file=" + t.TempDir(), "--dry-run=client", as}, "will be replaced once you release")
}

// TestFiles looks at files beside the cluster, and without it.
func TestFiles(t *testing.T) {
	p := start(t)
	application := p.create("web", "{image: example.com/web:1, replicas: 2}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	file := func(image string) []byte {
		return []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: '" + image + "', replicas: 2}}")
	}
	for image, want := range map[string]result{
		application.Spec.Image: {stdout: p.namespace + "/web: nothing changes.\n"},
		"example.com/web:2":    {stdout: "all 2 pods are replaced, because of containers[web].image", code: 1},
		"":                     {stdout: "spec.image", stderr: "error: the file breaks a rule", code: 2},
	} {
		r := p.runIn(file(image), "diff", "-f", "-")
		if r.code != want.code || !strings.Contains(r.stdout, want.stdout) || !strings.HasPrefix(r.stderr, want.stderr) {
			t.Errorf("diff of image %q: %+v, want %+v", image, r, want)
		}
	}
	both := append(append(file("example.com/web:2"), "\n---\n"...), []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: api}, spec: {image: api}}")...)
	if r := p.runIn(both, "diff", "-f", "-"); r.code != 1 || !strings.Contains(r.stdout, p.namespace+"/web: all 2 pods are replaced") || !strings.Contains(r.stdout, "\n\n"+p.namespace+"/api: ") {
		t.Errorf("diff of two Applications in a file: %+v", r)
	}
	p.want(0, []string{"scale", "web", "--replicas=3"})
	without := []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: '" + application.Spec.Image + "'}}")
	if r := p.runIn(without, "diff", "-f", "-"); r.code != 0 || !strings.Contains(r.stdout, "nothing changes") {
		t.Errorf("diff of a file without replicas: %+v, want that it leaves them", r)
	}
	if r := p.runIn([]byte("{apiVersion: apps.fairlead.dev/v1, kind: App, metadata: {name: web}}"), "lint", "-f", "-"); r.code != 1 || !strings.Contains(r.stdout, `kind: Unsupported value: "App"`) {
		t.Errorf("lint of an unknown kind: %+v", r)
	}
	if r := p.runIn([]byte("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}"), "lint", "-f", "-"); r.code != 2 || !strings.Contains(r.stderr, "there is no Application") {
		t.Errorf("lint of another kind: %+v", r)
	}
	elsewhere := []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web, namespace: elsewhere}, spec: {image: web}}")
	refusal := "error: the Application of the file is in namespace elsewhere, and --namespace is " + p.namespace + ": leave out --namespace, or correct the file\n"
	if r := p.runIn(elsewhere, "diff", "-f", "-"); r.code != 2 || r.stderr != refusal {
		t.Errorf("diff of a file of another namespace: %+v", r)
	}
	other := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(other, []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: other}, spec: {image: web}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := p.runIn(file("web:1"), "diff", "-f", "-", "--from="+other); r.code != 2 || r.stderr != "error: the files are about two Applications, other and web: compare two versions of one\n" {
		t.Errorf("diff of two Applications: %+v", r)
	}
	classless := []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: web, className: none}}")
	const waits = "error: the Application would wait for its class (ClassNotFound): spec.className: Not found: \"none\": there is no ApplicationClass of this name: name one that exists, or create it\n"
	if r := p.runIn(classless, "render", "-f", "-"); r.code != 2 || r.stderr != waits {
		t.Errorf("render of a class that does not exist: %+v", r)
	}
	// Offline, whatever the context.
	offline := []string{"-f", "-", "--context=none"}
	if r := p.runIn(file("web:1"), append([]string{"render", "--class-file=../../artifacts/examples/classes", "-o", "name"}, offline...)...); r.code != 0 || !strings.Contains(r.stdout, "deployment.apps/web\n") {
		t.Errorf("render: %+v", r)
	}
	if r := p.runIn(file(""), append([]string{"lint", "-o", "sarif"}, offline...)...); r.code != 1 || !strings.Contains(r.stdout, `"ruleId": "schema"`) {
		t.Errorf("lint: %+v", r)
	}
}
