// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// guideManifests are the manifests of docs/guides/migrate.md: what runs before, and the Application.
func guideManifests(t *testing.T) (before, application string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/guides/migrate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	before, rest, _ = strings.Cut(rest, "```")
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	application, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the guide has no two manifests")
	}
	return before, application
}

// TestAdoptionGuide does what the guide says, with its manifests.
func TestAdoptionGuide(t *testing.T) {
	t.Parallel()
	before, application := guideManifests(t)
	e := start(t)
	e.create(before)
	e.waitRunning()
	cursor := e.cluster.AuditCursor(t)
	e.apply(application)
	uid := e.waitObserved("web").UID
	e.consentTo(child.Deployment, "web", uid)
	e.consentTo(child.Service, "web", uid)
	e.waitApplication("web", "says what would change", func(application *v1.Application) bool {
		return application.Status.Adoption != nil && len(application.Status.Adoption.PodFields) > 0
	})
	e.patchSpec("web", `{"reconcilePolicy":"Enforce"}`)
	e.waitCondition("web", v1.ConditionAdopted, metav1.ConditionFalse, v1.ReasonPodsHeld)
	e.wantPods(cursor, "before the release", 0, 0)
	e.patchSpec("web", `{"paused":false}`)
	e.waitCondition("web", v1.ConditionAdopted, metav1.ConditionTrue, v1.ReasonAdopted)
	e.wantPods(cursor, "after the release", 2, 2)
	e.waitReady("web")

	// What the guide permits afterwards changes no pod either.
	e.patchSpec("web", `{"adoptionPolicy":"Never","deletionPolicy":"Delete","disruptionBudget":null,"replicas":null,"autoscaling":{"minReplicas":2,"maxReplicas":4,"targetCPUUtilizationPercentage":80}}`)
	e.waitApplication("web", "is settled", settled)
	e.wantPods(cursor, "after later edits", 2, 2)
	if deployment := get[appsv1.Deployment](e, "web"); deployment.Spec.Selector.MatchLabels["app.kubernetes.io/name"] != "shop" || *deployment.Spec.Replicas != 2 {
		t.Errorf("the Deployment is %+v", deployment.Spec)
	}
}

// patchSpec merges the fields into the spec of an Application, as kubectl patch does.
func (e *env) patchSpec(name, fields string) {
	e.Helper()
	if _, err := e.fairlead.AppsV1().Applications(e.namespace).Patch(e.Context(), name, types.MergePatchType, []byte(fmt.Sprintf(`{"spec":%s}`, fields)), metav1.PatchOptions{FieldManager: person}); err != nil {
		e.Fatal(err)
	}
}
