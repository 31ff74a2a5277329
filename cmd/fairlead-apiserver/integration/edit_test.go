// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

func TestEdits(t *testing.T) {
	f := start(t)
	f.apply("edited", 1)
	f.view("edited", running(1))
	views := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace)
	get := func() *v1.Application {
		t.Helper()
		application, err := f.fairlead.AppsV1().Applications(f.namespace).Get(t.Context(), "edited", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return application
	}
	pod := func() string {
		t.Helper()
		pods, err := f.kube.CoreV1().Pods(f.namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(pods.Items) != 1 {
			return ""
		}
		return pods.Items[0].Name
	}
	before, first := get(), pod()

	// Nothing happens on a dry run, or with another version.
	if _, err := views.Restart(t.Context(), "edited", &v1alpha1.RestartOptions{}, dryRun); err != nil {
		t.Error(err)
	}
	stale := &v1alpha1.PauseOptions{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1"}}
	if _, err := views.Pause(t.Context(), "edited", stale, metav1.CreateOptions{}); code(err) != 409 {
		t.Errorf("pause another version: %v, want 409", err)
	}
	stale.ResourceVersion = "latest"
	if _, err := views.Pause(t.Context(), "edited", stale, metav1.CreateOptions{}); code(err) != 400 {
		t.Errorf("pause a version that is no number: %v, want 400", err)
	}
	if now := get(); now.Generation != before.Generation {
		t.Errorf("generation %d, want %d", now.Generation, before.Generation)
	}
	if _, err := views.Restart(t.Context(), "missing", &v1alpha1.RestartOptions{}, metav1.CreateOptions{}); code(err) != 404 {
		t.Errorf("restart of no Application: %v, want 404", err)
	}
	other := &v1alpha1.RestartOptions{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	if _, err := views.Restart(t.Context(), "edited", other, metav1.CreateOptions{}); code(err) != 400 {
		t.Errorf("restart under another name: %v, want 400", err)
	}

	// A restart replaces the pod.
	answer, err := views.Restart(t.Context(), "edited", &v1alpha1.RestartOptions{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Generation != before.Generation+1 || answer.UID != before.UID {
		t.Errorf("answer %+v", answer.ObjectMeta)
	}
	f.eventually("the restart", func() error {
		if now := pod(); now == "" || now == first {
			return fmt.Errorf("pod %q, at first %q", now, first)
		}
		return nil
	})

	// Back to the revision before the restart.
	if _, err := views.Rollback(t.Context(), "edited", &v1alpha1.RollbackOptions{}, metav1.CreateOptions{}); code(err) != 400 {
		t.Errorf("rollback to no revision: %v, want 400", err)
	}
	back, err := views.Rollback(t.Context(), "edited", &v1alpha1.RollbackOptions{Revision: 1}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if back.Revision != 1 || back.Generation != answer.Generation+1 {
		t.Errorf("answer %+v", back)
	}
	f.eventually("the rollback", func() error {
		if status := get().Status; status.ObservedGeneration != back.Generation || status.Revision == nil || status.Revision.Current != 1 {
			return fmt.Errorf("status %+v", status)
		}
		return nil
	})

	// Pause, with the version that the Application has, and resume.
	f.eventually("pause", func() error {
		current := &v1alpha1.PauseOptions{ObjectMeta: metav1.ObjectMeta{ResourceVersion: get().ResourceVersion}}
		_, err := views.Pause(t.Context(), "edited", current, metav1.CreateOptions{})
		return err
	})
	if now := get(); now.Spec.Paused == nil || !*now.Spec.Paused {
		t.Errorf("paused is %v", now.Spec.Paused)
	}
	if _, err := views.Resume(t.Context(), "edited", &v1alpha1.ResumeOptions{}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if now := get(); now.Spec.Paused != nil {
		t.Errorf("after the resume paused is %v", *now.Spec.Paused)
	}
}

// TestRestartAfterRollback: the spec still says what failed, so a restart of it would try that again.
func TestRestartAfterRollback(t *testing.T) {
	f := start(t)
	f.apply("reverted", 1, func(a *v1.Application) {
		a.Spec.ProgressDeadlineSeconds = new(int32(5))
		a.Spec.Rollback = &v1.Rollback{Policy: v1.RollbackOnFailure}
	})
	f.view("reverted", running(1))
	failing := []byte(`{"spec":{"podMetadata":{"annotations":{"simulate.fairlead.dev/behavior":"image-pull-error"}}}}`)
	applications := f.fairlead.AppsV1().Applications(f.namespace)
	if _, err := applications.Patch(t.Context(), "reverted", types.MergePatchType, failing, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	var reverted *v1.Application
	f.eventually("the rollback of revision 2", func() (err error) {
		if reverted, err = applications.Get(t.Context(), "reverted", metav1.GetOptions{}); err != nil {
			return err
		}
		if !reverted.IsRolledBack() {
			return fmt.Errorf("status %+v", reverted.Status)
		}
		return nil
	})
	views := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace)
	_, err := views.Restart(t.Context(), "reverted", &v1alpha1.RestartOptions{}, metav1.CreateOptions{})
	if want := "revision 2 failed and was rolled back, and a restart would try it again: change the pods in the spec instead"; code(err) != 409 || !strings.Contains(err.Error(), want) {
		t.Errorf("restart after a rollback: %v, want 409 with %q", err, want)
	}
	now, err := applications.Get(t.Context(), "reverted", metav1.GetOptions{})
	if err != nil || now.Generation != reverted.Generation {
		t.Errorf("generation %d, want %d (%v)", now.Generation, reverted.Generation, err)
	}
}

func TestTree(t *testing.T) {
	f := start(t)
	f.apply("treed", 1, func(a *v1.Application) { a.Spec.Ports = []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}} })
	f.view("treed", running(1))
	f.eventually("the tree", func() error {
		tree, err := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace).GetTree(t.Context(), "treed", metav1.GetOptions{})
		if err != nil {
			return err
		}
		depths := map[string]int32{}
		for _, node := range tree.Nodes {
			if node.Health != v1alpha1.Healthy {
				return fmt.Errorf("%+v", node)
			}
			depths[node.Kind] = node.Depth
		}
		for kind, depth := range map[string]int32{"Application": 0, "Deployment": 1, "Service": 1, "ReplicaSet": 2, "EndpointSlice": 2, "Pod": 3} {
			if got, found := depths[kind]; !found || got != depth {
				return fmt.Errorf("%s at %d (%v), want %d: %+v", kind, got, found, depth, tree.Nodes)
			}
		}
		return nil
	})
	table := f.table("treed/tree")
	if len(table.Rows) < 6 || table.Rows[0].Cells[0] != "Application/treed" {
		t.Errorf("table %+v", table)
	}
}
