// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package images builds the images of the test with buildah, as root and without a daemon, registry or network.
package images

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"fairlead.dev/fairlead/hack/internal/process"
)

// Builder builds images into a store of its own.
type Builder struct {
	// Root is the repository.
	Root string
	// Dir is where the store and the archives are.
	Dir string
	// Log is a file for what the tools say.
	Log string

	toolchain toolchain
	// bases are the images of the repository's Dockerfile that have stand-ins.
	bases []string
}

// Prepare makes the store, and stand-ins for the base images of the repository's Dockerfile: without a registry they cannot
// be pulled. It returns what they stand in for.
func (b *Builder) Prepare(ctx context.Context) ([]string, error) {
	if err := os.MkdirAll(filepath.Join(b.Dir, "tmp"), 0o700); err != nil {
		return nil, err
	}
	storage := fmt.Sprintf("[storage]\ndriver = \"vfs\"\ngraphroot = %q\nrunroot = %q\n", filepath.Join(b.Dir, "store"), filepath.Join(b.Dir, "run"))
	if err := os.WriteFile(b.storageConf(), []byte(storage), 0o600); err != nil {
		return nil, err
	}
	var err error
	if b.toolchain, err = findToolchain(ctx); err != nil {
		return nil, err
	}
	dockerfile, err := os.Open(filepath.Join(b.Root, "Dockerfile"))
	if err != nil {
		return nil, err
	}
	defer dockerfile.Close()
	b.bases, err = bases(dockerfile)
	if err != nil {
		return nil, fmt.Errorf("read the Dockerfile: %w", err)
	}
	for _, base := range b.bases {
		if err := b.standIn(ctx, base); err != nil {
			return nil, fmt.Errorf("make a stand-in for %s: %w", base, err)
		}
	}
	return b.bases, nil
}

// standIn makes an image that is empty, but for what the machine's own toolchain needs to be mounted into it.
func (b *Builder) standIn(ctx context.Context, base string) error {
	content := "FROM scratch\n"
	directory, err := os.MkdirTemp(b.Dir, "stand-in-")
	if err != nil {
		return err
	}
	if isGo(base) {
		if err := b.toolchain.layOut(filepath.Join(directory, "root")); err != nil {
			return err
		}
		content += "COPY root/ /\n" + b.toolchain.environment()
	}
	file := filepath.Join(directory, "Dockerfile")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		return err
	}
	return b.buildah(ctx, "build", "--quiet", "--tag="+nameOfStandIn(base), "--file="+file, directory)
}

// Operator builds the image of the controller as `make image` does. A version other than "" is stamped into it instead
// of git's.
func (b *Builder) Operator(ctx context.Context, image, version string) error {
	arguments := append(b.toolchain.volumes(), "--pull=never")
	for _, base := range b.bases {
		arguments = append(arguments, "--build-context="+base+"=container-image://"+nameOfStandIn(base))
	}
	if version != "" {
		flags, err := b.output(ctx, "hack/build.sh", "--ldflags")
		if err != nil {
			return err
		}
		arguments = append(arguments, "--build-arg=LDFLAGS="+strings.TrimSpace(flags)+" -X k8s.io/component-base/version.gitVersion="+version)
	}
	cmd := exec.CommandContext(ctx, "hack/image.sh", arguments...)
	cmd.Env = append(b.environment(), "IMAGE="+image, "IMAGE_BUILDER=buildah")
	return b.run(cmd)
}

// Workload compiles the test's own server, and builds an image of it that answers with the version.
func (b *Builder) Workload(ctx context.Context, image, version string) error {
	directory := filepath.Join(b.Root, "hack", "e2e", "workload")
	compile := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(b.Dir, "workload", "workload"), ".")
	compile.Env = append(b.environment(), "CGO_ENABLED=0")
	compile.Dir = directory
	if err := b.run(compile); err != nil {
		return err
	}
	return b.buildah(ctx, "build", "--quiet", "--build-arg=VERSION="+version, "--tag="+image,
		"--file="+filepath.Join(directory, "Dockerfile"), filepath.Join(b.Dir, "workload"))
}

// Pause makes the image of the process that holds a pod's namespaces, from a workload.
func (b *Builder) Pause(ctx context.Context, image, workload string) error {
	file := filepath.Join(b.Dir, "Dockerfile.pause")
	if err := os.WriteFile(file, []byte("FROM "+workload+"\nCMD [\"pause\"]\n"), 0o600); err != nil {
		return err
	}
	return b.buildah(ctx, "build", "--quiet", "--pull=never", "--tag="+image, "--file="+file, b.Dir)
}

// Save writes an image into an archive that containerd can import.
func (b *Builder) Save(ctx context.Context, image, archive string) error {
	return b.buildah(ctx, "push", "--quiet", image, "docker-archive:"+archive+":"+image)
}

func (b *Builder) buildah(ctx context.Context, arguments ...string) error {
	return b.run(exec.CommandContext(ctx, "buildah", arguments...))
}

func (b *Builder) run(cmd *exec.Cmd) error {
	if cmd.Dir == "" {
		cmd.Dir = b.Root
	}
	if cmd.Env == nil {
		cmd.Env = b.environment()
	}
	return process.Run(cmd, b.Log)
}

func (b *Builder) output(ctx context.Context, name string, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Dir = b.Root
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return string(output), nil
}

// environment makes buildah need nothing but a directory: chroot instead of a container, copies instead of overlay mounts.
func (b *Builder) environment() []string {
	return append(os.Environ(),
		"BUILDAH_ISOLATION=chroot",
		"CONTAINERS_STORAGE_CONF="+b.storageConf(),
		"TMPDIR="+filepath.Join(b.Dir, "tmp"))
}

func (b *Builder) storageConf() string { return filepath.Join(b.Dir, "storage.conf") }
