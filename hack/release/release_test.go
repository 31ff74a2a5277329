// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"sigs.k8s.io/yaml"
)

// TestRelease makes a release of a small project twice, in two directories, and looks at what it consists of.
func TestRelease(t *testing.T) {
	root, key := newProject(t), newKey(t)
	o := projectOptions(root)
	o.privateKey = asPEM("PRIVATE KEY", pkcs8(t, key))
	mustRun(t, o)

	t.Run("reproducible", func(t *testing.T) {
		again := o
		again.root = filepath.Join(t.TempDir(), "clone")
		again.dist = filepath.Join(again.root, "dist")
		inGit(t, root, "clone", "--quiet", root, again.root)
		mustRun(t, again)
		if diff := cmp.Diff(tree(t, o.dist), tree(t, again.dist)); diff != "" {
			t.Errorf("the second run differs (-first +second):\n%s", diff)
		}
	})
	t.Run("files", func(t *testing.T) {
		want := []string{
			"SHA256SUMS", "SHA256SUMS.sigstore.json", "cosign.pub", "fairlead-0.2.0.tgz", "fairlead-controller_v0.2.0.oci.tar",
			"fairlead-controller_v0.2.0_image.cdx.json", "fairlead-controller_v0.2.0_image.spdx.json", "fairlead.yaml", "install.yaml",
			"provenance.intoto.json", "provenance.intoto.json.sigstore.json", "release-notes.md",
		}
		for _, name := range []string{
			"fairlead-apiserver_v0.2.0_darwin_amd64.tar.gz", "fairlead-apiserver_v0.2.0_darwin_arm64.tar.gz",
			"fairlead-apiserver_v0.2.0_linux_amd64.tar.gz", "fairlead-apiserver_v0.2.0_linux_arm64.tar.gz",
			"fairlead-controller_v0.2.0_darwin_amd64.tar.gz", "fairlead-controller_v0.2.0_darwin_arm64.tar.gz",
			"fairlead-controller_v0.2.0_linux_amd64.tar.gz", "fairlead-controller_v0.2.0_linux_arm64.tar.gz",
			"kubectl-fairlead_v0.2.0_darwin_amd64.tar.gz", "kubectl-fairlead_v0.2.0_darwin_arm64.tar.gz",
			"kubectl-fairlead_v0.2.0_linux_amd64.tar.gz", "kubectl-fairlead_v0.2.0_linux_arm64.tar.gz",
			"kubectl-fairlead_v0.2.0_windows_amd64.zip", "kubectl-fairlead_v0.2.0_windows_arm64.zip",
		} {
			base := strings.TrimSuffix(strings.TrimSuffix(name, ".tar.gz"), ".zip")
			want = append(want, name, base+".cdx.json", base+".spdx.json")
		}
		slices.Sort(want)
		var got []string
		for name := range tree(t, o.dist) {
			got = append(got, name)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	})
	t.Run("plugin", func(t *testing.T) { checkPlugin(t, o) })
	t.Run("image", func(t *testing.T) { checkImage(t, o) })
	t.Run("chart", func(t *testing.T) { checkChart(t, o) })
	t.Run("krew", func(t *testing.T) { checkKrew(t, o) })
	t.Run("SBOM", func(t *testing.T) { checkSBOMs(t, o) })
	t.Run("signatures", func(t *testing.T) { checkSignatures(t, o, &key.PublicKey) })
	t.Run("notes", func(t *testing.T) {
		notes := string(readFile(t, o.dist, "release-notes.md"))
		if !strings.Contains(notes, "since v0.1.0") || !strings.Contains(notes, "### docs\n- say what it does\n") || strings.Contains(notes, "sync Applications") {
			t.Errorf("the notes do not have the commits since v0.1.0, and no others:\n%s", notes)
		}
	})
}

// tree returns the hashes of the files of a directory.
func tree(t *testing.T, directory string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		all[file.Name()] = fmt.Sprintf("%x", sha256.Sum256(readFile(t, directory, file.Name())))
	}
	return all
}

// checkImage reads the layout as a container engine does.
func checkImage(t *testing.T, o options) {
	t.Helper()
	directory := t.TempDir()
	reader := tar.NewReader(bytes.NewReader(readFile(t, o.dist, "fairlead-controller_v0.2.0.oci.tar")))
	for header := range entries(t, reader) {
		path := filepath.Join(directory, filepath.FromSlash(header.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	top, err := layout.ImageIndexFromPath(directory)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(top); err != nil {
		t.Error(err)
	}
	manifest, err := top.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("the layout has not one image: %v, %v", manifest, err)
	}
	digest := manifest.Manifests[0].Digest
	index, err := top.ImageIndex(digest)
	if err != nil {
		t.Fatal(err)
	}
	platforms, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, platform := range platforms.Manifests {
		got = append(got, platform.Platform.String())
		image, err := index.Image(platform.Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkConfig(t, image)
		checkServers(t, image)
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
	if install, want := string(readFile(t, o.dist, "install.yaml")), "image: registry.example.com/team/fairlead-controller:v0.2.0@"+digest.String()+"\n"; !strings.Contains(install, want) {
		t.Errorf("install.yaml has not %q:\n%s", want, install)
	}
}

func checkConfig(t *testing.T, image v1.Image) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/fairlead-controller"}) || len(config.RootFS.DiffIDs) != 1 {
		t.Errorf("the image runs %q as %s with %d layers", config.Config.Entrypoint, config.Config.User, len(config.RootFS.DiffIDs))
	}
}

// checkServers wants the servers in the image, and nothing else.
func checkServers(t *testing.T, image v1.Image) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	files, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	var got []string
	for header := range entries(t, tar.NewReader(files)) {
		got = append(got, header.Name)
	}
	if want := []string{"fairlead-apiserver", "fairlead-controller"}; !slices.Equal(got, want) {
		t.Errorf("the image has %q, want %q", got, want)
	}
}

// checkPlugin wants what kubectl looks for on the PATH: the plugin, and beside it the script that completes its arguments.
func checkPlugin(t *testing.T, o options) {
	t.Helper()
	var got []string
	for name := range unpack(t, o, "kubectl-fairlead_v0.2.0_linux_amd64.tar.gz") {
		got = append(got, name)
	}
	slices.Sort(got)
	if want := []string{"LICENSE", "kubectl-fairlead", "kubectl_complete-fairlead"}; !slices.Equal(got, want) {
		t.Errorf("the archive of the plugin has %q, want %q", got, want)
	}
	archive := readFile(t, o.dist, "kubectl-fairlead_v0.2.0_windows_amd64.zip")
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, file := range reader.File {
		got = append(got, file.Name)
	}
	if want := []string{"LICENSE", "kubectl-fairlead.exe"}; !slices.Equal(got, want) {
		t.Errorf("the archive of the plugin for Windows has %q, want %q", got, want)
	}
}

// unpack returns the files of a compressed archive of the release.
func unpack(t *testing.T, o options, name string) map[string]string {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(readFile(t, o.dist, name)))
	if err != nil {
		t.Fatal(err)
	}
	reader, files := tar.NewReader(unpacked), map[string]string{}
	for header := range entries(t, reader) {
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(content)
	}
	return files
}

func checkChart(t *testing.T, o options) {
	t.Helper()
	files := unpack(t, o, "fairlead-0.2.0.tgz")
	if files["fairlead/Chart.yaml"] != "name: fairlead\nversion: 0.2.0\nappVersion: v0.2.0\n" {
		t.Errorf("Chart.yaml is %q", files["fairlead/Chart.yaml"])
	}
	if values := files["fairlead/values.yaml"]; !strings.HasPrefix(values, "image:\n  repository: registry.example.com/team/fairlead-controller\n  tag: v0.2.0\n  digest: \"sha256:") {
		t.Errorf("values.yaml is %q", values)
	}
	if files["fairlead/crds/crd.yaml"] == "" {
		t.Error("the link to the CRDs was not followed")
	}
}

// entries walks through an archive.
func entries(t *testing.T, reader *tar.Reader) func(yield func(*tar.Header) bool) {
	t.Helper()
	return func(yield func(*tar.Header) bool) {
		for {
			header, err := reader.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !yield(header) {
				return
			}
		}
	}
}

func checkKrew(t *testing.T, o options) {
	t.Helper()
	var manifest pluginManifest
	if err := yaml.UnmarshalStrict(readFile(t, o.dist, "fairlead.yaml"), &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Spec.Platforms) != 6 {
		t.Errorf("the plugin has %d platforms, want 6", len(manifest.Spec.Platforms))
	}
	hashes := tree(t, o.dist)
	for _, platform := range manifest.Spec.Platforms {
		name, found := strings.CutPrefix(platform.URI, "https://downloads.example.com/v0.2.0/")
		if !found || hashes[name] != platform.SHA256 {
			t.Errorf("%s has not the hash %s", platform.URI, platform.SHA256)
		}
	}
}

func checkSBOMs(t *testing.T, o options) {
	t.Helper()
	for file := range tree(t, o.dist) {
		if !strings.HasSuffix(file, ".cdx.json") && !strings.HasSuffix(file, ".spdx.json") {
			continue
		}
		content := string(readFile(t, o.dist, file))
		if !json.Valid([]byte(content)) || !strings.Contains(content, "pkg:golang/stdlib@") {
			t.Errorf("%s does not list the standard library", file)
		}
	}
}

// checkSignatures verifies as cosign does, offline and with the public key alone. `make release-check` has cosign do it.
func checkSignatures(t *testing.T, o options, key *ecdsa.PublicKey) {
	t.Helper()
	var sums, attestation bundle
	for file, b := range map[string]*bundle{checksumsFile: &sums, provenanceFile: &attestation} {
		if err := json.Unmarshal(readFile(t, o.dist, file+".sigstore.json"), b); err != nil {
			t.Fatal(err)
		}
	}
	digest := sha256.Sum256(readFile(t, o.dist, checksumsFile))
	if !ecdsa.VerifyASN1(key, digest[:], sums.MessageSignature.Signature) {
		t.Error("the signature of the checksums is not that of the key")
	}
	payload, err := base64.StdEncoding.DecodeString(attestation.Envelope.Payload)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := base64.StdEncoding.DecodeString(attestation.Envelope.Signatures[0].Sig)
	if err != nil {
		t.Fatal(err)
	}
	digest = sha256.Sum256(dsse.PAE(payloadType, payload))
	if !ecdsa.VerifyASN1(key, digest[:], signature) {
		t.Error("the signature of the provenance is not that of the key")
	}
	var s statement
	if err := json.Unmarshal(payload, &s); err != nil {
		t.Fatal(err)
	}
	hashes := tree(t, o.dist)
	for _, subject := range s.Subject {
		if hash, found := hashes[subject.Name]; found && hash != subject.Digest["sha256"] {
			t.Errorf("the provenance has another hash of %s", subject.Name)
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(readFile(t, o.dist, checksumsFile))), "\n") {
		hash, name, _ := strings.Cut(line, "  ")
		if hashes[name] != hash {
			t.Errorf("the checksums have another hash of %s", name)
		}
	}
}
