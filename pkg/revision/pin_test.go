// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// While toRevision is set, that revision runs under its own number, whatever the spec says about the pods.
func TestToRevision(t *testing.T) {
	c := newCluster()
	c.run(t, "web:1", healthy)
	c.run(t, "web:2", healthy)
	c.application.Spec.Rollback.ToRevision = new(int64(1))
	for _, image := range []string{"web:2", "web:3"} {
		record := c.run(t, image, healthy)
		if c.runs != "web:1" || !cmp.Equal(record.Status, v1.RevisionStatus{Current: 1, LastHealthy: 1, FormerHealthy: []int64{2}}) || record.Condition != nil {
			t.Errorf("with %s in the spec it runs %s, %+v, %+v", image, c.runs, record.Status, record.Condition)
		}
	}
	c.application.Spec.Rollback.ToRevision = nil
	if record := c.run(t, "web:3", healthy); c.runs != "web:3" || !cmp.Equal(record.Status, v1.RevisionStatus{Current: 3, LastHealthy: 3, FormerHealthy: []int64{2, 1}}) {
		t.Errorf("without toRevision it runs %s, %+v", c.runs, record.Status)
	}
}

// It ends a rollback that Fairlead did, and a failure of its own is not rolled back.
func TestToRevisionAfterRollback(t *testing.T) {
	c := newCluster()
	c.run(t, "web:1", healthy)
	c.run(t, "web:2", healthy)
	c.run(t, "web:3", broken)
	c.application.Spec.Rollback.ToRevision = new(int64(1))
	if record := c.run(t, "web:3", broken); c.runs != "web:1" || record.RolledBackFrom != "" || record.Status.Current != 1 {
		t.Errorf("it runs %s, %+v", c.runs, record)
	}
}

func TestToRevisionOfAnotherConfig(t *testing.T) {
	c := newCluster()
	c.references = "a"
	c.run(t, "web:1", healthy)
	c.run(t, "web:2", healthy)
	c.references = "b"
	c.application.Spec.Rollback.ToRevision = new(int64(1))
	for range 3 { // Its pods with the ConfigMaps of today are a revision of their own; the one that is asked for stays.
		record := c.sync(t)
		if c.runs != "web:1" || record.Status.Current != 3 {
			t.Errorf("it runs %s, %+v", c.runs, record.Status)
		}
	}
}

func TestToRevisionThatIsMissing(t *testing.T) {
	for _, test := range []struct {
		name         string
		change       func(*cluster)
		reason, want string
	}{
		{"unknown", func(c *cluster) { c.application.Spec.Rollback.ToRevision = new(int64(7)) }, v1.ReasonRevisionMissing,
			"spec.rollback.toRevision: Not found: 7: only the revisions 1, 2 exist; name one of them, or remove the field"},
		{"unknown, of one", func(c *cluster) {
			c.history, c.application.Spec.Rollback.ToRevision = c.history[:1], new(int64(7))
		}, v1.ReasonRevisionMissing,
			"spec.rollback.toRevision: Not found: 7: only revision 1 exists; name it, or remove the field"},
		{"no history", func(c *cluster) { c.history = nil }, v1.ReasonRevisionMissing,
			"spec.rollback.toRevision: Not found: 1: there are no revisions yet; remove the field"},
		{"changed by another client", func(c *cluster) {
			at := slices.IndexFunc(c.history, func(r *appsv1.ControllerRevision) bool { return r.Revision == 1 })
			c.history[at].Name, c.history[at].Data.Raw = "web-0123456789", []byte("{}")
		}, v1.ReasonRevisionMissing, "spec.rollback.toRevision: Invalid value: 1: ControllerRevision web-0123456789 was changed and cannot be read"},
		{"refused", func(c *cluster) { c.refused = field.ErrorList{field.Required(field.NewPath("spec", "x"), "because")} }, v1.ReasonClassLimitExceeded,
			"spec.x: Required value: in revision 1, which spec.rollback.toRevision asks for: because; no edit of the spec changes a revision: name another one, or remove toRevision"},
		{"refused beside the pods", func(c *cluster) {
			c.refused = field.ErrorList{field.NotSupported(field.NewPath("spec", "routes").Index(0).Child("paths").Index(0).Child("port"), "metrics", []string{"http"})}
		}, v1.ReasonClassLimitExceeded,
			`spec.routes[0].paths[0].port: Unsupported value: "metrics": in revision 1, which spec.rollback.toRevision asks for: supported values: "http"; ` +
				"this field is no part of the revision: change it, name another revision, or remove toRevision"},
	} {
		c := newCluster()
		c.run(t, "web:1", healthy)
		c.run(t, "web:2", healthy)
		c.application.Spec.Rollback.ToRevision = new(int64(1))
		test.change(c)
		selection, err := Select(c.input())
		if err != nil {
			t.Fatal(err)
		}
		if selection.InvalidReason != test.reason || len(selection.Invalid) != 1 || selection.Invalid[0].Error() != test.want {
			t.Errorf("%s: %s: %v, want %s: %s", test.name, selection.InvalidReason, selection.Invalid.ToAggregate(), test.reason, test.want)
		}
	}
}

// The spec is what admission reviews. So a revision that ran as a ServiceAccount is run again only for a spec that names it.
func TestS5ToRevisionOfAnotherAccount(t *testing.T) {
	as := func(name string) *v1.ServiceAccount { return &v1.ServiceAccount{Name: name} }
	for _, test := range []struct {
		name            string
		former, present *v1.ServiceAccount
		want            string
	}{
		{"let go of", as("deployer"), nil, "deployer"},
		{"changed", as("deployer"), as("reader"), "deployer"},
		{"named", as("deployer"), as("deployer"), ""},
		{"its own", nil, as("reader"), ""},
		{"its own, with a token", &v1.ServiceAccount{AutomountToken: new(true)}, nil, ""},
	} {
		c := newCluster()
		c.application.Spec.ServiceAccount = test.former
		c.run(t, "web:1", healthy)
		c.application.Spec.ServiceAccount = test.present
		c.run(t, "web:2", healthy)
		c.application.Spec.Rollback.ToRevision = new(int64(1))
		selection, err := Select(c.input())
		if err != nil {
			t.Fatal(err)
		}
		if test.want == "" {
			if len(selection.Invalid) > 0 {
				t.Errorf("%s: %v, want no error", test.name, selection.Invalid.ToAggregate())
			}
			continue
		}
		want := fmt.Sprintf("spec.rollback.toRevision: Forbidden: the pods of revision 1 run as ServiceAccount %q: "+
			"to go back to it, name that account in spec.serviceAccount.name too", test.want)
		if len(selection.Invalid) != 1 || selection.Invalid[0].Error() != want || selection.InvalidReason != v1.ReasonInvalid {
			t.Errorf("%s: %s: %v, want %s", test.name, selection.InvalidReason, selection.Invalid.ToAggregate(), want)
		}
	}
}
