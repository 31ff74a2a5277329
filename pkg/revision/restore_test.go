// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"bytes"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/fairlead/pkg/revision"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestRestore takes the pods from the revision and everything else from the spec, and refuses what was tampered with.
func TestRestore(t *testing.T) {
	objects, _ := treetest.Load(t, "crash")
	application := objects.Application
	application.Spec.Replicas = new(int32(7))
	restored := false
	for _, live := range objects.Children {
		object, ok := live.(*appsv1.ControllerRevision)
		if !ok || object.Revision != 1 {
			continue
		}
		former, err := revision.Restore(application, object)
		if err != nil {
			t.Fatal(err)
		}
		restored = true
		if former.Spec.Image != "example.com/web:1" || former.Spec.PodMetadata != nil || *former.Spec.Replicas != 7 {
			t.Errorf("image %s, %d replicas, pod metadata %v", former.Spec.Image, *former.Spec.Replicas, former.Spec.PodMetadata)
		}
		if application.Spec.Image != "example.com/web:2" {
			t.Error("the Application was changed")
		}
		object.Data.Raw = bytes.ReplaceAll(object.Data.Raw, []byte("web:1"), []byte("web:6"))
		if _, err := revision.Restore(application, object); err == nil {
			t.Error("a revision with another content was restored")
		}
	}
	if !restored {
		t.Error("revision 1 is missing")
	}
}
