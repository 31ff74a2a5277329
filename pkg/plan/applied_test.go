// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestHashTakenAway checks that a child which others changed, hash and all, counts as drifted if
// its rendering was applied before, so that it can be held.
func TestHashTakenAway(t *testing.T) {
	ref := child.Ref{Kind: child.ConfigMap, Namespace: "shop", Name: "web"}
	desired := child.Desired{Ref: ref, Configuration: object(t, child.ConfigMap, `data: {a: ours}`), Hash: "now"}
	live := object(t, child.ConfigMap, `data: {a: theirs}`)
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{UID: "owner"}}
	live.SetOwnerReferences([]metav1.OwnerReference{{UID: "owner", Controller: new(true)}})

	for _, test := range []struct {
		applied string
		held    bool
		want    Action
		drift   bool
	}{
		{applied: "", held: true, want: Apply},
		{applied: "before", held: true, want: Apply},
		{applied: "now", want: Apply, drift: true},
		{applied: "now", held: true, want: Backoff, drift: true},
	} {
		steps, err := Compute(NewDiffer(scheme.Scheme), Input{
			Snapshot:    child.Snapshot{Application: application, Children: map[child.Ref]child.Object{ref: live}},
			Desired:     []child.Desired{desired},
			InBackoff:   map[child.Ref]bool{ref: test.held},
			LastApplied: map[child.Ref]string{ref: test.applied},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(steps) != 1 || steps[0].Action != test.want || steps[0].Drift != test.drift {
			t.Errorf("applied %q, held %t: %+v, want %s, drift %t", test.applied, test.held, steps, test.want, test.drift)
		}
	}
}
