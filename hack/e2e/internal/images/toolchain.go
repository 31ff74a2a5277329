// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Where the caches of the machine's toolchain are mounted in a stand-in for a golang image. Other places than the
// Dockerfile's own cache mounts, which would cover them.
const (
	moduleCache = "/machine/modules"
	buildCache  = "/machine/build"
)

// toolchain is the machine's own Go. A stand-in for a golang image contains none of it: it is mounted while building,
// with its warm caches, so that nothing is copied and nothing compiled twice.
type toolchain struct {
	GOROOT, GOMODCACHE, GOCACHE, GOPROXY string
}

func findToolchain(ctx context.Context) (toolchain, error) {
	var t toolchain
	output, err := exec.CommandContext(ctx, "go", "env", "-json", "GOROOT", "GOMODCACHE", "GOCACHE", "GOPROXY").Output()
	if err != nil {
		return t, fmt.Errorf("go env: %w", err)
	}
	return t, json.Unmarshal(output, &t)
}

// systemDirectories are where a shell and what it is linked with may be. On many machines all but /usr are links into it.
func systemDirectories() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}
}

// layOut makes the directories of the image: links as the machine has them, and places to mount the rest.
func (t toolchain) layOut(root string) error {
	for _, directory := range append(systemDirectories(), "/tmp", "/root", "/etc/ssl", moduleCache, buildCache) {
		path := filepath.Join(root, directory)
		if target, err := os.Readlink(directory); err == nil {
			if err := os.Symlink(target, path); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(root, t.GOROOT), 0o755)
}

func (t toolchain) environment() string {
	return fmt.Sprintf("ENV PATH=%s/bin:/usr/bin:/bin GOTOOLCHAIN=local GOMODCACHE=%s GOCACHE=%s GOPROXY=%s\n",
		t.GOROOT, moduleCache, buildCache, t.GOPROXY)
}

// volumes are the flags of buildah that mount the machine's directories.
func (t toolchain) volumes() []string {
	var flags []string
	mount := func(source, target, option string) {
		flags = append(flags, "--volume="+source+":"+target+":"+option)
	}
	for _, directory := range append(systemDirectories(), "/etc/ssl") {
		if info, err := os.Lstat(directory); err == nil && info.IsDir() {
			mount(directory, directory, "ro")
		}
	}
	if !strings.HasPrefix(t.GOROOT, "/usr/") {
		mount(t.GOROOT, t.GOROOT, "ro")
	}
	mount(t.GOMODCACHE, moduleCache, "rw")
	mount(t.GOCACHE, buildCache, "rw")
	return flags
}
