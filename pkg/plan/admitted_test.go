// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

const imageField, label = `.spec.template.spec.containers[name="web"].image`, ".metadata.labels.app.kubernetes.io/name"

// admitted is an Application whose Deployment has another image than the rendered one, and what is known of its last write, which had the
// resourceVersion 100 and the generation 1.
func admitted(t *testing.T) (plan.Input, *appsv1.Deployment) {
	t.Helper()
	snapshot := settled(t, application(t, "replicas: 2"))
	deployment := live[*appsv1.Deployment](snapshot, child.Deployment)
	written, _ := plan.Result{
		Step: step(t, computeFrom(t, plan.Input{Snapshot: child.Snapshot{Application: snapshot.Application}}), ref(child.Deployment)),
		UID:  deployment.UID, ResourceVersion: "100", Generation: 1,
	}.Written()
	deployment.Spec.Template.Spec.Containers[0].Image = "mirror/web:1"
	return plan.Input{Snapshot: snapshot, Written: map[child.Ref]plan.Written{ref(child.Deployment): written}}, deployment
}

// TestAdmitted: what admission made of the last write is no drift, and what another client changed later is.
func TestAdmitted(t *testing.T) {
	for _, test := range []struct {
		name string
		// known means that an earlier sync has found that admission made the image.
		known            bool
		change           func(*plan.Input, *appsv1.Deployment)
		action           plan.Action
		fields, admitted []string
	}{
		{"the version that was written", false, func(*plan.Input, *appsv1.Deployment) {}, plan.Keep, nil, []string{imageField}},
		{"another status", false, func(_ *plan.Input, d *appsv1.Deployment) { d.ResourceVersion = "101" }, plan.Keep, nil, []string{imageField}},
		{"a label in the version that was written", false, func(_ *plan.Input, d *appsv1.Deployment) {
			d.Labels["app.kubernetes.io/name"] = "theirs"
		}, plan.Keep, nil, []string{label, imageField}},
		{"another client's label", false, func(_ *plan.Input, d *appsv1.Deployment) {
			d.ResourceVersion, d.Labels["app.kubernetes.io/name"] = "101", "theirs"
		}, plan.Apply, []string{label}, []string{imageField}},
		{"another spec", false, func(_ *plan.Input, d *appsv1.Deployment) {
			d.ResourceVersion, d.Generation = "101", 2
		}, plan.Apply, []string{imageField}, nil},
		{"another spec with the known image", true, func(_ *plan.Input, d *appsv1.Deployment) {
			d.ResourceVersion, d.Generation = "101", 2
		}, plan.Keep, nil, []string{imageField}},
		{"another client's replicas with the known image", true, func(_ *plan.Input, d *appsv1.Deployment) {
			d.ResourceVersion, d.Generation, d.Spec.Replicas = "101", 2, new(int32(7))
		}, plan.Apply, []string{".spec.replicas"}, []string{imageField}},
		{"another client's image", true, func(_ *plan.Input, d *appsv1.Deployment) {
			d.ResourceVersion, d.Generation, d.Spec.Template.Spec.Containers[0].Image = "101", 2, "mirror/theirs:1"
		}, plan.Apply, []string{imageField}, nil},
		{"another Deployment", true, func(_ *plan.Input, d *appsv1.Deployment) { d.UID = "another" }, plan.Apply, []string{imageField}, nil},
		{"fields that were not written", true, func(in *plan.Input, _ *appsv1.Deployment) {
			written := in.Written[ref(child.Deployment)]
			written.Sent = "other fields"
			in.Written[ref(child.Deployment)] = written
		}, plan.Apply, []string{imageField}, nil},
		{"the image during a fight about another field", true, func(in *plan.Input, _ *appsv1.Deployment) {
			in.InBackoff = map[child.Ref]bool{ref(child.Deployment): true}
		}, plan.Keep, nil, []string{imageField}},
		{"no owner", true, func(in *plan.Input, d *appsv1.Deployment) {
			known(in.Snapshot)
			d.OwnerReferences = nil
		}, plan.Apply, []string{".metadata.ownerReferences", `.metadata.ownerReferences[uid="application-uid"]`, imageField}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			in, deployment := admitted(t)
			if test.known {
				kept := plan.Result{Step: step(t, computeFrom(t, in), ref(child.Deployment)), UID: deployment.UID}
				in.Written[ref(child.Deployment)], _ = kept.Written()
			}
			test.change(&in, deployment)
			got := step(t, computeFrom(t, in), ref(child.Deployment))
			if got.Action != test.action || got.Drift != (test.action == plan.Apply) || !cmp.Equal(got.Fields, test.fields) || !cmp.Equal(got.Admitted, test.admitted) {
				t.Errorf("%s, drift %t, fields %v, admitted %v; want %s, %v, %v", got.Action, got.Drift, got.Fields, got.Admitted, test.action, test.fields, test.admitted)
			}
		})
	}
}

// TestUnrepaired: a repair after which the same differs was none. The status of a Deployment changes its version all the time.
func TestUnrepaired(t *testing.T) {
	for _, test := range []struct {
		name, version string
		generation    int64
		label, want   bool
	}{
		{"nothing changed", "100", 1, false, true},
		{"nothing changed, with a label", "100", 1, true, true},
		{"only the status changed", "101", 1, false, true},
		{"perhaps the label changed", "101", 1, true, false},
		{"the spec changed", "101", 2, false, false},
	} {
		in, deployment := admitted(t)
		in.Written = nil
		if test.label {
			deployment.Labels["app.kubernetes.io/name"] = "theirs"
		}
		repair := plan.Result{Step: step(t, computeFrom(t, in), ref(child.Deployment)), UID: deployment.UID, ResourceVersion: test.version, Generation: test.generation}
		instead := repair.Unrepaired()
		if repair.Action != plan.Apply || (instead != nil) != test.want {
			t.Errorf("%s: %s, then %+v", test.name, repair.Action, instead)
		}
		if instead == nil {
			continue
		}
		repair.Instead = instead
		written, _ := repair.Written()
		in.Written = map[child.Ref]plan.Written{ref(child.Deployment): written}
		deployment.Generation, deployment.ResourceVersion = 3, "103"
		if again := step(t, computeFrom(t, in), ref(child.Deployment)); again.Action != plan.Keep {
			t.Errorf("%s: the next step is %s", test.name, again.Action)
		}
	}
}
