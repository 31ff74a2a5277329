// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestTagsAlone: a tag alone is an image for Kubernetes, which no registry has.
func TestTagsAlone(t *testing.T) {
	const said = " is taken as an image: if it is a tag, write the image before it, as in "
	for _, test := range []struct {
		has   string
		image edit.Image
		want  string
	}{
		{"ghcr.io/acme/web:1.2.0", edit.Image{Image: "1.3"}, "1.3" + said + "ghcr.io/acme/web:1.3"},
		{"localhost:5000/web", edit.Image{Image: "v2"}, "v2" + said + "localhost:5000/web:v2"},
		{"web:1@sha256:0123", edit.Image{Container: "web", Image: "20261127"}, "20261127" + said + "web:20261127"},
		{"web:1", edit.Image{Container: "proxy", Image: "1.9"}, "1.9" + said + "envoy:1.9"},
		{"web:1", edit.Image{Container: "migrate", Image: "2.0"}, "2.0" + said + "flyway:2.0"},
		{"1.2", edit.Image{Image: "1.3"}, "1.3" + said + "registry.example.com/web:1.3"},
		{"web:1", edit.Image{Image: "web:1.3"}, ""},
		{"web:1", edit.Image{Image: "nginx"}, ""},
		{"web:1", edit.Image{Image: "3scale"}, ""},
	} {
		application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1.ApplicationSpec{
			Image: test.has, Sidecars: []corev1.Container{{Name: "proxy", Image: "envoy:1.8"}}, InitContainers: []corev1.Container{{Name: "migrate", Image: "flyway"}},
		}}
		var want []string
		if test.want != "" {
			want = []string{test.want}
		}
		if got := edit.TagsAlone(application, test.image); !slices.Equal(got, want) {
			t.Errorf("%v over %s: %q, want %q", test.image, test.has, got, want)
		}
	}
}
