// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/pkg/render"
)

func TestURLs(t *testing.T) {
	const ports = `
ports: [{name: http, containerPort: 8080}]
`
	for _, test := range []struct {
		name, spec string
		want       []string
	}{
		{"no routes", ports, nil},
		{"http", ports + `routes: [{name: public, hostnames: [web.example.com]}]`, []string{"http://web.example.com/"}},
		{"in the order of the spec", ports + `
routes:
- {name: public, hostnames: [web.example.com, "*.example.com"], paths: [{path: /b}, {path: /a}, {path: /a, pathType: Exact}], tls: {secretName: web-tls}}
- {name: internal, hostnames: [web.internal]}`, []string{
			"https://web.example.com/b", "https://web.example.com/a", "https://web.example.com/a",
			"https://*.example.com/b", "https://*.example.com/a", "https://*.example.com/a",
			"http://web.internal/",
		}},
		{"invalid: without ports nothing is reached", `routes: [{name: public, hostnames: [web.example.com]}]`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, route := range render.URLs(application(t, test.spec), render.Facts{}) {
				got = append(got, route.URLs...)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("URLs (-want +got):\n%s", diff)
			}
		})
	}
}
