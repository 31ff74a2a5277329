// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
)

func TestServiceAccount(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		// automount is that of the ServiceAccount; "" means no ServiceAccount.
		automount, podAccount, podAutomount string
	}{
		{"default", ``, "false", "web", "false"},
		{"with a token", `serviceAccount: {automountToken: true}`, "true", "web", "true"},
		{"chosen", `serviceAccount: {name: other}`, "", "other", "false"},
		{"chosen, with a token", `serviceAccount: {name: other, automountToken: true}`, "", "other", "true"},
	} {
		t.Run(test.name, func(t *testing.T) {
			children := rendered(t, application(t, test.spec))
			for _, field := range []struct {
				kind       child.Kind
				path, want string
			}{
				{child.ServiceAccount, "automountServiceAccountToken", test.automount},
				{child.Deployment, podPath + ".serviceAccountName", test.podAccount},
				{child.Deployment, podPath + ".automountServiceAccountToken", test.podAutomount},
			} {
				wantYAML(t, field.kind.Kind+" "+field.path, fragment(t, children, field.kind, field.path), field.want)
			}
		})
	}
	t.Run("annotations", func(t *testing.T) {
		app := application(t, `serviceAccount: {annotations: {iam.example.com/role: reader}}`)
		account := ofKind(t, rendered(t, app), child.ServiceAccount)[0]
		if got := account.GetAnnotations()["iam.example.com/role"]; got != "reader" {
			t.Errorf("annotation: got %q, want reader", got)
		}
	})
}
