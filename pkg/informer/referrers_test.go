// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/reference"
)

// Each call replaces all references of an Application. An object to which no Application refers takes no memory.
func TestReferrers(t *testing.T) {
	secret := func(name string) reference.Reference { return reference.Reference{Kind: reference.Secret, Name: name} }
	web, api := cache.NewObjectName("shop", "web"), cache.NewObjectName("shop", "api")
	r := newReferrers()
	want := func(kind reference.Kind, object string, applications ...cache.ObjectName) {
		t.Helper()
		var name *cache.ObjectName
		if namespace, local, found := strings.Cut(object, "/"); found {
			name = &cache.ObjectName{Namespace: namespace, Name: local}
		}
		got := r.find(kind, name)
		slices.SortFunc(got, func(a, b cache.ObjectName) int { return strings.Compare(a.Name, b.Name) })
		if !slices.Equal(got, applications) {
			t.Errorf("%s %s: %v, want %v", kind, object, got, applications)
		}
	}
	r.set(web, []reference.Reference{secret("a"), secret("b"), secret("a")})
	r.set(api, []reference.Reference{secret("b"), {Kind: reference.ConfigMap, Name: "b"}})
	want(reference.Secret, "shop/a", web)
	want(reference.Secret, "shop/b", api, web)
	want(reference.Secret, "other/b")
	want(reference.ConfigMap, "shop/b", api)
	want(reference.Secret, "", api, web)
	r.set(web, []reference.Reference{secret("c")})
	want(reference.Secret, "shop/a")
	want(reference.Secret, "shop/b", api)
	want(reference.Secret, "shop/c", web)
	r.set(web, nil)
	r.set(api, nil)
	want(reference.Secret, "")
	if len(r.of)+len(r.refersTo) > 0 {
		t.Errorf("left are %v and %v", r.of, r.refersTo)
	}
}
