// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// binary is one command for one platform.
type binary struct {
	command, os, arch string
	file              string
}

// platform is how file names and SBOMs spell it.
func (b binary) platform() string { return b.os + "_" + b.arch }

func (b binary) isPlugin() bool { return isPlugin(b.command) }

// isPlugin reports whether users run the command on their own machine, as kubectl NAME. All others are servers, which have
// an image.
func isPlugin(command string) bool { return strings.HasPrefix(command, "kubectl-") }

func platforms(command string) []binary {
	var all []binary
	systems := []string{"linux", "darwin"}
	if isPlugin(command) {
		systems = append(systems, "windows")
	}
	for _, system := range systems {
		for _, arch := range []string{"amd64", "arm64"} {
			all = append(all, binary{command: command, os: system, arch: arch})
		}
	}
	return all
}

// commands are the directories of cmd with a main.go.
func commands(root string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(root, "cmd", "*", "main.go"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no command", filepath.Join(root, "cmd"))
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = filepath.Base(filepath.Dir(file))
	}
	return names, nil
}

// buildBinaries compiles every command for its platforms into a directory of work, which is no part of the release.
func buildBinaries(ctx context.Context, r *release) error {
	names, err := commands(r.root)
	if err != nil {
		return err
	}
	for _, name := range names {
		for _, b := range platforms(name) {
			file, err := filepath.Abs(r.path(filepath.Join(workDirectory, b.platform(), name)))
			if err != nil {
				return err
			}
			if b.os == "windows" {
				file += ".exe"
			}
			b.file = file
			fmt.Fprintln(r.out, "  ", b.command, b.os, b.arch)
			if err := r.compile(ctx, b); err != nil {
				return err
			}
			r.binaries = append(r.binaries, b)
		}
	}
	return nil
}

// compile builds in the directory of the command, which may be a module of its own.
func (r *release) compile(ctx context.Context, b binary) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", r.ldflags(), "-o", b.file, ".")
	build.Dir = filepath.Join(r.root, "cmd", b.command)
	// GOFLAGS of the user could change the result, and GOTOOLCHAIN the compiler.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOTOOLCHAIN=local", "GOWORK=off", "GOOS="+b.os, "GOARCH="+b.arch, "GOAMD64=v1", "GOARM64=v8.0")
	_, err := output(build)
	return err
}

// ldflags stamps the version, as hack/build.sh does.
func (r *release) ldflags() string {
	const version = "k8s.io/component-base/version"
	flags := []string{"-s", "-w", "-buildid="}
	for _, stamp := range [][2]string{
		{"gitVersion", r.version},
		{"gitCommit", r.commit.hash},
		{"gitTreeState", "clean"},
		{"buildDate", r.commit.time.Format(time.RFC3339)},
	} {
		flags = append(flags, "-X", version+"."+stamp[0]+"="+stamp[1])
	}
	return strings.Join(flags, " ")
}
