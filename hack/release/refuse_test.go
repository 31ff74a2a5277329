// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// TestRefuses: a release that would not say the truth about itself does not start.
func TestRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, o *options)
		want   string
	}{
		"version":    {func(_ *testing.T, o *options) { o.version = "0.2" }, `the version is "0.2"`},
		"registry":   {func(_ *testing.T, o *options) { o.registry = "" }, "the registry is"},
		"key":        {func(_ *testing.T, o *options) { o.privateKey = "cosign.key" }, "COSIGN_PRIVATE_KEY has no PEM block"},
		"password":   {func(t *testing.T, o *options) { o.privateKey, o.password = encryptedKey(t, "right"), "wrong" }, "decrypt COSIGN_PRIVATE_KEY"},
		"dirty":      {func(t *testing.T, o *options) { writeFile(t, o.root, "new.txt") }, "the work tree has changes"},
		"tag":        {func(_ *testing.T, o *options) { o.version = "v0.1.0" }, "the tag v0.1.0 is on another commit"},
		"no command": {func(t *testing.T, o *options) { removeCommands(t, o.root) }, "has no command"},
	} {
		t.Run(name, func(t *testing.T) {
			o := projectOptions(newProject(t))
			test.change(t, &o)
			err := run(t.Context(), o, io.Discard)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}

// TestEncryptedKey: the key as cosign generate-key-pair writes it.
func TestEncryptedKey(t *testing.T) {
	key, err := options{privateKey: encryptedKey(t, "right"), password: "right"}.signingKey()
	if err != nil || key == nil {
		t.Errorf("the key is %v: %v", key, err)
	}
}

func TestUnsignedSaysSo(t *testing.T) {
	var out strings.Builder
	o := projectOptions(newProject(t))
	if err := run(t.Context(), o, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "NOT SIGNED") {
		t.Errorf("the output does not say that nothing was signed:\n%s", &out)
	}
	if _, err := os.Stat(filepath.Join(o.dist, checksumsFile+".sigstore.json")); err == nil {
		t.Error("there is a signature without a key")
	}
}

func encryptedKey(t *testing.T, password string) string {
	t.Helper()
	sealed, err := encrypted.Encrypt(pkcs8(t, newKey(t)), []byte(password))
	if err != nil {
		t.Fatal(err)
	}
	return asPEM("ENCRYPTED SIGSTORE PRIVATE KEY", sealed)
}

func writeFile(t *testing.T, path ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path...), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func removeCommands(t *testing.T, root string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(root, "cmd")); err != nil {
		t.Fatal(err)
	}
	commitAll(t, root, "cmd: remove all")
}
