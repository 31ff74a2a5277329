// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

func TestExplain(t *testing.T) {
	for _, name := range treetest.Names(t) {
		t.Run(name, func(t *testing.T) {
			answer := why.Explain(clustertest.Load(t, name))
			golden.Screens(t, name, func(to *screen.Screen) { answer.Print(to, treetest.Now) })
			if answer.Ready != (name == "healthy" || name == "autoscaler" || name == "observe") {
				t.Errorf("ready is %t", answer.Ready)
			}
			for _, finding := range answer.Findings {
				if len(finding.Evidence) == 0 {
					t.Errorf("%s has no evidence", finding.What)
				}
			}
			if !answer.Ready && len(answer.Findings) == 0 {
				t.Error("it is not ready, and nothing is said to be wrong")
			}
		})
	}
}

// TestJSON pins the format for programs.
func TestJSON(t *testing.T) {
	encoded, err := json.MarshalIndent(why.Explain(clustertest.Load(t, "quota")), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "quota.json", append(encoded, '\n'))
}

// TestUnreadable names what the user may not read: a finding may be missing for that.
func TestUnreadable(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	loaded.Unreadable = map[string]error{"pods": errors.New("forbidden"), "endpointslices": errors.New("forbidden")}
	const want = "\n\nNot shown: you may not list endpointslices, pods\n"
	if text := shown(t, loaded); !strings.HasSuffix(text, want) || strings.Contains(text, "\n\n\n") {
		t.Errorf("%q, want %q at the end", text, want)
	}
	encoded, err := json.Marshal(why.Explain(loaded))
	if err != nil || !strings.HasSuffix(string(encoded), `,"unreadable":["endpointslices","pods"]}`) {
		t.Errorf("%s, %v", encoded, err)
	}
}

// TestEveryProblem wants something to say and to do about each reason that pods can have.
func TestEveryProblem(t *testing.T) {
	for _, reason := range health.ReasonsBySeverity() {
		loaded := clustertest.Load(t, "image")
		loaded.Application.Status.Problems = []v1.Problem{{Reason: reason, Message: "message", Container: "web", Pods: 1}}
		loaded.Application.Status.Conditions[0].Reason = reason
		answer := why.Explain(loaded)
		if len(answer.Findings) == 0 || strings.HasPrefix(answer.Findings[0].What, "Pods do not serve") {
			t.Errorf("%s: %+v", reason, answer.Findings)
			continue
		}
		for _, next := range answer.Findings[0].Next {
			if strings.Contains(next, "APP") || strings.Contains(next, "CONTAINER") || strings.Contains(next, "POD ") {
				t.Errorf("%s: a name is missing in %q", reason, next)
			}
		}
	}
}

// TestOldStatus wants nothing about pods and children from a status about an older spec.
func TestOldStatus(t *testing.T) {
	loaded := clustertest.Load(t, "image")
	loaded.Application.Generation++
	answer := why.Explain(loaded)
	if len(answer.Findings) != 1 || answer.Findings[0].Reason != "NotObserved" {
		t.Errorf("%+v", answer.Findings)
	}
	const older = "The present spec of image/web has not been observed: the controller has observed generation 1, not 2."
	if answer.Headline != older {
		t.Errorf("%q, want %q", answer.Headline, older)
	}
	// The API server gives a new Application the observedGeneration -1.
	loaded.Application.Generation, loaded.Application.Status.ObservedGeneration = 1, -1
	const none = "no generation yet, but metadata.generation is 1"
	answer = why.Explain(loaded)
	if got := answer.Findings[0].Evidence[0].Message; got != none {
		t.Errorf("%q, want %q", got, none)
	}
	if want := "image/web has not been observed by the controller yet."; answer.Headline != want {
		t.Errorf("%q, want %q", answer.Headline, want)
	}
}

// TestSuspended does not say that the controller has yet to observe what it is not to look at.
func TestSuspended(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	loaded.Application.Spec.ReconcilePolicy = v1.ReconcileSuspend
	loaded.Application.Generation++
	if answer := why.Explain(loaded); answer.Headline != "default/cart is suspended." || answer.Ready {
		t.Errorf("%+v", answer)
	}
}

// TestNoTerminationMessage wants what a container left when it ended nowhere: it may be a secret.
func TestNoTerminationMessage(t *testing.T) {
	loaded := clustertest.Load(t, "image")
	loaded.Application.Status.Problems[0].Reason = v1.ReasonCrashLooping
	for _, pod := range loaded.Pods {
		status := &pod.Status.ContainerStatuses[0]
		status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error", Message: "hunter2", FinishedAt: metav1.NewTime(treetest.Now)}
	}
	encoded, err := json.Marshal(why.Explain(loaded))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(encoded), "hunter2") || !strings.Contains(string(encoded), "exited with code 3") {
		t.Errorf("%s", encoded)
	}
}

// TestAdvisesAdoption names adoption first where it is possible: a Deployment without an owner is in the way.
func TestAdvisesAdoption(t *testing.T) {
	loaded := clustertest.Load(t, "conflict")
	for i := range loaded.Application.Status.Resources {
		resource := &loaded.Application.Status.Resources[i]
		if resource.State == v1.ResourceConflict {
			resource.State = v1.ResourceSynced
		}
		if resource.Kind == child.Deployment.Kind {
			resource.State = v1.ResourceConflict
		}
	}
	want := "Let an Application adopt the Deployment, which replaces no pod until you say so; the command names what needs your --accept. The short way: delete this Application, and let the plugin write one that fits the Deployment: kubectl fairlead adopt web --harden"
	advised := func() bool {
		return slices.ContainsFunc(why.Explain(loaded).Findings, func(finding why.Finding) bool { return len(finding.Next) > 0 && finding.Next[0] == want })
	}
	if advised() {
		t.Errorf("advised for a Deployment with an owner: %q", want)
	}
	for _, object := range loaded.Children {
		if object.GetObjectKind().GroupVersionKind().Kind == child.Deployment.Kind {
			object.SetOwnerReferences(nil)
			object.SetAnnotations(nil)
		}
	}
	if !advised() {
		t.Errorf("not advised: %q", want)
	}
	loaded.Application.Spec.AdoptionPolicy, loaded.Application.Spec.Paused = v1.AdoptionConsented, new(true)
	if want = "Consent to the adoption, which replaces no pod until you say so; the command names what needs your --accept: kubectl fairlead adopt web --existing"; !advised() {
		t.Errorf("not advised: %q", want)
	}
	meta.SetStatusCondition(&loaded.Application.Status.Conditions, metav1.Condition{Type: v1.ConditionAdopted, Status: metav1.ConditionFalse, Reason: v1.ReasonRefused})
	if want = "Correct the spec of the Application as the message says; then run the command, which names what needs your --accept: kubectl fairlead adopt web --existing"; !advised() {
		t.Errorf("not advised: %q", want)
	}
	for i := range loaded.Application.Status.Resources {
		if resource := &loaded.Application.Status.Resources[i]; resource.Kind == child.Service.Kind {
			resource.State = v1.ResourceConflict
		}
	}
	if want = "The adoption of the Deployment takes the Service over too."; !advised() {
		t.Errorf("not advised: %q", want)
	}
	for _, object := range loaded.Children {
		if deployment, ok := object.(*appsv1.Deployment); ok {
			deployment.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}
		}
	}
	if advised() {
		t.Errorf("advised for a Deployment that cannot be adopted: %q", want)
	}
	if want = "Replace the Deployment without stopping its pods: see 'Move an existing Deployment' in docs/applications.md"; !advised() {
		t.Errorf("not advised: %q", want)
	}
}

// TestAdvisesTakingBack: an object that Orphan or eject left behind is no obstacle to delete.
func TestAdvisesTakingBack(t *testing.T) {
	ejected := []metav1.ManagedFieldsEntry{{Manager: "kubectl-fairlead", Operation: metav1.ManagedFieldsOperationUpdate}}
	for name, leave := range map[string]func(object metav1.Object) bool{
		"Orphan": func(object metav1.Object) bool {
			object.SetLabels(map[string]string{v1.LabelManagedBy: v1.ManagedBy})
			object.SetAnnotations(map[string]string{v1.AnnotationOwnerUID: "gone"})
			return true
		},
		"eject":   func(object metav1.Object) bool { object.SetManagedFields(ejected); return true },
		"another": func(object metav1.Object) bool { object.SetManagedFields(nil); return false },
		"the plugin's consent": func(object metav1.Object) bool {
			written := *ejected[0].DeepCopy()
			written.Time = &metav1.Time{Time: time.Unix(1, 0)}
			object.SetManagedFields([]metav1.ManagedFieldsEntry{written})
			return false
		},
	} {
		loaded, want := clustertest.Load(t, "conflict"), false
		for _, object := range loaded.Children {
			if object.GetObjectKind().GroupVersionKind().Kind == child.Service.Kind {
				want = leave(object)
			}
		}
		finding := why.Explain(loaded).Findings[0]
		last := finding.Evidence[len(finding.Evidence)-1].Message
		got := finding.Next[0] == "Take back what the earlier Application left behind: see docs/guides/take-back.md" && last == "left behind by an Application that is gone"
		if got != want {
			t.Errorf("%s: the advice is %q, and the evidence %q", name, finding.Next, last)
		}
	}
}

// TestHeldAdoption: the way on is the one of the adoption, and until there is one, the conflict says what to do.
func TestHeldAdoption(t *testing.T) {
	loaded := clustertest.Load(t, "paused")
	loaded.Application.Spec.AdoptionPolicy = v1.AdoptionConsented
	adopted := metav1.Condition{Type: v1.ConditionAdopted, Status: metav1.ConditionFalse, Reason: v1.ReasonPodsHeld, Message: "The pods run as before."}
	meta.SetStatusCondition(&loaded.Application.Status.Conditions, adopted)
	for saved, back := range map[bool]string{
		true:  "Or take the adoption back: kubectl fairlead adopt web --abort",
		false: "Or delete the Application alone, which replaces no pod. Nothing saved what the Deployment was: kubectl fairlead eject web",
	} {
		loaded.Saved = saved
		want := []string{"Replace the pods: kubectl fairlead adopt web --rollout", back}
		if found := why.Explain(loaded).Findings; len(found) != 1 || !slices.Equal(found[0].Next, want) {
			t.Errorf("saved %t: %+v, want it to advise %q", saved, found, want)
		}
	}
	adopted.Reason = v1.ReasonAwaitingConsent
	meta.SetStatusCondition(&loaded.Application.Status.Conditions, adopted)
	if found := why.Explain(loaded).Findings; len(found) != 0 {
		t.Errorf("%+v, want nothing about the pause", found)
	}
}

// TestAdvisesClasses: a user without permission to list classes reads their names in a warning.
func TestAdvisesClasses(t *testing.T) {
	loaded := clustertest.Load(t, "invalid")
	meta.FindStatusCondition(loaded.Application.Status.Conditions, v1.ConditionReady).Reason = v1.ReasonClassNotFound
	const want = "Name a class that exists: kubectl fairlead classes lists them, and so does the warning when you apply the Application"
	if findings := why.Explain(loaded).Findings; len(findings) != 1 || !slices.Equal(findings[0].Next, []string{want}) {
		t.Errorf("%+v, want %q", findings, want)
	}
	loaded.ClassesMissing = true
	none := []string{
		"The cluster has no ApplicationClass: ask the platform team to create the class.",
		"Or remove spec.className, if the platform does not require a class. Without a class, the Application has no defaults of one, such as a NetworkPolicy.",
	}
	if findings := why.Explain(loaded).Findings; len(findings) != 1 || !slices.Equal(findings[0].Next, none) {
		t.Errorf("%+v, want %q", findings, none)
	}
}

// TestNoClassSelects: what the message says and the advice lead to the same. To remove the name of the class loses what the class gave.
func TestNoClassSelects(t *testing.T) {
	const another = "Name a class that selects this namespace, or ask the platform team: kubectl fairlead classes"
	const ask = "No class selects this namespace: ask the platform team for one that does."
	const without = "Or remove spec.className. Without a class, the Application has no defaults of one, such as a NetworkPolicy."
	loaded := clustertest.Load(t, "invalid")
	ready := meta.FindStatusCondition(loaded.Application.Status.Conditions, v1.ConditionReady)
	selecting := func(labels map[string]string) *v1.ApplicationClass {
		return &v1.ApplicationClass{
			ObjectMeta: metav1.ObjectMeta{Name: "std" + labels["tenant"]},
			Spec:       v1.ApplicationClassSpec{NamespaceSelector: &metav1.LabelSelector{MatchLabels: labels}},
		}
	}
	loaded.Application.Spec.ClassName = "stda"
	for name, test := range map[string]struct {
		rules class.Rules
		want  []string
	}{
		"none":               {class.Rules{}, []string{ask, without}},
		"none, and required": {class.Rules{Required: true}, []string{ask}},
		"another":            {class.Rules{Classes: []*v1.ApplicationClass{selecting(map[string]string{"tenant": "b"})}}, []string{another}},
	} {
		test.rules.Namespace = class.Namespace{Name: "u", Labels: map[string]string{"tenant": "b"}}
		test.rules.Classes = append(test.rules.Classes, selecting(map[string]string{"tenant": "a"}))
		errs, reason := class.Resolve(loaded.Application, test.rules).Validate(validation.Options{})
		ready.Reason, ready.Message = reason, errs.ToAggregate().Error()
		if findings := why.Explain(loaded).Findings; reason != v1.ReasonClassNotAllowed || len(findings) != 1 || !slices.Equal(findings[0].Next, test.want) {
			t.Errorf("%s: %s gives %+v, want %q", name, ready.Message, findings, test.want)
		}
	}
}

// TestCauseComesFirst has the cause before the rollback that did not happen.
func TestCauseComesFirst(t *testing.T) {
	loaded := clustertest.Load(t, "image")
	meta.SetStatusCondition(&loaded.Application.Status.Conditions, metav1.Condition{
		Type: v1.ConditionRolledBack, Status: metav1.ConditionFalse, Reason: v1.ReasonNoHealthyRevision, Message: "No revision has been healthy yet.",
	})
	var reasons []string
	for _, finding := range why.Explain(loaded).Findings {
		reasons = append(reasons, finding.Reason)
	}
	if want := []string{v1.ReasonImagePullFailed, v1.ReasonNoHealthyRevision}; !slices.Equal(reasons, want) {
		t.Errorf("the reasons are %q, want %q", reasons, want)
	}
}

// TestAdviceFitsTheCluster advises no look at Gateways where the Gateway API is not served.
func TestAdviceFitsTheCluster(t *testing.T) {
	for reason, want := range map[string]string{
		v1.ReasonAPINotServed:      "Ask the platform team for the Gateway API, or set type: Ingress in the route, without what only an HTTPRoute has, such as parentRefs.",
		v1.ReasonRoutesNotAccepted: "Check the Gateway that the message names, and its listeners: kubectl get gateways -A",
	} {
		loaded := clustertest.Load(t, "healthy")
		meta.SetStatusCondition(&loaded.Application.Status.Conditions, metav1.Condition{Type: v1.ConditionRoutesReady, Status: metav1.ConditionFalse, Reason: reason})
		if found := why.Explain(loaded).Findings; len(found) != 1 || len(found[0].Next) != 1 || found[0].Next[0] != want {
			t.Errorf("%s: %+v, want it to advise %q", reason, found, want)
		}
	}
}

// TestAdviceFitsTheMessage advises a claim where one is missing, and no comparison of nodes.
func TestAdviceFitsTheMessage(t *testing.T) {
	const asUser = `Set the number of a user that the program works with, such as 65532: kubectl patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"podSecurityContext":{"runAsUser":65532}}}'`
	for _, test := range []struct{ reason, message, want string }{
		{v1.ReasonUnschedulable, `0/3 nodes are available: persistentvolumeclaim "data" not found.`, "Create PersistentVolumeClaim data, or correct its name in spec.mounts: kubectl get persistentvolumeclaims"},
		{v1.ReasonUnschedulable, "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found", "See why it is not bound, such as a storage class that does not exist, or that nothing provisions: kubectl describe persistentvolumeclaims"},
		{v1.ReasonUnschedulable, "0/3 nodes are available: 3 Insufficient cpu.", "Compare resources, nodeSelector, affinity and tolerations of the spec with the nodes: kubectl describe nodes"},
		{v1.ReasonCrashLooping, "Out of memory (OOMKilled, exit code 137).", "Raise spec.resources.limits.memory, or let the application use less: kubectl fairlead top web"},
		{v1.ReasonCrashLooping, "Exited with code 1 (Error).", "Read what it said before it ended: kubectl fairlead logs web --tail=50 -c web --previous"},
		{v1.ReasonQuotaExceeded, `pods "web-1" is forbidden: failed quota: team: must specify requests.cpu for: web`, "Set what the message asks for in spec.resources."},
		{v1.ReasonConfigError, `secret "db" not found`, "Create it, or correct the reference in the spec."},
		{v1.ReasonConfigError, "couldn't find key password in Secret shop/db", "Add the key to the object that the message names, or correct the reference in the spec."},
		{v1.ReasonPolicyDenied, `pods "web-1" is forbidden: maximum memory usage per Container is 64Mi, but limit is 1Gi`, "Keep spec.resources within its limits, or ask for others: kubectl describe limitranges"},
		{v1.ReasonPolicyDenied, `pods "web-1" is forbidden: cpu max limit to request ratio per Pod is 2, but provided ratio is 8.000000`, "Keep spec.resources within its limits, or ask for others: kubectl describe limitranges"},
		{v1.ReasonPolicyDenied, `admission webhook "images.example.com" denied the request: no`, "Change the Application so that the policy is met, or ask the owner of the policy that the message names."},
		{v1.ReasonConfigError, "container has runAsNonRoot and image will run as root", asUser},
		{v1.ReasonConfigError, "container has runAsNonRoot and image has non-numeric user (nginx), cannot verify user is non-root", asUser},
		{v1.ReasonConfigError, `failed to prepare subPath for volumeMount "data" of container "web"`, "Correct in the spec what the message names."},
		{v1.ReasonReplicaFailure, `Pod "web-1" is invalid: spec.containers[0].resources.requests: Invalid value: "64Mi": must be less than or equal to memory limit of 32Mi`,
			"The limit is not in the spec, so a LimitRange set it: lower spec.resources.requests.memory, or, if it allows a larger limit, set spec.resources.limits.memory: kubectl describe limitranges"},
		{v1.ReasonReplicaFailure, "no PriorityClass with name high was found", "Create PriorityClass high, or name another one in spec.priorityClassName: kubectl get priorityclasses"},
		{v1.ReasonReplicaFailure, "error looking up service account shop/web", "Correct what the message names, in the spec or in the cluster."},
	} {
		loaded := clustertest.Load(t, "unschedulable")
		loaded.Application.Status.Problems = []v1.Problem{{Reason: test.reason, Message: test.message, Container: "web"}}
		if found := why.Explain(loaded).Findings; len(found) == 0 || len(found[0].Next) == 0 || found[0].Next[0] != test.want {
			t.Errorf("%s: %+v, want it to advise %q", test.message, found, test.want)
		}
	}
}

// TestSize speaks of the size only where that may be the cause.
func TestSize(t *testing.T) {
	const size = "If it is the size: lower what spec.resources asks for, or wait for a node."
	for message, want := range map[string]bool{
		"0/3 nodes are available: 3 Insufficient nvidia.com/gpu.":                                                   true,
		"0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {a: b}.":                      true,
		"0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.":                                  false,
		"0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.":                             false,
		"0/3 nodes are available: 3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }.":       false,
		"0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints (missing required label).": false,
	} {
		loaded := clustertest.Load(t, "unschedulable")
		loaded.Application.Status.Problems = []v1.Problem{{Reason: v1.ReasonUnschedulable, Message: message, Pods: 1}}
		if next := why.Explain(loaded).Findings[0].Next; slices.Contains(next, size) != want {
			t.Errorf("%s: %q, want the size %t", message, next, want)
		}
	}
}
