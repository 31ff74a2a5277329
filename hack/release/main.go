// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	var o options
	flag.StringVar(&o.version, "version", "", "Version to release, such as v0.2.0.")
	flag.StringVar(&o.registry, "registry", "registry.example.com/fairlead", "Where the images will be pushed: registry and path, without the name of the image.")
	flag.StringVar(&o.downloads, "downloads", "https://downloads.example.com/fairlead", "Where the files will be downloaded from, without the version.")
	flag.StringVar(&o.source, "source", "https://git.example.com/fairlead", "Where the source is, for the provenance.")
	flag.StringVar(&o.builder, "builder", "local", "Who builds, for the provenance: the URI of a build service.")
	flag.StringVar(&o.root, "root", ".", "Root of the repository.")
	flag.StringVar(&o.dist, "dist", "dist", "Directory to write; what it had is deleted.")
	flag.Parse()
	o.privateKey, o.password = os.Getenv("COSIGN_PRIVATE_KEY"), os.Getenv("COSIGN_PASSWORD")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run makes the release. Later steps read what earlier ones wrote: images and archives contain binaries, the chart and
// install.yaml name images by digest, the checksums cover all files, and the provenance and signatures cover the checksums.
func run(ctx context.Context, o options, out io.Writer) error {
	if err := o.validate(); err != nil {
		return err
	}
	key, err := o.signingKey()
	if err != nil {
		return err
	}
	commit, err := readCommit(ctx, o.root, o.version)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(o.dist); err != nil {
		return fmt.Errorf("empty %s: %w", o.dist, err)
	}
	if err := os.MkdirAll(o.dist, 0o755); err != nil {
		return fmt.Errorf("create %s: %w", o.dist, err)
	}
	r := &release{options: o, commit: commit, out: out}

	steps := []struct {
		name string
		do   func(context.Context, *release) error
	}{
		{"compile the commands", buildBinaries},
		{"pack them", writeArchives},
		{"build the images", writeImages},
		{"package the chart", writeChart},
		{"write install.yaml", writeInstallation},
		{"write the krew manifest", writeKrewManifest},
		{"write the SBOMs", writeSBOMs},
		{"write the release notes", writeNotes},
		{"write the checksums", writeChecksums},
		{"write the provenance", writeProvenance},
	}
	for _, step := range steps {
		fmt.Fprintln(out, ">>", step.name)
		if err := step.do(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	if key == nil {
		fmt.Fprintln(out, "NOT SIGNED: set COSIGN_PRIVATE_KEY to the key's PEM block, and COSIGN_PASSWORD.")
		return nil
	}
	fmt.Fprintln(out, ">> sign")
	return r.sign(key)
}

// path is where a file of the release is written.
func (r *release) path(name string) string { return filepath.Join(r.dist, name) }

func (r *release) write(name string, content []byte) error {
	return os.WriteFile(r.path(name), content, 0o644)
}
