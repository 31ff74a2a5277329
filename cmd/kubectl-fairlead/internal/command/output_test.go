// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"testing"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestPrintApplications: an Application that a dry run would create has no status that its user would have to take out of the manifest.
func TestPrintApplications(t *testing.T) {
	const metadata = "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata:\n  name: web\n  namespace: shop\n"
	draft := &v1.Application{Spec: v1.ApplicationSpec{Image: "web:1"}}
	draft.Namespace, draft.Name = "shop", "web"
	stored := draft.DeepCopy()
	stored.ResourceVersion, stored.Status.ReadyReplicas = "7", 2
	for _, test := range []struct {
		application *v1.Application
		format      string
		list        bool
		want        string
	}{
		{draft, formatYAML, false, metadata + "spec:\n  image: web:1\n"},
		{draft, formatJSON, false, "{\n  \"kind\": \"Application\",\n  \"apiVersion\": \"apps.fairlead.dev/v1\",\n  \"metadata\": {\n    \"name\": \"web\",\n    \"namespace\": \"shop\"\n  },\n  \"spec\": {\n    \"image\": \"web:1\"\n  }\n}\n"},
		{draft, formatName, true, "application.apps.fairlead.dev/web\n"},
		{stored, formatYAML, false, metadata + "  resourceVersion: \"7\"\nspec:\n  image: web:1\nstatus:\n  availableReplicas: 0\n  desiredReplicas: 0\n  readyReplicas: 2\n  replicas: 0\n  updatedReplicas: 0\n"},
	} {
		var out bytes.Buffer
		if err := printApplications(&out, output{test.format}, []*v1.Application{test.application}, test.list); err != nil || out.String() != test.want {
			t.Errorf("-o %s: %v, %q, want %q", test.format, err, out.String(), test.want)
		}
	}
}
