// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// claimant is an Application of some age, in seconds, with routes to hosts; urls are what it serves.
func claimant(name string, age int, urls []string, hosts ...string) *v1.Application {
	namespace, name, _ := strings.Cut(name, "/")
	app := &v1.Application{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(time.Unix(1e9-int64(age), 0)),
	}}
	app.Status.URLs = urls
	for _, host := range hosts {
		hostname, path, hasPath := strings.Cut(host, "/")
		route := v1.Route{Name: "r", Hostnames: []string{hostname}}
		if hasPath {
			route.Paths = []v1.RoutePath{{Path: "/" + path}}
		}
		app.Spec.Routes = append(app.Spec.Routes, route)
	}
	return app
}

// index finds claimants as the informers do.
func index(all ...*v1.Application) RouteClaimants {
	return func(key v1.RouteKey) ([]*v1.Application, error) {
		var found []*v1.Application
		for _, app := range all {
			if slices.Contains(app.RouteKeys(), key) {
				found = append(found, app)
			}
		}
		return found, nil
	}
}

func TestRouteOwner(t *testing.T) {
	const host = "web.example.com"
	serving := []string{"https://web.example.com/"}
	for _, test := range []struct {
		name      string
		claimants []*v1.Application
		want      string
	}{
		{"alone", []*v1.Application{claimant("a/web", 1, nil, host)}, "a/web"},
		{"the older one", []*v1.Application{claimant("a/web", 1, nil, host), claimant("b/web", 2, nil, host)}, "b/web"},
		{"as old: by namespace", []*v1.Application{claimant("b/web", 1, nil, host), claimant("a/web", 1, nil, host)}, "a/web"},
		{"as old, same namespace: by name", []*v1.Application{claimant("a/web", 1, nil, host), claimant("a/api", 1, nil, host)}, "a/api"},
		{"who serves it already, though younger", []*v1.Application{claimant("a/web", 9, nil, host), claimant("b/web", 1, serving, host)}, "b/web"},
		{"both serve it: the older one", []*v1.Application{claimant("a/web", 1, serving, host), claimant("b/web", 9, serving, host)}, "b/web"},
		{"another path is served", []*v1.Application{claimant("a/web", 9, nil, host), claimant("b/web", 1, []string{"http://web.example.com/login"}, host)}, "a/web"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 2 {
				owner := RouteOwner(v1.RouteKey{Host: host, Path: "/"}, test.claimants)
				if got := owner.Namespace + "/" + owner.Name; got != test.want {
					t.Errorf("the owner is %s, want %s", got, test.want)
				}
				slices.Reverse(test.claimants)
			}
		})
	}
	if got := RouteOwner(v1.RouteKey{}, nil); got != nil {
		t.Errorf("without claimants the owner is %v", got)
	}
}

func TestRouteOwnership(t *testing.T) {
	older := claimant("shop/front", 100, nil, "web.example.com", "api.example.com/v1")
	for _, test := range []struct {
		name     string
		app, old *v1.Application
		stored   []*v1.Application
		// owned and created are what the sync and a request find.
		owned, created []string
	}{
		{"nobody else", claimant("a/web", 1, nil, "web.example.com"), nil, nil, nil, nil},
		{"itself", older, nil, []*v1.Application{older}, nil, nil},
		{
			"another one's host", claimant("a/web", 1, nil, "web.example.com"), nil, []*v1.Application{older},
			[]string{"spec.routes[0].hostnames[0] web.example.com/ shop/front"}, []string{"spec.routes[0].hostnames[0] web.example.com/ shop/front"},
		},
		{
			"in capitals, and with a slash at the end", claimant("a/web", 1, nil, "API.example.com/v1/"), nil, []*v1.Application{older},
			[]string{"spec.routes[0].hostnames[0] api.example.com/v1 shop/front"}, []string{"spec.routes[0].hostnames[0] api.example.com/v1 shop/front"},
		},
		{"another path of the host", claimant("a/web", 1, nil, "api.example.com/v2"), nil, []*v1.Application{older}, nil, nil},
		{
			"an old Application asks for what a younger one has: it is still the later one to ask",
			claimant("a/web", 999, nil, "web.example.com"), claimant("a/web", 999, nil), []*v1.Application{older},
			nil, []string{"spec.routes[0].hostnames[0] web.example.com/ shop/front"},
		},
		{
			"what it had before is not held against an update",
			claimant("a/web", 1, nil, "web.example.com"), claimant("a/web", 1, nil, "web.example.com"), []*v1.Application{older},
			[]string{"spec.routes[0].hostnames[0] web.example.com/ shop/front"}, nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			owned, err := ValidateRouteOwnership(test.app, index(test.stored...))
			if err != nil {
				t.Fatal(err)
			}
			created, err := ValidateNewRoutes(test.app, test.old, index(test.stored...))
			if err != nil {
				t.Fatal(err)
			}
			for _, result := range []struct {
				who  string
				errs []string
				want []string
			}{{"the sync", messages(owned), test.owned}, {"a request", messages(created), test.created}} {
				if len(result.errs) != len(result.want) {
					t.Errorf("%s finds %q, want %q", result.who, result.errs, result.want)
					continue
				}
				for i, want := range result.want {
					for part := range strings.FieldsSeq(want) {
						if !strings.Contains(result.errs[i], part) {
							t.Errorf("%s finds %q, which lacks %q", result.who, result.errs[i], part)
						}
					}
				}
			}
		})
	}
}

// Two Applications that see each other never both own a key, whoever looks first.
func TestRouteOwnershipIsExclusive(t *testing.T) {
	serving := []string{"http://web.example.com/"}
	for _, a := range []*v1.Application{claimant("a/web", 1, nil, "web.example.com"), claimant("a/web", 5, serving, "web.example.com")} {
		for _, b := range []*v1.Application{claimant("b/web", 1, nil, "web.example.com"), claimant("b/web", 5, serving, "web.example.com"), claimant("b/web", 9, nil, "web.example.com")} {
			first, _ := ValidateRouteOwnership(a, index(a, b))
			second, _ := ValidateRouteOwnership(b, index(b, a))
			if (len(first) == 0) == (len(second) == 0) {
				t.Errorf("%v and %v", first, second)
			}
		}
	}
}

func TestRouteClaimantsFail(t *testing.T) {
	broken := errors.New("no index")
	_, err := ValidateRouteOwnership(claimant("a/web", 1, nil, "web.example.com"), func(v1.RouteKey) ([]*v1.Application, error) { return nil, broken })
	if diff := cmp.Diff(true, errors.Is(err, broken)); diff != "" {
		t.Errorf("the error is %v", err)
	}
}
