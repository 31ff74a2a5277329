// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

func named(name string, routes ...string) *v1.Application {
	app := &v1.Application{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, route := range routes {
		app.Spec.Routes = append(app.Spec.Routes, v1.Route{Name: route})
	}
	return app
}

func TestNames(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, test := range []struct{ name, got, want string }{
		{"config", render.ConfigMapName(named("web")), "web-config"},
		{"config that just fits", render.ConfigMapName(named(long[:56])), long[:56] + "-config"},
		{"config that is too long", render.ConfigMapName(named(long)), long[:52] + "-ee6f170690"},
		{"first route", render.RouteName(named(long, "public"), 0), long},
		{"second route", render.RouteName(named("web", "public", "internal"), 1), "web-internal"},
		{"no hyphens before the hash", render.ConfigMapName(named("a" + strings.Repeat("-", 61) + "b")), "a-83a4808468"},
		{"volume", v1.VolumeName("/etc/tls"), "etc-tls-81d8e45dab"},
		{"volume without readable letters", v1.VolumeName("/…"), "mount-b9fbf598ea"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.got != test.want {
				t.Errorf("got %s, want %s", test.got, test.want)
			}
		})
	}
}

// If the hash covered only the joined string, Applications whose name and route join to the same string would share a
// truncated name.
func TestTruncatedNamesKeepNameAndSuffixApart(t *testing.T) {
	long := strings.Repeat("a", 50)
	one := render.RouteName(named(long+"-b", "first", "c-"+long), 1)
	other := render.RouteName(named(long+"-b-c", "first", long), 1)
	if one == other {
		t.Errorf("two different Applications render %s", one)
	}
}

func TestS14NamesAreValidAndDifferent(t *testing.T) {
	label := rapid.StringMatching(`[a-z]([-a-z0-9]{0,61}[a-z0-9])?`)
	fixedseed.Check(t, func(t *rapid.T) {
		apps := rapid.SliceOfNDistinct(label, 2, 2, rapid.ID).Draw(t, "applications")
		routes := rapid.SliceOfNDistinct(label, 3, 3, rapid.ID).Draw(t, "routes")
		one, other := named(apps[0], routes...), named(apps[1], routes...)
		different(t, render.ConfigMapName(one), render.ConfigMapName(other))
		different(t, render.RouteName(one, 0), render.RouteName(one, 1), render.RouteName(one, 2))
	})
}

// different checks that the names are DNS labels, and all different.
func different(t *rapid.T, names ...string) {
	for i, name := range names {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			t.Fatalf("name %q: %v", name, problems)
		}
		if slices.Contains(names[:i], name) {
			t.Fatalf("two are named %s", name)
		}
	}
}

func TestVolumeNamesAreValidAndDifferent(t *testing.T) {
	path := rapid.StringMatching(`/[^:]{1,200}`)
	fixedseed.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfNDistinct(path, 2, 2, rapid.ID).Draw(t, "paths")
		different(t, v1.VolumeName(paths[0]), v1.VolumeName(paths[1]), v1.ConfigVolumeName, v1.TemporaryVolumeName)
	})
}
