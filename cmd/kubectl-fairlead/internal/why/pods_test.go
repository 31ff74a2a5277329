// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestExtent calls no pod the only one while pods of another revision serve.
func TestExtent(t *testing.T) {
	const image, quota = "The image of container web cannot be pulled.", "A ResourceQuota of this namespace allows no more pods."
	for _, test := range []struct {
		name             string
		desired, updated int32
		// failing is how many pods of the former ReplicaSet do not serve.
		failing int32
		// former is how many pods of the former ReplicaSet serve.
		former     int
		rolledBack int64
		problem    v1.Problem
		want       string
	}{
		{name: "the first pod", desired: 1, updated: 1, problem: v1.Problem{Reason: v1.ReasonImagePullFailed, Pods: 1}, want: image + " This concerns its only pod."},
		{name: "the former one fails too", desired: 1, updated: 1, failing: 1, problem: v1.Problem{Reason: v1.ReasonImagePullFailed, Pods: 1}, want: image + " This concerns its only new pod."},
		{name: "one pod is replaced", desired: 1, updated: 1, former: 1, problem: v1.Problem{Reason: v1.ReasonImagePullFailed, Pods: 1}, want: image + " This concerns its only new pod. 1 pod of an older revision still serves."},
		{name: "the first of three is replaced", desired: 3, updated: 1, former: 3, problem: v1.Problem{Reason: v1.ReasonImagePullFailed, Pods: 1}, want: image + " This concerns its only new pod. 3 pods of an older revision still serve."},
		{name: "several are replaced", desired: 8, updated: 4, former: 6, problem: v1.Problem{Reason: v1.ReasonImagePullFailed, Pods: 2}, want: image + " This concerns 2 of 4 new pods. 6 pods of an older revision still serve."},
		{name: "no new pod", desired: 2, former: 2, problem: v1.Problem{Reason: v1.ReasonQuotaExceeded}, want: quota + " 2 pods of an older revision still serve."},
		{name: "back to the former revision", desired: 1, updated: 1, former: 1, rolledBack: 2, problem: v1.Problem{Reason: v1.ReasonImagePullFailed, Pods: 1}, want: image + " This concerns its only new pod. 1 pod of another revision still serves."},
	} {
		t.Run(test.name, func(t *testing.T) {
			loaded := clustertest.Load(t, "image")
			test.problem.Container = "web"
			status := &loaded.Application.Status
			status.DesiredReplicas, status.UpdatedReplicas, status.Problems = test.desired, test.updated, []v1.Problem{test.problem}
			status.Replicas = test.updated + int32(test.former) + test.failing
			status.Revision.RolledBackFrom = test.rolledBack
			former := loaded.ReplicaSets[0].DeepCopy()
			former.Name, former.UID, former.Annotations[child.RevisionAnnotation] = "former", "former", "0"
			loaded.ReplicaSets = append(loaded.ReplicaSets, former)
			serving := loaded.Pods[0].DeepCopy()
			serving.OwnerReferences[0].UID = former.UID
			serving.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}
			serving.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
			for range test.former {
				loaded.Pods = append(loaded.Pods, serving)
			}
			// Those that are about to end, or are not ready, do not count.
			ending, unready := serving.DeepCopy(), serving.DeepCopy()
			ending.DeletionTimestamp, unready.Status.Conditions = &metav1.Time{}, nil
			loaded.Pods = append(loaded.Pods, ending, unready)

			found := why.Explain(loaded).Findings
			for _, finding := range found {
				if finding.Reason == test.problem.Reason {
					if finding.What != test.want {
						t.Errorf("%q, want %q", finding.What, test.want)
					}
					return
				}
			}
			t.Errorf("nothing about the problem: %+v", found)
		})
	}
}

// TestFormerPodsWithoutThePort: the Service leads to its pods by the name of the port, which the former pods lack.
func TestFormerPodsWithoutThePort(t *testing.T) {
	const image = "The image of container web cannot be pulled. This concerns its only new pod."
	named := func(names ...string) (ports []corev1.ServicePort) {
		for i, name := range names {
			ports = append(ports, corev1.ServicePort{Name: name, Port: int32(80 + i), TargetPort: intstr.FromString(name)})
		}
		return ports
	}
	for _, test := range []struct {
		name   string
		former []string
		ports  []corev1.ServicePort
		want   string
	}{
		{"the same name", []string{"http", "http"}, named("http"), " 2 pods of an older revision still serve."},
		{"another name", []string{"http", "http"}, named("web"), " 2 pods of an older revision run, but the Service leads to port web, which they lack."},
		{"another name, one pod", []string{"http"}, named("web"), " 1 pod of an older revision runs, but the Service leads to port web, which it lacks."},
		{"other names", []string{"http", "http"}, named("web", "metrics"), " 2 pods of an older revision run, but the Service leads to ports web, metrics, which they lack."},
		{"one name of two", []string{"http", "http"}, named("http", "metrics"), " 2 pods of an older revision still serve."},
		{"one revision of two", []string{"web", "http"}, named("web"), " 1 pod of an older revision still serves."},
		{"a number", []string{"http", "http"}, []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}, " 2 pods of an older revision still serve."},
		{"no Service", []string{"http", "http"}, nil, " 2 pods of an older revision still serve."},
	} {
		t.Run(test.name, func(t *testing.T) {
			loaded := clustertest.Load(t, "image")
			status := &loaded.Application.Status
			status.DesiredReplicas, status.UpdatedReplicas = 2, 1
			status.Problems = []v1.Problem{{Reason: v1.ReasonImagePullFailed, Container: "web", Pods: 1}}
			deployment := childOf(t, loaded, child.Deployment.Kind)
			loaded.Children = slices.DeleteFunc(loaded.Children, func(object child.Object) bool {
				return object.GetObjectKind().GroupVersionKind().Kind == child.Service.Kind
			})
			if test.ports != nil {
				loaded.Children = append(loaded.Children, &corev1.Service{
					TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: child.Service.Kind},
					ObjectMeta: metav1.ObjectMeta{Name: deployment.GetName(), Namespace: deployment.GetNamespace(), OwnerReferences: deployment.GetOwnerReferences()},
					Spec:       corev1.ServiceSpec{Ports: test.ports},
				})
			}
			former := loaded.ReplicaSets[0].DeepCopy()
			former.Name, former.UID, former.Annotations[child.RevisionAnnotation] = "former", "former", "0"
			loaded.ReplicaSets = append(loaded.ReplicaSets, former)
			for _, port := range test.former {
				pod := loaded.Pods[0].DeepCopy()
				pod.OwnerReferences[0].UID = former.UID
				pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: port, ContainerPort: 8080}}
				pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
				loaded.Pods = append(loaded.Pods, pod)
			}
			if got := why.Explain(loaded).Findings[0].What; got != image+test.want {
				t.Errorf("%q, want %q", got, image+test.want)
			}
		})
	}
}

// TestMissingPullSecret names the Secret that the kubelet did not find, before it advises to check the image.
func TestMissingPullSecret(t *testing.T) {
	const check = "Check name, tag and registry of the image, and that spec.imagePullSecrets names a Secret with valid credentials."
	event := func(reason, message string) []corev1.Event {
		return []corev1.Event{{Reason: reason, Message: message, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "web-1"}}}
	}
	for _, test := range []struct {
		name   string
		events []corev1.Event
		want   string
	}{
		{"no Event", nil, check},
		{"another Event", event("Failed", "Error: ErrImagePull"), check},
		{"one Secret", event("FailedToRetrieveImagePullSecret", "Unable to retrieve some image pull secrets (registry); attempting to pull the image may not succeed."),
			"Create Secret registry with the credentials of the registry, or correct spec.imagePullSecrets."},
		{"two Secrets", event("FailedToRetrieveImagePullSecret", "Unable to retrieve some image pull secrets (a, b); attempting to pull the image may not succeed."),
			"Create Secret a and Secret b with the credentials of the registry, or correct spec.imagePullSecrets."},
		{"another message", event("FailedToRetrieveImagePullSecret", "no"), "Create the Secret that the Event names with the credentials of the registry, or correct spec.imagePullSecrets."},
	} {
		loaded := clustertest.Load(t, "image")
		loaded.EventsOfObjects = test.events
		finding := why.Explain(loaded).Findings[0]
		if finding.Next[0] != test.want {
			t.Errorf("%s: it advises %q, want %q first", test.name, finding.Next, test.want)
		}
		if last := finding.Evidence[len(finding.Evidence)-1]; test.want != check && (last.Message != test.events[0].Message || last.Object != "Pod/web-1") {
			t.Errorf("%s: the evidence is %+v", test.name, last)
		}
	}
}

// TestStalledWithoutNode: a node may come, unlike a volume that nothing provisions.
func TestStalledWithoutNode(t *testing.T) {
	for message, want := range map[string]string{
		"0/3 nodes are available: 3 Insufficient cpu.":                               "a node can take its pods, or someone acts.",
		"0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.": "someone acts.",
		`0/3 nodes are available: persistentvolumeclaim "data" not found.`:           "someone acts.",
	} {
		loaded := clustertest.Load(t, "unschedulable")
		loaded.Application.Status.Problems = []v1.Problem{{Reason: v1.ReasonUnschedulable, Message: message, Pods: 2}}
		want = "unschedulable/web is not ready (Unschedulable), and will not be until " + want
		if got := why.Explain(loaded).Headline; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestStalledAndLate: pods that only missed the deadline may become ready without anyone; others do not.
func TestStalledAndLate(t *testing.T) {
	const late, stuck = ": its pods missed the deadline of the rollout, and may need someone to act.", ", and will not be until someone acts."
	for reason, want := range map[string]string{
		v1.ReasonReadinessFailing: late, v1.ReasonProgressDeadlineExceeded: late, v1.ReasonNodeLost: late,
		v1.ReasonImagePullFailed: stuck, v1.ReasonCrashLooping: stuck, v1.ReasonConfigError: stuck,
	} {
		loaded := clustertest.Load(t, "readiness")
		conditions := &loaded.Application.Status.Conditions
		meta.FindStatusCondition(*conditions, v1.ConditionReady).Reason = reason
		meta.SetStatusCondition(conditions, metav1.Condition{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonProgressDeadlineExceeded})
		want = "readiness/web is not ready (" + reason + ")" + want
		if got := why.Explain(loaded).Headline; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	loaded := clustertest.Load(t, "readiness")
	meta.SetStatusCondition(&loaded.Application.Status.Conditions, metav1.Condition{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonContended})
	if got, want := why.Explain(loaded).Headline, "readiness/web is not ready (ReadinessFailing)"+stuck; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEvidenceIsOfTheNewPod: the former pod fails in the same container, and says nothing about the change.
func TestEvidenceIsOfTheNewPod(t *testing.T) {
	loaded := clustertest.Load(t, "image")
	former := loaded.ReplicaSets[0].DeepCopy()
	former.Name, former.UID, former.Annotations[child.RevisionAnnotation] = "former", "former", "0"
	old := loaded.Pods[0].DeepCopy()
	old.Name, old.OwnerReferences[0].UID = "a-former", former.UID
	loaded.ReplicaSets = append(loaded.ReplicaSets, former)
	loaded.Pods = append([]*corev1.Pod{old}, loaded.Pods...)
	var pods []string
	for _, finding := range why.Explain(loaded).Findings {
		for _, evidence := range finding.Evidence {
			if name, isPod := strings.CutPrefix(evidence.Object, "Pod/"); isPod {
				pods = append(pods, name)
			}
		}
	}
	if len(pods) == 0 || slices.Contains(pods, "a-former") {
		t.Errorf("the evidence is of %q, want a new pod", pods)
	}
}

// TestPinnedPodsFail: no change of the spec helps pods that are those of another revision.
func TestPinnedPodsFail(t *testing.T) {
	const (
		image = "   → Set another image: kubectl fairlead set image web IMAGE\n"
		unpin = "   → A change of the pods takes effect only once you remove spec.rollback.toRevision: kubectl patch applications.apps.fairlead.dev web --type=merge --patch '{\"spec\":{\"rollback\":{\"toRevision\":null}}}'\n"
	)
	loaded := clustertest.Load(t, "crash")
	application := loaded.Application
	application.Status.Revision = &v1.RevisionStatus{Current: 2, LastHealthy: 1}
	application.Status.Problems = []v1.Problem{{Reason: v1.ReasonImagePullFailed, Container: "web", Pods: 1}}
	meta.RemoveStatusCondition(&application.Status.Conditions, v1.ConditionRolledBack)
	wantParts(t, "the spec", shown(t, loaded), map[string]bool{image: true, unpin: false})
	application.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(2))}
	wantParts(t, "pinned", shown(t, loaded), map[string]bool{image: false, unpin: true, "undo web --to-revision=1": true})
}

// TestLogsOfTheFailingPod names the pod: old ones of a rollout, or one that has just started, have no log from before an exit.
func TestLogsOfTheFailingPod(t *testing.T) {
	const read = "Read what it said before it ended: "
	for _, test := range []struct {
		name string
		pods int
		want string
	}{
		{"one pod keeps exiting", 2, read + "kubectl logs web-exits -c web --previous"},
		{"no pod can be read", 0, read + "kubectl fairlead logs web --tail=50 -c web --previous"},
	} {
		loaded := clustertest.Load(t, "image")
		loaded.Application.Status.Problems = []v1.Problem{{Reason: v1.ReasonCrashLooping, Container: "web", Pods: 1}}
		starts, exits := loaded.Pods[0].DeepCopy(), loaded.Pods[0].DeepCopy()
		starts.Name, exits.Name = "web-starts", "web-exits"
		starts.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(treetest.Now)}}
		status := &exits.Status.ContainerStatuses[0]
		status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", FinishedAt: metav1.NewTime(treetest.Now)}
		status.RestartCount = 3
		loaded.Pods = []*corev1.Pod{starts, exits}[:test.pods]
		if next := why.Explain(loaded).Findings[0].Next; len(next) == 0 || next[0] != test.want {
			t.Errorf("%s: %q, want %q first", test.name, next, test.want)
		}
	}
}
