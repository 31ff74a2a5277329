// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestTakenBack: an abort after the Application is gone deletes none.
func TestTakenBack(t *testing.T) {
	a := &adopting{namespace: "shop", name: "web"}
	for _, test := range []struct {
		deletes, restores, dryRun bool
		want                      string
	}{
		{true, true, false, "shop/web: the Application is deleted, and the adoption is taken back; no pod was replaced."},
		{true, true, true, "shop/web: the Application would be deleted, and the adoption would be taken back; no pod would be replaced (dry run)."},
		{false, true, false, "shop/web: the adoption is taken back; no pod was replaced."},
		{true, false, false, "shop/web: the Application is deleted, and nothing was adopted; no pod was replaced."},
	} {
		if got := a.takenBack(test.deletes, test.restores, test.dryRun); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestMayRollOut: while Fairlead only observes, the release of the pods replaces none.
func TestMayRollOut(t *testing.T) {
	a := &adopting{tool: toolWith(*clientcmdapi.NewConfig(), "shop"), namespace: "shop", name: "web"}
	application := &v1.Application{}
	if err := a.mayRollOut(application); err != nil {
		t.Error(err)
	}
	application.Spec.ReconcilePolicy = v1.ReconcileObserve
	want := "the reconcilePolicy of the Application is Observe, so no pod would be replaced: run kubectl fairlead -n shop resume web, which replaces them"
	if err := a.mayRollOut(application); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
