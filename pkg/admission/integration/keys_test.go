// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// What a user reads at apply of a Secret that lacks a key, however clients wrote the Secret. A key that exists is never called missing.
func TestWarningsOfMissingKeys(t *testing.T) {
	f := serve(t)
	f.register()
	secrets := f.kube.CoreV1().Secrets(f.namespace)
	create := func(secret *corev1.Secret) {
		t.Helper()
		if _, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	patch := func(name string, kind types.PatchType, patch string) {
		t.Helper()
		if _, err := secrets.Patch(t.Context(), name, kind, []byte(patch), metav1.PatchOptions{FieldManager: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	const head = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":`
	create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "empty"}})
	create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "created"}, StringData: map[string]string{"user": "jane"}})
	create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "patched"}})
	patch("patched", types.MergePatchType, `{"stringData":{"user":"jane"}}`)
	patch("applied", types.ApplyPatchType, head+`"applied"},"data":{"user":"amFuZQ=="}}`)
	patch("applied-text", types.ApplyPatchType, head+`"applied-text"},"stringData":{"user":"jane"}}`)
	// The API server leaves the key, and no client has it.
	patch("given-up", types.ApplyPatchType, head+`"given-up"},"stringData":{"user":"jane"}}`)
	patch("given-up", types.ApplyPatchType, head+`"given-up"},"stringData":{"other":"x"}}`)
	create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "cleared"}, StringData: map[string]string{"user": "jane"}})
	patch("cleared", types.MergePatchType, `{"metadata":{"managedFields":[{}]}}`)
	patch("cleared", types.MergePatchType, `{"metadata":{"labels":{"a":"b"}},"stringData":{"more":"x"}}`)
	create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "cleared-applied"}, StringData: map[string]string{"user": "jane"}})
	patch("cleared-applied", types.MergePatchType, `{"metadata":{"managedFields":[{}]}}`)
	patch("cleared-applied", types.ApplyPatchType, head+`"cleared-applied"},"data":{"more":"eA=="}}`)

	apps, heard := f.warned()
	for _, test := range []struct{ name, key, want string }{
		{"empty", "user", missingKey(f, "empty", "user")},
		{"created", "user", ""},
		{"created", "password", missingKey(f, "created", "password")},
		{"patched", "user", ""},
		{"patched", "password", missingKey(f, "patched", "password")},
		{"applied", "user", ""},
		{"applied", "password", missingKey(f, "applied", "password")},
		{"applied-text", "user", ""},
		{"given-up", "user", ""},
		{"cleared", "user", ""},
		{"cleared-applied", "user", ""},
		{"cleared-applied", "password", missingKey(f, "cleared-applied", "password")},
	} {
		application := f.application("web", func(a *v1.Application) {
			a.Spec.Env = []corev1.EnvVar{{Name: "VALUE", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: test.name}, Key: test.key,
			}}}}
		})
		if _, err := apps.Create(t.Context(), application, dryRun); err != nil {
			t.Errorf("%s of %s: %v", test.key, test.name, err)
		}
		if got := heard.all(); got != test.want {
			t.Errorf("%s of %s: the warning is %q, want %q", test.key, test.name, got, test.want)
		}
	}
}

func missingKey(f *fixture, secret, key string) string {
	return `Secret "` + secret + `" in namespace "` + f.namespace + `" has no key "` + key + `", and the pods need it`
}
