// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// anyLong draws what takes much room in JSON: each of these takes another number of bytes.
func anyLong(t *rapid.T, most int) string {
	unit := rapid.SampledFrom([]string{"x", "<", "\"", "é", "\u2028", "\x01", "\xff", "𝒜"}).Draw(t, "unit")
	return strings.Repeat(unit, rapid.SampledFrom([]int{0, 1, most / 7, most}).Draw(t, "length"))
}

// inflate makes whatever a user or another controller can size as long as it may be.
func inflate(t *rapid.T, in *Input) {
	for i := range in.Results {
		if in.Results[i].Err != nil {
			in.Results[i].Err = apierrors.NewForbidden(services, "web", errors.New(anyLong(t, 5000)))
		}
		in.Results[i].Reason = anyLong(t, 5000)
	}
	if len(in.Results) > 0 {
		for i := range rapid.SampledFrom([]int{0, 10, 1000}).Draw(t, "leftovers") {
			name := fmt.Sprintf("%0253d", i)
			in.Results = append(in.Results, plan.Result{
				Step: plan.Step{Action: plan.Delete, Ref: ref(child.ConfigMap, name), Live: &corev1.ConfigMap{ObjectMeta: ownedMeta(name, types.UID(strings.Repeat("u", 36)))}},
				Err:  errors.New(anyLong(t, 300)),
			})
		}
	}
	for range 1000 {
		in.URLs = append(in.URLs, "https://web.example.com/"+strings.Repeat("&", 1000))
	}
	in.Class = &v1.AppliedClass{Name: strings.Repeat("c", 253), Defaults: &v1.ApplicationDefaults{
		PodMetadata: &v1.PodMetadata{Annotations: map[string]string{"a": anyLong(t, 100_000)}},
		Routes:      &v1.RouteDefaults{ParentRefs: slices.Repeat([]v1.ParentReference{{Name: strings.Repeat("g", 253)}}, 8)},
	}}
	if len(in.Invalid) > 0 {
		in.Invalid = slices.Repeat(field.ErrorList{field.Invalid(field.NewPath("spec"), anyLong(t, 5000), anyLong(t, 5000))}, 65)
	}
	in.Missing, in.Unwatched = anyLong(t, 5000), anyLong(t, 5000)
	in.Revision.FormerHealthy = slices.Repeat([]int64{math.MaxInt64}, 100)
	in.RolledBack = &metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonRolledBack, Message: anyLong(t, 5000)}
	for _, live := range in.Snapshot.Children {
		switch o := live.(type) {
		case *appsv1.Deployment:
			o.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web", Image: anyLong(t, 5000)}}
			for i := range o.Status.Conditions {
				o.Status.Conditions[i].Reason, o.Status.Conditions[i].Message = strings.Repeat("R", 5000), anyLong(t, 5000)
			}
		case *autoscalingv2.HorizontalPodAutoscaler:
			for i := range o.Status.Conditions {
				o.Status.Conditions[i].Reason, o.Status.Conditions[i].Message = strings.Repeat("R", 128), anyLong(t, 5000)
			}
		}
	}
	for _, pod := range in.Snapshot.Pods {
		if pod.Problems != nil {
			for i := range 30 {
				waiting := &child.ReasonMessage{Reason: "ErrImagePull", Message: anyLong(t, 5000)}
				pod.Problems.Containers = append(pod.Problems.Containers, child.Container{Name: fmt.Sprintf("%063d", i), Waiting: waiting})
			}
		}
	}
}

// TestStatusIsBounded: whatever users and other controllers make long, a status stays below MaxBytes,
// also one that is made of a status that was stored without limits.
func TestStatusIsBounded(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		inflate(t, &in)
		if rapid.Bool().Draw(t, "stored") {
			stored := &in.Snapshot.Application.Status
			stored.URLs = in.URLs
			for i := range 5000 {
				stored.Resources = append(stored.Resources, v1.ResourceStatus{Kind: "ConfigMap", Name: fmt.Sprintf("%0253d", i), Message: anyLong(t, 300)})
			}
			stored.Class = in.Class.DeepCopy()
		}
		status := compute(in, noon)
		encoded, err := json.Marshal(status)
		if err != nil || len(encoded) > MaxBytes {
			t.Fatalf("%d bytes (%v), want at most %d", len(encoded), err, MaxBytes)
		}
	})
}

// TestRenderedResourcesAreListed: all children that an Application can ask for are listed, with as many
// that are still to be deleted, however many objects somebody gives an ownerReference to it.
func TestRenderedResourcesAreListed(t *testing.T) {
	in := Input{Snapshot: child.Snapshot{Application: newApplication()}}
	for i := range 1000 {
		name := fmt.Sprintf("%0253d", i)
		in.Results = append(in.Results, plan.Result{Step: plan.Step{Action: plan.Delete, Ref: ref(child.ConfigMap, name)}, Err: errOther})
	}
	const rendered = 9 + 2*16 // one of each kind, and for each route an HTTPRoute and its redirect
	for i := range rendered {
		in.Results = append(in.Results, plan.Result{
			Step: plan.Step{Action: plan.Create, Ref: ref(child.HTTPRoute, fmt.Sprintf("%063d", i)), Desired: &child.Desired{}}, UID: types.UID(strings.Repeat("u", 36)), Err: errOther,
		})
	}
	found := 0
	for _, resource := range compute(in, noon).Resources {
		if resource.Kind == child.HTTPRoute.Kind && resource.UID != "" {
			found++
		}
	}
	if found != rendered {
		t.Errorf("%d of %d children that the spec asks for are listed", found, rendered)
	}
	if leftovers := len(compute(in, noon).Resources) - rendered; leftovers < 20 {
		t.Errorf("%d of those that are left over are listed, want some", leftovers)
	}
}
