// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	requiredKubernetes = regexp.MustCompile(`(?m)^\tk8s\.io/kubernetes v(1\.\d+)\.\d+$`)
	stagedModule       = regexp.MustCompile(`(?m)^\tk8s\.io/[a-z-]+ => k8s\.io/[a-z-]+ v0\.(\d+)\.\d+$`)
	testedVersions     = regexp.MustCompile(`(?m)^\| unreleased \| ([0-9., ]+) \|$`)
	testedRange        = regexp.MustCompile(`The tests run against Kubernetes (1\.\d+) (?:to|and) (1\.\d+)\.`)
	workflowVersions   = regexp.MustCompile(`(?m)^\s*kubernetes: \[([^]]*)\]$`)
	chartVersions      = regexp.MustCompile(`(?m)^kubeVersion: ">=(1\.\d+)\.0-0"$`)
)

// TestKubernetesVersions: whoever reads about versions of Kubernetes reads of those that the tests can run against.
func TestKubernetesVersions(t *testing.T) {
	modules, err := filepath.Glob(filepath.Join(root, "hack", "cluster", "k8s-*.mod"))
	if err != nil || len(modules) == 0 {
		t.Fatalf("found %d modules of older versions: %v", len(modules), err)
	}
	slices.Sort(modules)
	var tested []string
	for _, module := range append(modules, filepath.Join(root, "hack", "cluster", "go.mod")) {
		name := filepath.Base(module)
		text := read(t, "hack/cluster/"+name)
		required := requiredKubernetes.FindStringSubmatch(text)
		if required == nil {
			t.Fatalf("hack/cluster/%s requires no k8s.io/kubernetes", name)
		}
		minor := required[1]
		if want := "k8s-" + minor + ".mod"; name != "go.mod" && name != want {
			t.Errorf("hack/cluster/%s requires Kubernetes %s; want it in %s", name, minor, want)
		}
		for _, staged := range stagedModule.FindAllStringSubmatch(text, -1) {
			if "1."+staged[1] != minor {
				t.Errorf("hack/cluster/%s has Kubernetes %s, and %s", name, minor, strings.TrimSpace(staged[0]))
			}
		}
		tested = append(tested, minor)
	}
	oldest, newest := tested[0], tested[len(tested)-1]

	if got := match(testedVersions, read(t, "docs/releases.md")); !slices.Equal(got, []string{strings.Join(tested, ", ")}) {
		t.Errorf("docs/releases.md says that %q were tested; hack/cluster pins %q", got, tested)
	}
	if got := match(testedRange, read(t, "README.md")); !slices.Equal(got, []string{oldest, newest}) {
		t.Errorf("README.md gives the range %q; hack/cluster pins %q", got, tested)
	}
	if got := match(chartVersions, read(t, "artifacts/chart/fairlead/Chart.yaml")); !slices.Equal(got, []string{oldest}) {
		t.Errorf("the chart wants at least Kubernetes %q; the oldest tested one is %s", got, oldest)
	}
	older := `"` + strings.Join(tested[:len(tested)-1], `", "`) + `"`
	if got := match(workflowVersions, read(t, ".github/workflows/kubernetes.yaml")); !slices.Equal(got, []string{older}) {
		t.Errorf("the workflow kubernetes tests %q; hack/cluster pins %s beside the newest", got, older)
	}
}

// match returns the groups of the first match, without the match itself.
func match(pattern *regexp.Regexp, text string) []string {
	found := pattern.FindStringSubmatch(text)
	if found == nil {
		return nil
	}
	return found[1:]
}
