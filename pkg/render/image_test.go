// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
)

func TestImagePullPolicy(t *testing.T) {
	checkFragments(t, child.Deployment, applicationPath+".imagePullPolicy", []fragmentCase{
		{"tag", `image: web:1`, `IfNotPresent`},
		{"latest", `image: ghcr.io/acme/web:latest`, `Always`},
		{"latest meant", `image: ghcr.io/acme/web`, `Always`},
		{"latest meant, the registry has a port", `image: localhost:5000/web`, `Always`},
		{"tag, the registry has a port", `image: localhost:5000/web:1`, `IfNotPresent`},
		{"digest", `image: web@sha256:0123456789abcdef`, `IfNotPresent`},
		{"tag and digest", `image: web:1@sha256:0123456789abcdef`, `IfNotPresent`},
		{"latest and digest", `image: web:latest@sha256:0123456789abcdef`, `Always`},
		{"given", `{image: web, imagePullPolicy: Never}`, `Never`},
	})
}
