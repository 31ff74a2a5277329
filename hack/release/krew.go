// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// pluginManifest is what krew, the package manager of kubectl plugins, reads.
type pluginManifest struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   pluginMetadata `json:"metadata"`
	Spec       pluginSpec     `json:"spec"`
}

type pluginMetadata struct {
	Name string `json:"name"`
}

type pluginSpec struct {
	Version          string           `json:"version"`
	Homepage         string           `json:"homepage"`
	ShortDescription string           `json:"shortDescription"`
	Description      string           `json:"description"`
	Platforms        []pluginPlatform `json:"platforms"`
}

type pluginPlatform struct {
	Selector pluginSelector `json:"selector"`
	URI      string         `json:"uri"`
	SHA256   string         `json:"sha256"`
	Bin      string         `json:"bin"`
}

type pluginSelector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

// writeKrewManifest writes a manifest for each plugin.
func writeKrewManifest(_ context.Context, r *release) error {
	manifests := map[string]*pluginManifest{}
	for _, a := range r.archives {
		if !a.isPlugin() {
			continue
		}
		name := strings.TrimPrefix(a.command, "kubectl-")
		manifest := manifests[name]
		if manifest == nil {
			manifest = &pluginManifest{APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: pluginMetadata{name}, Spec: pluginSpec{
				Version: r.version, Homepage: r.source,
				ShortDescription: "See and control Fairlead Applications",
				Description:      "Shows why an Application is not ready, what a change would do, and takes it back.\n",
			}}
			manifests[name] = manifest
		}
		content, err := os.ReadFile(r.path(a.name))
		if err != nil {
			return err
		}
		manifest.Spec.Platforms = append(manifest.Spec.Platforms, pluginPlatform{
			Selector: pluginSelector{map[string]string{"os": a.os, "arch": a.arch}},
			URI:      fmt.Sprintf("%s/%s/%s", r.downloads, r.version, a.name),
			SHA256:   fmt.Sprintf("%x", sha256.Sum256(content)),
			Bin:      filepath.Base(a.file),
		})
	}
	for name, manifest := range manifests {
		content, err := yaml.Marshal(manifest)
		if err != nil {
			return err
		}
		// krew wants the file to have the name of the plugin.
		if err := r.write(name+".yaml", content); err != nil {
			return err
		}
	}
	return nil
}
