// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"time"

	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/hack/internal/steps"
)

// releasedImage is the image in the install.yaml of a release: its name, version and digest.
var releasedImage = regexp.MustCompile(`(?m)^ *image: (\S+/fairlead-controller):(v\S+)@(sha256:[0-9a-f]{64})$`)

// installRelease installs from what make release wrote, and from nothing else: the image from its archive, which the node
// knows by digest alone, the operator with the chart and with install.yaml, and the plugin.
func (s *story) installRelease(ctx context.Context) error {
	dist := s.options.dist
	manifest, err := os.ReadFile(filepath.Join(dist, "install.yaml"))
	if err != nil {
		return err
	}
	image := releasedImage.FindStringSubmatch(string(manifest))
	if image == nil {
		return fmt.Errorf("%s/install.yaml has no image by digest", dist)
	}
	name, version := image[1], image[2]
	// As docs/releases.md says it.
	if err := s.node.Import(ctx, filepath.Join(dist, "fairlead-controller_"+version+".oci.tar"), "--digests", "--base-name="+name); err != nil {
		return err
	}
	wanted := ofImage(name + ":" + version + "@" + image[3])

	if err := s.operate(ctx, chartOperation{[]string{"install", chartRelease, filepath.Join(dist, "fairlead-"+version[1:]+".tgz")}, wanted}); err != nil {
		return fmt.Errorf("install the chart: %w", err)
	}
	if err := s.operate(ctx, chartOperation{[]string{"uninstall", chartRelease}, trait{}}); err != nil {
		return fmt.Errorf("uninstall the chart: %w", err)
	}
	began, log := time.Now(), filepath.Join(s.options.logs(), "release.log")
	apply := exec.CommandContext(ctx, s.kubectl(), "apply", "--server-side", "--filename="+filepath.Join(dist, "install.yaml"))
	if err := process.Run(apply, log); err != nil {
		return err
	}
	if err := s.awaitSyncing(ctx, wanted); err != nil {
		return err
	}
	s.out.Good("kubectl apply --server-side --filename=install.yaml (%s)", steps.Since(began))

	archive := filepath.Join(dist, fmt.Sprintf("kubectl-fairlead_%s_linux_%s.tar.gz", version, runtime.GOARCH))
	if err := process.Run(exec.CommandContext(ctx, "tar", "--extract", "--file="+archive, "--directory="+s.options.node()), log); err != nil {
		return err
	}
	output, err := exec.CommandContext(ctx, filepath.Join(s.options.node(), "kubectl-fairlead"), "why", webName, "--namespace="+namespace).CombinedOutput()
	if err != nil {
		return fmt.Errorf("kubectl fairlead why: %w: %s", err, output)
	}
	s.out.Good("the plugin says: %s", output)
	return nil
}
