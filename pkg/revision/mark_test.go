// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Another client strips annotations from the Deployment, or forges them: what failed does not roll out again,
// and the next sync puts the mark back.
func TestStrippedMark(t *testing.T) {
	for name, strip := range map[string]func(annotations map[string]string){
		"all":                  func(annotations map[string]string) { clear(annotations) },
		"all but the reason":   func(a map[string]string) { delete(a, v1.AnnotationRevision); delete(a, v1.AnnotationRolledBackFrom) },
		"the revision":         func(annotations map[string]string) { delete(annotations, v1.AnnotationRevision) },
		"what was given up":    func(annotations map[string]string) { delete(annotations, v1.AnnotationRolledBackFrom) },
		"another was given up": func(annotations map[string]string) { annotations[v1.AnnotationRolledBackFrom] = "web-0000000000" },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster()
			c.run(t, "web:1", healthy)
			record := c.run(t, "web:2", broken)
			strip(c.deployment.Annotations)
			again := c.sync(t)
			if c.runs != "web:1" || !cmp.Equal(again.Status, record.Status) || again.RolledBackFrom != record.RolledBackFrom {
				t.Errorf("it runs %s, %+v", c.runs, again)
			}
			if got := c.deployment.Annotations[v1.AnnotationRolledBackFrom]; got != record.RolledBackFrom {
				t.Errorf("the mark is %q, want %q", got, record.RolledBackFrom)
			}
		})
	}
}

// The process ends after it wrote the Deployment of the next spec, and before it wrote the status. What
// failed is then tried again all the same: the status is older than the Deployment.
func TestStatusOfAnEndedRollback(t *testing.T) {
	for _, image := range []string{"web:1", "web:3"} {
		c := newCluster()
		c.run(t, "web:1", healthy)
		c.run(t, "web:2", broken)
		before := *c.application.Status.Revision
		c.application.Spec.Image = image
		c.sync(t)
		c.application.Status.Revision = &before
		c.application.Spec.Image = "web:2"
		if record := c.sync(t); c.runs != "web:2" || record.RolledBackFrom != "" {
			t.Errorf("after %s it runs %s, %+v", image, c.runs, record)
		}
	}
}

// Another client deletes the Deployment with its mark. The status has the cause, and says more behind it.
func TestCauseByStatus(t *testing.T) {
	c := newCluster()
	c.run(t, "web:1", healthy)
	record := c.run(t, "web:2", broken)
	for message, want := range map[string]string{
		record.Condition.Message: record.RolledBackBecause,
		strings.TrimSuffix(record.Condition.Message, ".") + ", until the spec or its class asks for other pods.": record.RolledBackBecause,
		"Revision 2 (web:2) failed: Crash…": v1.ReasonProgressDeadlineExceeded + ".",
	} {
		c.deployment = nil
		c.application.Status.Conditions = []metav1.Condition{{Type: v1.ConditionRolledBack, Message: message}}
		if got := c.sync(t).RolledBackBecause; got != want {
			t.Errorf("%s: the cause is %q, want %q", message, got, want)
		}
	}
}
