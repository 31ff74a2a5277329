// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"errors"
	"testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/summary"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestLostDeployment: while no controller runs, the status stays Ready, whatever happens to the Deployment.
func TestLostDeployment(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	const headline = "default/cart has no Deployment, although its status says that it is ready.\n"
	text, _ := printed(t, loaded)
	wantParts(t, "with a Deployment", text, map[string]bool{headline: false})
	remove(loaded, child.Deployment)
	text, _ = printed(t, loaded)
	wantParts(t, "without", text, map[string]bool{headline: true, "The controller has not noticed.\n": true, "kubectl fairlead doctor\n": true, "is ready:": false})
	if s := summary.Of(loaded); s.Ready || s.Reason != v1.ReasonDeploymentNotFound {
		t.Errorf("status is ready %t, %s", s.Ready, s.Reason)
	}
	loaded.Unreadable[child.Deployment.Resource] = errors.New("forbidden")
	text, _ = printed(t, loaded)
	wantParts(t, "unknown", text, map[string]bool{headline: false})
}
