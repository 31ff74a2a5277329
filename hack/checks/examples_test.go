// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestExamplesRunAsAnotherUserThanRoot: pods run with runAsNonRoot unless an Application says otherwise. For an image whose user
// is root, or has a name only, the kubelet then starts no container, and says that it cannot verify the user. So an example
// sets a number, unless its image has one.
func TestExamplesRunAsAnotherUserThanRoot(t *testing.T) {
	withNumber := []string{"registry.k8s.io/pause", "ghcr.io/acme/web"}
	found := 0
	examples := filepath.Join(root, "artifacts", "examples")
	err := filepath.WalkDir(examples, func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".yaml" {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			var application v1.Application
			if err := yaml.Unmarshal([]byte(document), &application); err != nil || application.Kind != v1.ApplicationKind {
				continue // Another kind may not fit.
			}
			found++
			image, _, _ := strings.Cut(application.Spec.Image, ":")
			pod := application.Spec.PodSecurityContext
			if !slices.Contains(withNumber, image) && (pod == nil || pod.RunAsUser == nil || *pod.RunAsUser == 0) {
				t.Errorf("%s: Application %s sets no podSecurityContext.runAsUser for %s", file, application.Name, image)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 10 {
		t.Errorf("only %d Applications were found", found)
	}
}
