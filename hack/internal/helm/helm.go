// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package helm runs the Helm that hack/chart pins, and makes a version of the chart to upgrade from. The tests on an
// embedded cluster (hack/chart/lifecycle) and on a real node (hack/e2e) use it.
package helm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build compiles Helm. The first time takes minutes, and needs the network for the modules.
func Build(ctx context.Context, root, binary string) *exec.Cmd {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", binary, "helm.sh/helm/v4/cmd/helm")
	build.Dir, build.Env = filepath.Join(root, "hack", "chart"), append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	return build
}

// Helm is a compiled Helm and its cluster. Its home is its own: it neither reads nor changes what the user has set up.
type Helm struct {
	Binary, Home, Kubeconfig string
}

// Command is a call of Helm.
func (h Helm) Command(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, h.Binary, arguments...)
	command.Env = append(os.Environ(), "KUBECONFIG="+h.Kubeconfig,
		"HOME="+h.Home, "HELM_CACHE_HOME="+h.Home, "HELM_CONFIG_HOME="+h.Home, "HELM_DATA_HOME="+h.Home)
	return command
}

// Chart is the directory of the chart.
func Chart(root string) string { return filepath.Join(root, "artifacts", "chart", "fairlead") }

// The short names of Applications in the chart, and in the version before it.
const (
	ShortName         = "fla"
	PreviousShortName = "previous"
)

// WritePrevious writes the chart into a directory as if it were of a previous version: with another version and other CRDs,
// so that an upgrade has to change them.
func WritePrevious(ctx context.Context, root, directory string) error {
	// Following links: the CRDs are those of artifacts/crds.
	if output, err := exec.CommandContext(ctx, "cp", "-RL", Chart(root), directory).CombinedOutput(); err != nil {
		return fmt.Errorf("copy the chart: %w\n%s", err, output)
	}
	return errors.Join(
		replace(filepath.Join(directory, "Chart.yaml"), "\nversion: 0.0.0-dev\n", "\nversion: 0.0.0-alpha\n"),
		replace(filepath.Join(directory, "files", "crds", "apps.fairlead.dev_applications.yaml"), "    - "+ShortName+"\n", "    - "+PreviousShortName+"\n"),
	)
}

// replace replaces a text that a file must have.
func replace(file, before, after string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	edited := strings.Replace(string(content), before, after, 1)
	if edited == string(content) {
		return fmt.Errorf("%s has no %q", file, before)
	}
	return os.WriteFile(file, []byte(edited), 0o600)
}
