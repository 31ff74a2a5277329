// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

func amount(name corev1.ResourceName, quantity string) corev1.ResourceList {
	return corev1.ResourceList{name: resource.MustParse(quantity)}
}

// TestNewestRejection prefers the text of an Event that is newer than the condition of the ReplicaSet, which keeps the first one.
func TestNewestRejection(t *testing.T) {
	const (
		quota  = "exceeded quota: pods, requested: pods=1, used: pods=1, limited: pods=1"
		raised = "exceeded quota: pods, requested: pods=1, used: pods=2, limited: pods=2"
		most   = "maximum memory usage per Container is 1Gi, but limit is 2Gi"
	)
	for _, test := range []struct {
		name, message string
		since         time.Duration
		other         bool // another ReplicaSet
		reason        string
		evidence      []string
	}{
		{"the same", quota, time.Minute, false, v1.ReasonQuotaExceeded, []string{"status.problems[QuotaExceeded]", "Event FailedCreate"}},
		{"another number", raised, time.Minute, false, v1.ReasonQuotaExceeded, []string{"Event FailedCreate"}},
		{"another cause", most, time.Minute, false, v1.ReasonPolicyDenied, []string{"Event FailedCreate"}},
		{"an older Event", most, -time.Minute, false, v1.ReasonQuotaExceeded, []string{"status.problems[QuotaExceeded]", "Event FailedCreate"}},
		{"of another revision", most, time.Minute, true, v1.ReasonQuotaExceeded, []string{"status.problems[QuotaExceeded]"}},
	} {
		loaded := clustertest.Load(t, "quota")
		replicaSet := loaded.ReplicaSets[0]
		event := corev1.Event{
			Reason: "FailedCreate", Message: `(combined from similar events): Error creating: pods "web-2" is forbidden: ` + test.message,
			InvolvedObject: corev1.ObjectReference{Kind: "ReplicaSet", Name: replicaSet.Name, UID: replicaSet.UID},
			LastTimestamp:  metav1.NewTime(replicaSet.Status.Conditions[0].LastTransitionTime.Add(test.since)),
		}
		if test.other {
			event.InvolvedObject.UID = "other"
		}
		loaded.EventsOfObjects = []corev1.Event{event}
		finding := why.Explain(loaded).Findings[0]
		var fields []string
		for _, evidence := range finding.Evidence {
			fields = append(fields, evidence.Field)
		}
		if finding.Reason != test.reason || !slices.Equal(fields, test.evidence) {
			t.Errorf("%s: %s from %q, want %s from %q", test.name, finding.Reason, fields, test.reason, test.evidence)
		}
	}
}

// TestNewestInvalidPod: each attempt has another name, which is no newer text.
func TestNewestInvalidPod(t *testing.T) {
	loaded := clustertest.Load(t, "quota")
	const invalid = `is invalid: spec.containers[0].resources.requests: Invalid value: "1": must be less than or equal to cpu limit of 50m`
	loaded.Application.Status.Problems = []v1.Problem{{Reason: v1.ReasonReplicaFailure, Message: `Pod "web-a" ` + invalid}}
	loaded.EventsOfObjects = loaded.EventsOfObjects[:1]
	loaded.EventsOfObjects[0].Message = `Error creating: Pod "web-b" ` + invalid
	if evidence := why.Explain(loaded).Findings[0].Evidence; len(evidence) != 2 {
		t.Errorf("the evidence is %+v, want the status and the Event", evidence)
	}
}

// TestRejectedContainer names the field of the container, which may be a sidecar.
func TestRejectedContainer(t *testing.T) {
	const invalid = `Pod "web-1" is invalid: spec.%s.resources.requests: Invalid value: "200m": must be less than or equal to cpu limit of 50m`
	set := func(field string) string {
		return strings.ReplaceAll("The limit is not in the spec, so a LimitRange set it: lower FIELD.requests.cpu, or, if it allows a larger limit, set FIELD.limits.cpu: kubectl describe limitranges", "FIELD", field)
	}
	for _, test := range []struct{ reason, message, want string }{
		{v1.ReasonReplicaFailure, strings.Replace(invalid, "%s", "containers[0]", 1), set("spec.resources")},
		{v1.ReasonReplicaFailure, strings.Replace(invalid, "%s", "containers[1]", 1), set("spec.sidecars[proxy].resources")},
		{v1.ReasonReplicaFailure, strings.Replace(invalid, "%s", "initContainers[0]", 1), set("spec.initContainers[setup].resources")},
		{v1.ReasonReplicaFailure, strings.Replace(invalid, "%s", "containers[7]", 1),
			"The limit is not in the spec, so a LimitRange set it: lower the requests, or, if it allows larger limits, set the limit of each container: kubectl describe limitranges"},
		{v1.ReasonPolicyDenied, "maximum memory usage per Container is 1Gi, but limit is 2Gi",
			"Keep spec.sidecars[proxy].resources within its limits, or ask for others: kubectl describe limitranges"},
		{v1.ReasonReplicaFailure, strings.Replace(invalid, "%s", "containers[0]", 1) + `, spec.containers[1].resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi`,
			set("spec.resources")},
		{v1.ReasonPolicyDenied, "[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi]",
			"Keep spec.sidecars[proxy].resources within its limits, or ask for others: kubectl describe limitranges"},
		{v1.ReasonPolicyDenied, "[maximum memory usage per Container is 1Gi, but limit is 2Gi, maximum cpu usage per Pod is 1, but limit is 2]",
			"Keep spec.resources, spec.sidecars[proxy].resources and spec.initContainers[setup].resources within its limits, or ask for others: kubectl describe limitranges"},
		{v1.ReasonPolicyDenied, "maximum cpu usage per Pod is 1, but limit is 2",
			"Keep spec.resources, spec.sidecars[proxy].resources and spec.initContainers[setup].resources within its limits, or ask for others: kubectl describe limitranges"},
		{v1.ReasonQuotaExceeded, "failed quota: team: must specify limits.cpu for: proxy,web; limits.memory for: proxy",
			"Set what the message asks for in spec.sidecars[proxy].resources and spec.resources."},
		{v1.ReasonQuotaExceeded, "failed quota: team: must specify limits.cpu for: istio-proxy,web",
			"Set what the message asks for in resources of container istio-proxy (which an admission webhook added) and spec.resources."},
	} {
		loaded := clustertest.Load(t, "quota")
		application := loaded.Application
		proxy := corev1.Container{Name: "proxy", Resources: corev1.ResourceRequirements{Limits: amount("memory", "2Gi")}}
		setup := corev1.Container{Name: "setup"}
		application.Spec.Sidecars, application.Spec.InitContainers = []corev1.Container{proxy}, []corev1.Container{setup}
		pod := &childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment).Spec.Template.Spec
		pod.Containers, pod.InitContainers = append(pod.Containers, proxy), []corev1.Container{setup}
		loaded.EventsOfObjects = nil
		application.Status.Problems = []v1.Problem{{Reason: test.reason, Message: test.message}}
		next := why.Explain(loaded).Findings[0].Next
		if len(next) == 0 || next[0] != test.want {
			t.Errorf("%s: %q, want %q", test.message, next, test.want)
		}
		if !slices.Contains(next, "Once the cause is gone, the pods come within 17 minutes: Kubernetes tries again at growing intervals.") {
			t.Errorf("%s: %q does not say when Kubernetes tries again", test.message, next)
		}
	}
}

// TestQuotaOfARollout offers to replace pods in place where the quota has room for the pods, but for none more.
func TestQuotaOfARollout(t *testing.T) {
	const (
		full   = "exceeded quota: q, requested: requests.cpu=100m, used: requests.cpu=300m, limited: requests.cpu=300m"
		over   = "exceeded quota: q, requested: requests.cpu=100m, used: requests.cpu=300m, limited: requests.cpu=200m"
		memory = "exceeded quota: q, requested: memory=1Mi, used: memory=3Mi, limited: memory=3Mi"
		pods   = "exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3"
		more   = "A ResourceQuota of this namespace allows no more pods."
		lower  = "Ask for more quota, free some of it, or lower what spec.resources asks for: kubectl describe resourcequotas"
		fewer  = "Free some of the quota, ask for fewer pods, lower what spec.resources asks for, or ask for more quota: kubectl describe resourcequotas"
		raise  = "Lower what spec.resources asks for, which is more than the pods had before: kubectl describe resourcequotas"
		room   = "A ResourceQuota of this namespace has no room for one more pod, which the rollout starts before it stops an old one."
	)
	patch := func(fields string) string {
		return "Or let the rollout stop an old pod before it starts a new one, so that one fewer serves meanwhile: " +
			`kubectl patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"strategy":{"rollingUpdate":{` + fields + `}}}}'`
	}
	const alone = "Or let the rollout stop the old pod before it starts the new one, so that none serves meanwhile: " +
		`kubectl patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":0}}}}'` +
		"\nThen begin the rollout again at once; otherwise the new pod may take 17 minutes: kubectl fairlead restart web"
	zero := new(intstr.FromInt32(0))
	surge := func(value intstr.IntOrString) appsv1.DeploymentStrategy {
		return appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &value}}
	}
	for _, test := range []struct {
		name, message string
		desired       int32
		former        int
		strategy      appsv1.DeploymentStrategy
		own           *appsv1.DeploymentStrategy
		cpu           string
		want          string // "" if there is nothing to offer
		more          string // the step before it
	}{
		{"three pods", full, 3, 3, surge(intstr.FromString("25%")), nil, "100m", patch(`"maxSurge":0`), lower},
		{"a quota of pods", pods, 3, 3, surge(intstr.FromInt32(1)), nil, "100m", patch(`"maxSurge":0`),
			"Ask for more quota, or free some of it: kubectl describe resourcequotas"},
		{"one pod", full, 1, 1, surge(intstr.FromInt32(1)), nil, "100m", alone, lower},
		{"the spec has maxUnavailable 0", full, 3, 3, surge(intstr.FromInt32(1)),
			&appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: zero}}, "100m", patch(`"maxSurge":0,"maxUnavailable":1`), lower},
		{"no rollout", full, 3, 0, surge(intstr.FromInt32(1)), nil, "100m", "", fewer},
		{"no rollout and a quota of pods", pods, 3, 0, surge(intstr.FromInt32(1)), nil, "100m", "",
			"Free some of the quota, ask for fewer pods, or ask for more quota: kubectl describe resourcequotas"},
		{"more pods are asked for", full, 5, 3, surge(intstr.FromInt32(1)), nil, "100m", "", fewer},
		{"no surge", full, 3, 3, surge(*zero), nil, "100m", "", fewer},
		{"Recreate", full, 3, 3, appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}, nil, "100m", "", fewer},
		{"larger pods", full, 3, 3, surge(intstr.FromInt32(1)), nil, "200m", "", raise},
		{"larger pods and a quota of memory", memory, 3, 3, surge(intstr.FromInt32(1)), nil, "200m", "", fewer},
		{"larger pods and a quota of pods", pods, 3, 3, surge(intstr.FromInt32(1)), nil, "200m", "",
			"Free some of the quota, ask for fewer pods, or ask for more quota: kubectl describe resourcequotas"},
		{"larger pods and a quota of pods and CPU", strings.Replace(pods, "pods=1", "pods=1,requests.cpu=2", 1), 3, 3, surge(intstr.FromInt32(1)), nil, "200m", "",
			"Free some of the quota, or ask for more of it, both for the number of pods and for what spec.resources asks for: kubectl describe resourcequotas"},
		{"a lowered quota", over, 3, 3, surge(intstr.FromInt32(1)), nil, "100m", "", fewer},
	} {
		loaded := clustertest.Load(t, "quota")
		application := loaded.Application
		application.Spec.Strategy, application.Status.DesiredReplicas = test.own, test.desired
		application.Status.Problems = []v1.Problem{{Reason: v1.ReasonQuotaExceeded, Message: test.message}}
		loaded.EventsOfObjects = nil
		deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
		deployment.Spec.Strategy = test.strategy
		current := loaded.ReplicaSets[0]
		former := current.DeepCopy()
		former.Name, former.UID, former.Annotations[child.RevisionAnnotation] = "former", "former", "0"
		former.Status.Replicas = int32(test.former)
		former.Spec.Template.Spec.Containers[0].Resources.Requests = amount("cpu", "100m")
		deployment.Spec.Template.Spec.Containers[0].Resources.Requests = amount("cpu", test.cpu)
		current.Spec.Template, current.Status.Replicas = deployment.Spec.Template, 0
		loaded.ReplicaSets = append(loaded.ReplicaSets, former)
		serving := loaded.Pods[0].DeepCopy()
		serving.OwnerReferences[0].UID = former.UID
		loaded.Pods = nil
		for range test.former {
			loaded.Pods = append(loaded.Pods, serving)
		}
		finding := why.Explain(loaded).Findings[0]
		what := more
		if strings.HasPrefix(test.more, "Ask ") {
			what = room
		}
		offered := slices.ContainsFunc(finding.Next, func(next string) bool { return strings.Contains(next, "maxSurge") })
		if !strings.HasPrefix(finding.What, what) || offered != (test.want != "") || finding.Next[0] != test.more || !strings.Contains(strings.Join(finding.Next, "\n"), test.want) {
			t.Errorf("%s: %q with %q, want %q with %q and %q", test.name, finding.What, finding.Next, what, test.more, test.want)
		}
	}
}
