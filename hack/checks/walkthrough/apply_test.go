// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package walkthrough

import (
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// TestApplyAgain applies every example twice. The second time kubectl must print that no Application and no class changed:
// it would print "configured" if the API server had stored another list than the file has, for example with a default in an item.
func TestApplyAgain(t *testing.T) {
	tools := buildKubectl(t)
	cluster := controlplane.ForTest(t, controlplane.APIOnly())
	s := newSession(t, tools, cluster.Kubeconfig())
	s.do("make install")
	files, err := filepath.Glob(filepath.Join(root, "artifacts", "examples", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	nested, err := filepath.Glob(filepath.Join(root, "artifacts", "examples", "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	again := 0
	for _, file := range append(files, nested...) {
		path, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		s.do("kubectl apply -f " + path)
		output, err := s.run("kubectl apply -f "+path, "")
		if err != nil {
			t.Errorf("%s: %v\n%s", path, err, output)
		}
		for line := range strings.Lines(output) {
			if !strings.Contains(line, ".apps.fairlead.dev/") {
				continue // Others are Kubernetes' own, such as a Secret with stringData.
			}
			again++
			if !strings.HasSuffix(line, " unchanged\n") {
				t.Errorf("%s, the second time: %s", path, line)
			}
		}
	}
	if again < 10 {
		t.Errorf("only %d Applications and classes were applied again", again)
	}
}
