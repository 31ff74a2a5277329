// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// WHY begins with the cause, as the kubelet, the registry, the scheduler and others word it, not with how many pods have it.
func TestWhyOfPods(t *testing.T) {
	const long = "registry.example.com/simulate/image-pull-error:1"
	for _, test := range []struct {
		problem v1.Problem
		want    string
	}{
		{v1.Problem{Reason: v1.ReasonCrashLooping, Container: "web", Message: "Exited with code 1 (Error). Restarted at least 5 times."}, "Exited with code 1 (Error)."},
		{v1.Problem{Reason: v1.ReasonCrashLooping, Container: "proxy", Message: "Out of memory (OOMKilled, exit code 137)."}, "proxy: Out of memory (OOMKilled, exit code 137)."},
		{v1.Problem{Reason: v1.ReasonInitFailed, Container: "migrate", Message: "Exited with code 3 (Error)."}, "migrate: Exited with code 3 (Error)."},
		{v1.Problem{Reason: v1.ReasonImagePullFailed, Container: "web", Message: `failed to pull and unpack image "ghcr.io/acme/web:2": failed to resolve reference "ghcr.io/acme/web:2": ghcr.io/acme/web:2: not found`}, "ghcr.io/acme/web:2: not found"},
		{v1.Problem{Reason: v1.ReasonImagePullFailed, Container: "web", Message: `failed to pull and unpack image "` + long + `": ` + long + ": not found"}, "…example.com/simulate/image-pull-error:1: not found"},
		{v1.Problem{Reason: v1.ReasonImagePullFailed, Container: "web", Message: "authorization failed: no basic auth credentials"}, "authorization failed: no basic auth credentials"},
		{v1.Problem{Reason: v1.ReasonImagePullFailed, Container: "web", Message: "ErrImagePull"}, "ErrImagePull"},
		{v1.Problem{Reason: v1.ReasonStartFailed, Container: "web", Message: `failed to create containerd task: runc create failed: unable to start container process: exec: "srv": executable file not found in $PATH`}, `exec: "srv": executable file not found in $PATH`},
		{v1.Problem{Reason: v1.ReasonUnschedulable, Message: "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."}, "3 Insufficient cpu."},
		{v1.Problem{Reason: v1.ReasonUnschedulable, Message: "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: none"}, "3 node(s) didn't match Pod's node affinity/selector."},
		{v1.Problem{Reason: v1.ReasonReadinessFailing, Container: "web", Message: "Readiness probe GET :8080/ready has failed since 2026-07-01T12:00:00Z in pod web-84f69f5b9b-zj58m."}, "Readiness probe GET :8080/ready has failed since…"},
		{v1.Problem{Reason: v1.ReasonPolicyDenied, Message: `violates PodSecurity "restricted:latest": runAsNonRoot != true (pod or container "web" must set it)`}, `runAsNonRoot != true (pod or container "web" must…`},
		{v1.Problem{Reason: v1.ReasonPolicyDenied, Message: `violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true`}, "allowPrivilegeEscalation != false, unrestricted…"},
		{v1.Problem{Reason: v1.ReasonPolicyDenied, Message: `violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (contai … ivilegeEscalation=false)`}, "allowPrivilegeEscalation != false (contai…"},
		{v1.Problem{Reason: v1.ReasonPolicyDenied, Message: `admission webhook "images.example.com" denied the request: no latest tag`}, "no latest tag"},
		{v1.Problem{Reason: v1.ReasonReplicaFailure, Message: `the pod is invalid: spec.containers[0].resources.requests: Invalid value: "512Mi": must be less than or equal to memory limit of 256Mi (a LimitRange may set that limit: set resources.limits)`},
			"memory request 512Mi exceeds the limit of 256Mi"},
		{v1.Problem{Reason: v1.ReasonReplicaFailure, Message: `the pod is invalid: spec.priority: Forbidden: no`}, "spec.priority: Forbidden: no"},
		{v1.Problem{Reason: v1.ReasonConfigError, Container: "web", Message: `secret "db" not found`}, `secret "db" not found`},
	} {
		s := summary{message: "1 pod, container web: " + test.problem.Message, cause: whyPods(&test.problem, "web")}
		if got := s.why(); got != test.want {
			t.Errorf("%s: WHY is %q, want %q", test.problem.Message, got, test.want)
		}
	}
}

// WHY of a refused spec has no value, which the user wrote.
func TestWhyOfARefusedSpec(t *testing.T) {
	replicas := field.NewPath("spec", "replicas")
	for _, test := range []struct {
		err  *field.Error
		want string
	}{
		{field.Invalid(replicas, 3, `ApplicationClass "team" allows at most 1`), `replicas: class "team" allows at most 1`},
		{field.NotFound(field.NewPath("spec", "rollback", "toRevision"), 99), "rollback.toRevision: 99 does not exist"},
		{field.NotSupported(field.NewPath("spec", "probe"), "htp", []string{"http"}), `probe: Unsupported value: "htp": supported values…`},
		{field.Required(field.NewPath("spec", "image"), "it names what runs"), "image: Required value: it names what runs"},
		{field.Duplicate(field.NewPath("spec", "sidecars").Index(0).Child("name"), "web"), `sidecars[0].name: Duplicate value: "web"`},
	} {
		in := with(func(in *Input, _ *appsv1.Deployment) { in.Results, in.Invalid = nil, field.ErrorList{test.err} })
		if got := compute(in, noon).Summary; got != test.want {
			t.Errorf("%v: WHY is %q, want %q", test.err, got, test.want)
		}
	}
}

// WHY of a rollback says which revision failed with what.
func TestWhyOfARollback(t *testing.T) {
	in := with(func(in *Input, _ *appsv1.Deployment) {
		in.Revision = v1.RevisionStatus{Current: 1, LastHealthy: 1, RolledBackFrom: 2}
		in.RolledBack = &metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonRolledBack, Message: "Revision 2 (registry.example.com/web:2) failed: …"}
		in.RolledBackBecause = "CrashLooping: All 2 pods, container web: Exited with code 1 (Error)."
	})
	if got, want := compute(in, noon).Summary, "Revision 2 failed with CrashLooping; 1 runs instead."; got != want {
		t.Errorf("WHY is %q, want %q", got, want)
	}
}
