// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageCommand is what the image runs unless told otherwise. The manifests and the chart name the image by it.
const imageCommand = "fairlead-controller"

// image has the servers, for all Linux platforms.
type image struct {
	command  string
	digest   v1.Hash
	binaries []binary
	// file is the OCI layout as an archive, of the release.
	file string
}

// reference names the image by tag, for people, and by digest, which a node verifies.
func (r *release) reference(i image) string {
	return fmt.Sprintf("%s/%s:%s@%s", r.registry, i.command, r.version, i.digest)
}

// writeImages builds the image, as the Dockerfile does but without a container engine: the servers, one static file each,
// for a user without rights. There is no base image to keep up to date.
func writeImages(_ context.Context, r *release) error {
	index, binaries, err := r.imageIndex(imageCommand)
	if err != nil {
		return fmt.Errorf("build the image of %s: %w", imageCommand, err)
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	i := image{command: imageCommand, digest: digest, binaries: binaries, file: fmt.Sprintf("%s_%s.oci.tar", imageCommand, r.version)}
	if err := r.writeLayout(i, index); err != nil {
		return fmt.Errorf("write the image of %s: %w", imageCommand, err)
	}
	r.images = append(r.images, i)
	return nil
}

// servers are the binaries for the platform of one of them.
func (r *release) servers(platform binary) []binary {
	return slices.DeleteFunc(slices.Clone(r.binaries), func(b binary) bool {
		return b.isPlugin() || b.platform() != platform.platform()
	})
}

func (r *release) imageIndex(command string) (v1.ImageIndex, []binary, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	var binaries []binary
	for _, b := range r.binaries {
		if b.command != command || b.os != "linux" {
			continue
		}
		servers := r.servers(b)
		platform, err := r.platformImage(b, servers)
		if err != nil {
			return nil, nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        platform,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: b.os, Architecture: b.arch}},
		})
		binaries = append(binaries, servers...)
	}
	annotated, ok := mutate.Annotations(index, r.labels(command)).(v1.ImageIndex)
	if !ok {
		return nil, nil, errors.New("the annotated index is no index")
	}
	return annotated, binaries, nil
}

// platformImage runs b and has all servers.
func (r *release) platformImage(b binary, servers []binary) (v1.Image, error) {
	programs := make([]entry, len(servers))
	for i, server := range servers {
		program, err := os.ReadFile(server.file)
		if err != nil {
			return nil, err
		}
		programs[i] = entry{server.command, program, 0o755}
	}
	var files bytes.Buffer
	if err := tarred(&files, programs, r.commit.time); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: r.commit.time}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	platform, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: "hack/release"}})
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(platform, &v1.ConfigFile{
		OS: b.os, Architecture: b.arch, Created: created,
		Config: v1.Config{
			Entrypoint: []string{"/" + b.command},
			// A number, so that kubelet can tell that it is not root.
			User:   "65532:65532",
			Labels: r.labels(b.command),
		},
		RootFS:  must(platform.ConfigFile()).RootFS,
		History: must(platform.ConfigFile()).History,
	})
}

// must unwraps a value that was computed from memory.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (r *release) labels(command string) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    command,
		"org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.version":  r.version,
		"org.opencontainers.image.revision": r.commit.hash,
		"org.opencontainers.image.created":  r.commit.time.Format(time.RFC3339),
		"org.opencontainers.image.source":   r.source,
	}
}

// writeLayout writes an OCI image layout as one file, which containerd, podman, skopeo and buildah read as it is.
func (r *release) writeLayout(i image, index v1.ImageIndex) error {
	directory := r.path(filepath.Join(workDirectory, "images", i.command))
	path, err := layout.Write(directory, empty.Index)
	if err != nil {
		return err
	}
	// containerd takes the name of the image from its own annotation, the others from the specification's.
	err = path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.version,
		"io.containerd.image.name":          fmt.Sprintf("%s/%s:%s", r.registry, i.command, r.version),
	}))
	if err != nil {
		return err
	}
	var entries []entry
	err = filepath.WalkDir(directory, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(directory, file)
		entries = append(entries, entry{filepath.ToSlash(name), content, 0o644})
		return err
	})
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	if err := tarred(&packed, entries, r.commit.time); err != nil {
		return err
	}
	return r.write(i.file, packed.Bytes())
}
