// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// onFailure is the beginning of the spec of an Application that soon gives up and goes back.
const onFailure = "progressDeadlineSeconds: 3, rollback: {policy: OnFailure}"

// bad is an image that cannot be pulled.
const bad = "registry.example.com/simulate/image-pull-error:"

// revisions returns the images of the Application's revisions with their numbers, in order, as any user can list
// them.
func (e *env) revisions(application string) []string {
	e.Helper()
	list, err := e.kube.AppsV1().ControllerRevisions(e.namespace).List(e.Context(), metav1.ListOptions{LabelSelector: v1.LabelApplication + "=" + application})
	if err != nil {
		e.Fatalf("list ControllerRevisions: %v", err)
	}
	slices.SortFunc(list.Items, func(a, b appsv1.ControllerRevision) int { return cmp.Compare(a.Revision, b.Revision) })
	var images []string
	for _, revision := range list.Items {
		_, image, _ := strings.Cut(string(revision.Data.Raw), `"image":"`)
		image, _, _ = strings.Cut(image, `"`)
		images = append(images, fmt.Sprintf("%d %s", revision.Revision, image[strings.LastIndex(image, "/")+1:]))
	}
	return images
}

func (e *env) wantRevisions(application string, want ...string) {
	e.Helper()
	e.eventually(fmt.Sprintf("the revisions of %s are %q", application, want), func() (bool, string) {
		got := e.revisions(application)
		return slices.Equal(got, want), fmt.Sprint(got)
	})
}

// wantNumbers compares status.revision.
func (e *env) wantNumbers(application string, want v1.RevisionStatus) {
	e.Helper()
	e.waitApplication(application, fmt.Sprintf("revision is %+v", want), func(a *v1.Application) bool {
		return gocmp.Equal(a.Status.Revision, &want)
	})
}

func withImage(image string) func(*env, string) {
	return editing(func(spec *v1.ApplicationSpec) { spec.Image = image })
}

// takenBack is one whose former revision serves again.
func takenBack(message string) standing {
	return standing{
		ready: "False/RolledBack", also: v1.ConditionStalled, kstatus: kstatus.FailedStatus, message: message,
		others: append(slices.Clone(serving), "RolledBack=True/RolledBack"),
	}
}

// notTakenBack is one whose rollout failed while its former pods serve.
func notTakenBack(reason, why, message string) standing {
	s := because(reason, neverWorked, message, append(slices.Clone(replaceStuck), "RolledBack=False/"+why)...)
	return s
}

func TestRollback(t *testing.T) {
	t.Parallel()
	e := start(t)
	h := e.record()
	for name, test := range map[string]struct {
		steps []step
		// numbers and history are those at the end.
		numbers v1.RevisionStatus
		history []string
	}{
		"bad-image": {
			steps: []step{
				{applySpec(onFailure), oneReady},
				{withImage(bad + "2"), takenBack("Revision 2 (" + bad + "2) failed: ImagePullFailed: 1 pod, container bad-image: failed to pull")},
			},
			numbers: v1.RevisionStatus{Current: 1, LastHealthy: 1, RolledBackFrom: 2},
			history: []string{"1 web:1", "2 image-pull-error:2"},
		},
		"scaled-meanwhile": {
			steps: []step{
				{applySpec(onFailure), oneReady},
				{withImage(bad + "2"), takenBack("1 pod is available at revision ")},
				// What does not concern the pods changes nothing about it.
				{editing(func(spec *v1.ApplicationSpec) { spec.Replicas = new(int32(2)) }), takenBack("All 2 pods are available")},
				{withImage("registry.example.com/web:3"), allReady(2)},
			},
			numbers: v1.RevisionStatus{Current: 3, LastHealthy: 3, FormerHealthy: []int64{1}},
			history: []string{"1 web:1", "2 image-pull-error:2", "3 web:3"},
		},
		"back-to-the-former-spec": {
			steps: []step{
				{applySpec(onFailure), oneReady},
				{withImage(bad + "2"), takenBack("1 pod is available at revision ")},
				{withImage("registry.example.com/web:1"), oneReady},
			},
			numbers: v1.RevisionStatus{Current: 3, LastHealthy: 3},
			history: []string{"2 image-pull-error:2", "3 web:1"},
		},
		"two-bad-ones": {
			steps: []step{
				{applySpec(onFailure), oneReady},
				{withImage(bad + "2"), takenBack("Revision 2 (" + bad + "2) failed")},
				{withImage(bad + "3"), takenBack("Revision 3 (" + bad + "3) failed")},
				// The first of them again is another edit, and tried again.
				{withImage(bad + "2"), takenBack("Revision 4 (" + bad + "2) failed")},
			},
			numbers: v1.RevisionStatus{Current: 1, LastHealthy: 1, RolledBackFrom: 4},
			history: []string{"1 web:1", "3 image-pull-error:3", "4 image-pull-error:2"},
		},
		"crash-loop-of-two": {
			steps: []step{
				{applySpec(onFailure + ", replicas: 2"), allReady(2)},
				{editing(func(spec *v1.ApplicationSpec) { misbehave(spec, "crash-loop") }), takenBack("failed: CrashLooping: ")},
			},
			numbers: v1.RevisionStatus{Current: 1, LastHealthy: 1, RolledBackFrom: 2},
			history: []string{"1 web:1", "2 web:1"},
		},
		"never": {
			steps: []step{
				{applySpec("progressDeadlineSeconds: 3"), oneReady},
				{withImage(bad + "2"), because("ImagePullFailed", neverWorked, "has timed out progressing", replaceStuck...)},
				{editing(func(spec *v1.ApplicationSpec) { spec.Rollback = &v1.Rollback{Policy: v1.RollbackOnFailure} }), takenBack("Revision 2 (")},
			},
			numbers: v1.RevisionStatus{Current: 1, LastHealthy: 1, RolledBackFrom: 2},
			history: []string{"1 web:1", "2 image-pull-error:2"},
		},
		"never-healthy": {
			steps: []step{
				{applySpec(onFailure + ", " + misbehaving("crash-loop")), because("CrashLooping", neverWorked, "has timed out progressing",
					append(notServing("CrashLooping", isLate), "RolledBack=False/NoHealthyRevision")...)},
				{editing(behave), oneReady},
			},
			numbers: v1.RevisionStatus{Current: 2, LastHealthy: 2},
			history: []string{"1 web:1", "2 web:1"},
		},
		"unschedulable": {
			steps: []step{
				{applySpec(onFailure), oneReady},
				{
					editing(func(spec *v1.ApplicationSpec) { spec.NodeSelector = map[string]string{behavior: "unschedulable"} }),
					notTakenBack("Unschedulable", "NotCausedByRevision", "has timed out progressing"),
				},
				{editing(func(spec *v1.ApplicationSpec) { spec.NodeSelector = nil }), oneReady},
			},
			numbers: v1.RevisionStatus{Current: 3, LastHealthy: 3},
			history: []string{"2 web:1", "3 web:1"},
		},
		"rule-about-a-new-port": {
			steps: []step{
				{applySpec(onFailure + ", ports: [{name: http, containerPort: 8080}]"), oneReady},
				{
					editing(func(spec *v1.ApplicationSpec) {
						spec.Image, spec.Ports[0].Name = bad+"2", "web"
						spec.NetworkPolicy = &v1.NetworkPolicy{Ingress: []v1.NetworkPolicyIngressRule{{
							From: []v1.NetworkPolicyPeer{{Application: &v1.ApplicationReference{Name: "shop"}}}, Ports: []string{"web"},
						}}}
					}),
					notTakenBack("ImagePullFailed", "RevisionRefused", "has timed out progressing"),
				},
			},
			numbers: v1.RevisionStatus{Current: 2, LastHealthy: 1},
			history: []string{"1 web:1", "2 image-pull-error:2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := e.sub(t)
			h.follow(e, name, test.steps...)
			e.wantNumbers(name, test.numbers)
			e.wantRevisions(name, test.history...)
		})
	}
}

// TestPausedIsNotRolledBack stops a rollout that has failed, and then lets it go on.
func TestPausedIsNotRolledBack(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.record().follow(e, "web",
		step{applySpec(onFailure), oneReady},
		step{editing(func(spec *v1.ApplicationSpec) { spec.Image, spec.Paused = bad+"2", new(true) }), standing{
			ready: "False/Paused", kstatus: kstatus.InProgressStatus, message: "Rollout paused by spec.paused.",
			others: []string{"Available=True/MinimumReplicasAvailable", "Progressing=Unknown/DeploymentPaused", "Paused=True/Paused"},
		}},
		step{editing(func(spec *v1.ApplicationSpec) { spec.Paused = nil }), takenBack("Revision 2 (" + bad + "2) failed")},
	)
}

// TestF24RollbackSurvivesARestart restarts the controller over an Application that was rolled back: it writes
// and reads nothing. Each failed revision got its pods once, and once only.
func TestF24RollbackSurvivesARestart(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	h := e.record()
	e.run(e.ownAgent)
	cursor := e.cluster.AuditCursor(t)
	applySpec(onFailure)(e, "web")
	e.waitReady("web")
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = bad + "2" })
	e.waitCondition("web", v1.ConditionRolledBack, metav1.ConditionTrue, v1.ReasonRolledBack)
	e.requests(cursor)
	e.stop()

	restart, from := e.cluster.AuditCursor(t), e.log.len()
	e.run(e.ownAgent)
	e.waitSynced([]string{"web"}, from, "Synced", 1)
	for _, event := range e.requests(restart) {
		if event.Name != "" && event.Resource != "customresourcedefinitions" { // Those are watched by name.
			t.Errorf("a request after the restart: %s", event)
		}
	}
	// Its Deployment: converted once, and applied for the failed revision and for the former one.
	if applied := len(e.written(cursor, func(event *controlplane.AuditEvent) bool {
		return event.Resource == child.Deployment.Resource && event.Verb == "patch"
	})); applied != 3 {
		t.Errorf("%d patches of the Deployment, want 3", applied)
	}
	if told := e.events("web", v1.ReasonRolledBack); len(told) != 1 {
		t.Errorf("%d Events tell the rollback: %v", len(told), told)
	}
	// Others delete the Deployment, and with it what was written on it. The status still says why.
	former := len(h.of("web", 0))
	why := meta.FindStatusCondition(e.application("web").Status.Conditions, v1.ConditionRolledBack).Message
	e.deleteChild(child.Deployment, "web")
	e.waitFields(child.Deployment, "web", fields{"spec.template.spec.containers[0].image": "registry.example.com/web:1"})
	if failed := "Revision 2 (" + bad + "2) failed: ImagePullFailed: "; !strings.HasPrefix(why, failed) {
		t.Errorf("the rollback was because of %q, want %q at the beginning", why, failed)
	}
	want := takenBack(why + " 1 pod is available at revision ")
	e.eventually("it stays taken back", func() (bool, string) {
		later := h.of("web", former)
		return slices.ContainsFunc(later, func(v version) bool { return want.differs(e, v) == "" }), fmt.Sprint(len(later))
	})
	if got := e.revisions("web"); !slices.Equal(got, []string{"1 web:1", "2 image-pull-error:2"}) {
		t.Errorf("the revisions are %q", got)
	}
}

// TestRevisionHistory changes the pods a number of times, and looks at what is kept.
func TestRevisionHistory(t *testing.T) {
	t.Parallel()
	e := start(t)
	applySpec("revisionHistoryLimit: 2, ports: [{name: http, containerPort: 8080}]")(e, "web")
	e.waitReady("web")
	for i := 2; i <= 5; i++ {
		e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = fmt.Sprintf("registry.example.com/web:%d", i) })
		e.waitReady("web")
	}
	e.wantRevisions("web", "3 web:3", "4 web:4", "5 web:5")
	e.wantNumbers("web", v1.RevisionStatus{Current: 5, LastHealthy: 5, FormerHealthy: []int64{4, 3}})

	cursor := e.cluster.AuditCursor(t)
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Replicas, spec.MinReadySeconds = new(int32(2)), new(int32(1)) })
	e.waitReady("web")
	for _, event := range e.written(cursor) {
		if event.Resource == child.ControllerRevision.Resource {
			t.Errorf("it is no change of the pods, but: %s", event)
		}
	}

	// The port of the Service is none either. The revision that runs takes note of it.
	current := get[appsv1.Deployment](e, "web").Annotations[v1.AnnotationRevision]
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Ports[0].ServicePort = new(int32(80)) })
	e.eventually("the revision has the port of the Service", func() (bool, string) {
		got := get[appsv1.ControllerRevision](e, current).Annotations[v1.AnnotationServicePorts]
		return got == `{"http":{"port":80}}`, got
	})
	e.wantRevisions("web", "3 web:3", "4 web:4", "5 web:5")

	before := e.uids("web")
	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:4" })
	e.waitReady("web")
	e.wantRevisions("web", "3 web:3", "5 web:5", "6 web:4")
	e.wantNumbers("web", v1.RevisionStatus{Current: 6, LastHealthy: 6, FormerHealthy: []int64{5, 3}})
	if diff := gocmp.Diff(before, e.uids("web")); diff != "" {
		t.Errorf("the revisions are other objects (-before +after):\n%s", diff)
	}

	e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.RevisionHistoryLimit = new(int32(0)) })
	e.wantRevisions("web", "6 web:4")
	name := get[appsv1.Deployment](e, "web").Annotations[v1.AnnotationRevision]

	// It is repaired as any child is.
	e.deleteChild(child.ControllerRevision, name)
	e.waitEvent("web", v1.EventDriftRepaired, child.ControllerRevision.Kind, name)
	e.wantRevisions("web", "6 web:4")
	e.patch(child.ControllerRevision, name, types.MergePatchType, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`)
	e.waitFields(child.ControllerRevision, name, fields{`metadata.labels.app\.kubernetes\.io/managed-by`: v1.ManagedBy})
	e.patch(child.ControllerRevision, name, types.MergePatchType, `{"metadata":{"ownerReferences":null}}`)
	e.waitFields(child.ControllerRevision, name, fields{"metadata.ownerReferences[0].name": "web"})
	e.waitReady("web")
	e.wantNumbers("web", v1.RevisionStatus{Current: 6, LastHealthy: 6})
}

// TestHealthyRevisionOfPausedPods goes back to a revision that was healthy while its pods are to be replaced, so that it gets a
// higher number and is not healthy again. It is still the one to roll back to.
func TestHealthyRevisionOfPausedPods(t *testing.T) {
	t.Parallel()
	e := start(t)
	applySpec(onFailure)(e, "web")
	e.waitReady("web")
	e.patch(child.Deployment, "web", types.StrategicMergePatchType, `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-02T15:04:05Z"}}}}}`)
	e.waitReady("web")
	e.editSpec("web", func(spec *v1.ApplicationSpec) {
		spec.Paused = new(true)
		spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{v1.AnnotationRestartedAt: "2026-01-02T15:04:06Z"}}
	})
	e.wantNumbers("web", v1.RevisionStatus{Current: 2, LastHealthy: 1})
	for range 3 {
		e.editSpec("web", func(spec *v1.ApplicationSpec) { spec.PodMetadata = nil })
		e.waitObserved("web")
		e.editSpec("web", func(spec *v1.ApplicationSpec) {
			spec.PodMetadata = &v1.PodMetadata{Annotations: map[string]string{v1.AnnotationRestartedAt: "2026-01-02T15:04:06Z"}}
		})
		e.waitObserved("web")
	}
	e.wantNumbers("web", v1.RevisionStatus{Current: 8, LastHealthy: 7})
	e.editSpec("web", func(spec *v1.ApplicationSpec) {
		spec.PodMetadata, spec.Paused, spec.Image = nil, nil, bad+"2"
	})
	e.waitCondition("web", v1.ConditionRolledBack, metav1.ConditionTrue, v1.ReasonRolledBack)
	e.wantNumbers("web", v1.RevisionStatus{Current: 7, LastHealthy: 7, RolledBackFrom: 9})
}
