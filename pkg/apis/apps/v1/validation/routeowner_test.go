// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// party is an Application with what it serves.
type party struct {
	*v1.Application
	serves []v1.RouteKey
}

// claimant is an Application of some age, in seconds, that asks for hosts, each with a path or without.
func claimant(name string, age int, hosts ...string) party {
	namespace, name, _ := strings.Cut(name, "/")
	app := &v1.Application{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(time.Unix(1e9-int64(age), 0)),
	}}
	for _, host := range hosts {
		hostname, path, hasPath := strings.Cut(host, "/")
		route := v1.Route{Name: "r", Hostnames: []string{hostname}}
		if hasPath {
			route.Paths = []v1.RoutePath{{Path: "/" + path}}
		}
		app.Spec.Routes = append(app.Spec.Routes, route)
	}
	return party{Application: app}
}

// serving adds what live routes serve.
func (p party) serving(hosts ...string) party {
	p.serves = claimant("x/x", 0, hosts...).RouteKeys()
	return p
}

func (p party) ofClass(name string) party {
	p.Spec.ClassName = name
	return p
}

// owners find claims as the informers do. The classes share shared.example.com, or allow mine.example.com.
func owners(all ...party) RouteOwners {
	claims := func(matches func(party, v1.RouteKey) bool) []v1.RouteClaim {
		var found []v1.RouteClaim
		for _, p := range all {
			for _, key := range p.RouteKeys() {
				if matches(p, key) {
					found = append(found, v1.RouteClaim{Application: p.Application, Host: key.Host})
				}
			}
			for _, key := range p.serves {
				if matches(p, key) {
					found = append(found, v1.RouteClaim{Application: p.Application, Host: key.Host, Serves: true})
				}
			}
		}
		return found
	}
	return RouteOwners{
		HostClaims: func(host string) ([]v1.RouteClaim, error) {
			return claims(func(_ party, key v1.RouteKey) bool { return v1.HostsOverlap(key.Host, host) }), nil
		},
		RouteClaims: func(namespace string, asked v1.RouteKey) ([]v1.RouteClaim, error) {
			return claims(func(p party, key v1.RouteKey) bool { return p.Namespace == namespace && key == asked }), nil
		},
		Class: func(app *v1.Application) *v1.ApplicationClass {
			switch app.Spec.ClassName {
			case "sharing":
				return &v1.ApplicationClass{Spec: v1.ApplicationClassSpec{Limits: &v1.ApplicationLimits{SharedHostnames: []string{"shared.example.com", "*.shared.example.com"}}}}
			case "strict":
				return &v1.ApplicationClass{Spec: v1.ApplicationClassSpec{Limits: &v1.ApplicationLimits{AllowedHostnames: []string{"mine.example.com"}}}}
			}
			return nil
		},
	}
}

// The sync: who loses its routes, of two Applications that are stored.
func TestRouteOwnership(t *testing.T) {
	const host = "web.example.com"
	for _, test := range []struct {
		name string
		all  []party
		// refused are those that must not have their routes.
		refused []string
	}{
		{"alone", []party{claimant("a/web", 1, host)}, nil},
		{"the older one", []party{claimant("a/web", 1, host), claimant("b/web", 2, host)}, []string{"a/web"}},
		{"as old: by namespace", []party{claimant("b/web", 1, host), claimant("a/web", 1, host)}, []string{"b/web"}},
		{"as old, same namespace: by name", []party{claimant("a/web", 1, host), claimant("a/api", 1, host)}, []string{"a/web"}},
		{"who serves it, though younger", []party{claimant("a/web", 9, host), claimant("b/web", 1, host).serving(host)}, []string{"a/web"}},
		{"both serve it: the older one", []party{claimant("a/web", 1, host).serving(host), claimant("b/web", 9, host).serving(host)}, []string{"a/web"}},
		{"who serves it and asks for something else", []party{claimant("a/web", 9, host), claimant("b/web", 1, "other.example.com").serving(host)}, []string{"a/web"}},
		{
			"who serves it as asked, though an older one has edited a live route of its own by hand",
			[]party{claimant("a/web", 1, host).serving(host), claimant("b/web", 9, "mine.example.com").serving(host, "*.com")}, nil,
		},
		{"in capitals, with a dot at the end", []party{claimant("a/web", 1, "WEB.example.com."), claimant("b/web", 2, host)}, []string{"a/web"}},

		{"another path, another namespace", []party{claimant("a/web", 1, host+"/login"), claimant("b/web", 2, host)}, []string{"a/web"}},
		{"another path is served in another namespace", []party{claimant("a/web", 9, host), claimant("b/web", 1, host+"/login").serving(host + "/login")}, []string{"a/web"}},
		{"another path, same namespace", []party{claimant("a/web", 1, host+"/login"), claimant("a/front", 2, host)}, nil},
		{"the same path, with a slash at the end", []party{claimant("a/web", 1, host+"/login/"), claimant("a/front", 2, host+"/login")}, []string{"a/web"}},
		{"the same path is served, same namespace", []party{claimant("a/web", 9, host+"/login"), claimant("a/front", 2, host).serving(host + "/login")}, []string{"a/web"}},

		{"a name below a wildcard", []party{claimant("a/web", 1, "shop.example.com"), claimant("b/web", 2, "*.example.com")}, []string{"a/web"}},
		{"a wildcard above a name", []party{claimant("a/web", 1, "*.example.com"), claimant("b/web", 2, "a.shop.example.com")}, []string{"a/web"}},
		{"a wildcard below a wildcard", []party{claimant("a/web", 1, "*.shop.example.com"), claimant("b/web", 2, "*.example.com")}, []string{"a/web"}},
		{"an old wildcard above a name that is served", []party{claimant("a/web", 9, "*.example.com"), claimant("b/web", 1, "shop.example.com").serving("shop.example.com")}, []string{"a/web"}},
		{"a wildcard above names of its namespace", []party{claimant("a/web", 1, "*.example.com"), claimant("a/shop", 2, "shop.example.com")}, nil},
		{
			"a new Application below the wildcard that its namespace serves, and an older stranger",
			[]party{claimant("a/new", 1, "shop.example.com"), claimant("a/front", 2, "*.example.com").serving("*.example.com"), claimant("b/web", 9, "shop.example.com")},
			[]string{"b/web"},
		},
		{
			"a further path of the host name that its namespace serves, and an older stranger",
			[]party{claimant("a/new", 1, host+"/login"), claimant("a/front", 2, host).serving(host), claimant("b/web", 9, host+"/login")},
			[]string{"b/web"},
		},

		{"shared", []party{claimant("a/web", 1, "shared.example.com/a").ofClass("sharing"), claimant("b/web", 2, "shared.example.com").ofClass("sharing")}, nil},
		{"shared, but for the path", []party{claimant("a/web", 1, "shared.example.com/a").ofClass("sharing"), claimant("b/web", 2, "shared.example.com/a").ofClass("sharing")}, []string{"a/web"}},
		{"shared, but for the path that is served", []party{claimant("a/web", 9, "shared.example.com/a").ofClass("sharing"), claimant("b/web", 2, "shared.example.com/a").ofClass("sharing").serving("shared.example.com/a")}, []string{"a/web"}},
		{"shared by one of the classes", []party{claimant("a/web", 1, "shared.example.com/a").ofClass("sharing"), claimant("b/web", 2, "shared.example.com")}, []string{"a/web"}},
		{"shared wildcard", []party{claimant("a/web", 1, "*.shared.example.com").ofClass("sharing"), claimant("b/web", 2, "x.shared.example.com").ofClass("sharing")}, nil},
		{"a wildcard above what is shared", []party{claimant("a/web", 1, "*.example.com").ofClass("sharing"), claimant("b/web", 2, "shared.example.com").ofClass("sharing")}, []string{"a/web"}},

		// The limits of the class refuse b.
		{"an older one whose class does not allow it", []party{claimant("a/web", 1, host), claimant("b/web", 9, host).ofClass("strict")}, nil},
		// It may not have its class, so the class refuses it. Older than a, it would reserve what it cannot serve.
		{"an older one that may not have its class", []party{claimant("a/web", 1, host), claimant("b/web", 9, host).ofClass("of another namespace")}, nil},
		{"one that serves, and may not have its class any more", []party{claimant("a/web", 1, host), claimant("b/web", 9, host).ofClass("of another namespace").serving(host)}, []string{"a/web"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 2 {
				var refused []string
				for _, p := range test.all {
					errs, err := ValidateRouteOwnership(p.Application, owners(test.all...))
					if err != nil {
						t.Fatal(err)
					}
					if len(errs) > 0 {
						refused = append(refused, p.Namespace+"/"+p.Name)
					}
				}
				if !slices.Equal(refused, test.refused) {
					t.Errorf("refused are %q, want %q", refused, test.refused)
				}
				slices.Reverse(test.all)
			}
		})
	}
}

// A refusal shows the host name as the user wrote it, with a path only if the user named one.
func TestRefusedRouteAsWritten(t *testing.T) {
	for asked, shown := range map[string]string{"web.example.com": "web.example.com", "web.example.com/login": "web.example.com/login"} {
		late, early := claimant("a/web", 1, asked), claimant("a/front", 2, asked)
		errs, err := ValidateRouteOwnership(late.Application, owners(late, early))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("Invalid value: %q: belongs to Application a/front: choose another host name or path", shown)
		if len(errs) != 1 || !strings.HasSuffix(errs[0].Error(), want) {
			t.Errorf("%v, want %s", errs, want)
		}
	}
}

// TestAdviceOfARefusedRoute: another path helps only where one namespace does not have the host name as a whole.
func TestAdviceOfARefusedRoute(t *testing.T) {
	const host, shared = "web.example.com", "shared.example.com/a"
	for _, test := range []struct {
		name        string
		late, early party
		want        string
	}{
		{"same namespace", claimant("a/web", 1, host), claimant("a/front", 2, host), `"web.example.com": belongs to Application a/front: choose another host name or path`},
		{
			"another namespace", claimant("a/web", 1, host), claimant("b/front", 2, host),
			`"web.example.com": belongs to Application b/front of another namespace, with all its paths: choose another host name`,
		},
		{
			"another path in another namespace", claimant("a/web", 1, host+"/login"), claimant("b/front", 2, host),
			`"web.example.com": belongs to Application b/front of another namespace, with all its paths: choose another host name`,
		},
		{
			"below a wildcard of another namespace", claimant("a/web", 1, host), claimant("b/front", 2, "*.example.com"),
			`"web.example.com": overlaps with *.example.com of Application b/front: choose another host name`,
		},
		{
			"another namespace shares it", claimant("a/web", 1, shared).ofClass("sharing"), claimant("b/front", 2, shared).ofClass("sharing"),
			`"shared.example.com/a": belongs to Application b/front: choose another host name or path`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			stored, err := ValidateRouteOwnership(test.late.Application, owners(test.late, test.early))
			if err != nil {
				t.Fatal(err)
			}
			requested, err := ValidateNewRoutes(test.late.Application, nil, owners(test.early))
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"spec.routes[0].hostnames[0]: Invalid value: " + test.want}
			if got := messages(stored); !slices.Equal(got, want) {
				t.Errorf("the sync says %q, want %q", got, want)
			}
			if got := messages(requested); !slices.Equal(got, want) {
				t.Errorf("the request says %q, want %q", got, want)
			}
		})
	}
}

// TestHeldRoutes: a suspended Application goes on serving what its spec gave up. The refusal names the reason, and a request is warned.
func TestHeldRoutes(t *testing.T) {
	const (
		host   = "web.example.com"
		resume = " gave it up, but its reconcilePolicy keeps it: resume that Application, or choose another host name or path"
		owned  = "belongs to Application shop/front: choose another host name or path"
		whole  = "belongs to Application shop/front of another namespace, with all its paths: choose another host name"
	)
	front := func(policy v1.ReconcilePolicy, asks ...string) party {
		p := claimant("shop/front", 100, asks...).serving(host)
		p.Spec.ReconcilePolicy = policy
		return p
	}
	shop, other := claimant("shop/web", 1, host), claimant("a/web", 1, host)
	wildcard, deleted := claimant("a/web", 1, "*.example.com"), front(v1.ReconcileSuspend)
	deleted.DeletionTimestamp = new(metav1.Now())
	for _, test := range []struct {
		name         string
		app          party
		old          *party
		stored       party
		sync, warned string
	}{
		{"suspended", shop, nil, front(v1.ReconcileSuspend), "Application shop/front" + resume, "Application shop/front" + resume},
		{"observed", shop, nil, front(v1.ReconcileObserve), "Application shop/front" + resume, "Application shop/front" + resume},
		{"suspended, in another namespace", other, nil, front(v1.ReconcileSuspend), whole, ""}, // The request is refused.
		{
			"suspended in another namespace, below a wildcard", wildcard, nil, front(v1.ReconcileSuspend),
			"overlaps with web.example.com of Application shop/front: choose another host name", "",
		},
		{"suspended, and being deleted", shop, nil, deleted, owned, ""},
		{"suspended, of before", shop, &shop, front(v1.ReconcileSuspend), "Application shop/front" + resume, ""},
		{"suspended, and still asks for it", shop, nil, front(v1.ReconcileSuspend, host), owned, ""},
		{"not suspended, so it moves", shop, nil, front(""), owned, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			errs, err := ValidateRouteOwnership(test.app.Application, owners(test.app, test.stored))
			if err != nil || len(errs) != 1 || !strings.HasSuffix(errs[0].Error(), `": `+test.sync) {
				t.Errorf("the sync says %v, %v; want %q", errs, err, test.sync)
			}
			if owner := GivenUpBy(errs.ToAggregate().Error()); (owner == "front") != strings.Contains(test.sync, "gave") {
				t.Errorf("given up by %q", owner)
			}
			var old *v1.Application
			if test.old != nil {
				old = test.old.Application
			}
			errs, err = HeldRoutes(test.app.Application, old, owners(test.app, test.stored))
			if got := strings.Join(messages(errs), "\n"); err != nil || !strings.HasSuffix(got, test.warned) || (got == "") != (test.warned == "") {
				t.Errorf("the warning is %q, %v; want %q", got, err, test.warned)
			}
		})
	}
}

// A request: who comes now is later, whatever its age.
func TestNewRoutes(t *testing.T) {
	const host = "web.example.com"
	older := claimant("shop/front", 100, host, "api.example.com/v1")
	for _, test := range []struct {
		name   string
		app    party
		old    *party
		stored []party
		want   []string
	}{
		{"nobody else", claimant("a/web", 1, host), nil, nil, nil},
		{"itself", older, nil, []party{older}, nil},
		{"another one's host", claimant("a/web", 999, host), nil, []party{older}, []string{"spec.routes[0].hostnames[0]", host, "shop/front"}},
		{"another path of it", claimant("a/web", 999, host+"/login"), nil, []party{older}, []string{"spec.routes[0].hostnames[0]", host, "shop/front"}},
		{"another path in the same namespace", claimant("shop/web", 1, "api.example.com/v2"), nil, []party{older}, nil},
		{"the same path in the same namespace", claimant("shop/web", 999, "API.example.com/v1/"), nil, []party{older}, []string{"api.example.com/v1", "shop/front"}},
		{"a wildcard above it", claimant("a/web", 999, "*.example.com"), nil, []party{older}, []string{"*.example.com", "overlaps", "shop/front"}},
		{"what only is served in another namespace", claimant("a/web", 999, "old.example.com"), nil, []party{older.serving("old.example.com")}, []string{"old.example.com", "shop/front"}},
		{"what moves within the namespace", claimant("shop/web", 1, "old.example.com"), nil, []party{older.serving("old.example.com")}, nil},
		{"what it had before", claimant("a/web", 1, host), new(claimant("a/web", 1, host)), []party{older}, nil},
		{"another path of what it had before", claimant("a/web", 1, host+"/x"), new(claimant("a/web", 1, host)), []party{older}, nil},
		{"a further path, where a stranger asks in vain", claimant("shop/web", 1, host+"/x"), nil, []party{older.serving(host), claimant("b/web", 999, host)}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var old *v1.Application
			if test.old != nil {
				old = test.old.Application
			}
			errs, err := ValidateNewRoutes(test.app.Application, old, owners(test.stored...))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(messages(errs), "\n")
			if (got == "") != (len(test.want) == 0) {
				t.Fatalf("the errors are %q, want %q", got, test.want)
			}
			for _, part := range test.want {
				if !strings.Contains(got, part) {
					t.Errorf("%q lacks %q", got, part)
				}
			}
		})
	}
}

// Whatever two namespaces ask for and serve, never are both right.
func TestRouteOwnershipIsExclusive(t *testing.T) {
	hosts := []string{"*.com", "*.example.com", "shop.example.com", "*.shop.example.com"}
	var parties []party
	for _, host := range hosts {
		for _, age := range []int{1, 5} {
			parties = append(parties, claimant("x/web", age, host), claimant("x/web", age, host).serving(host), claimant("x/web", age, host).serving("*.example.com"))
		}
	}
	in := func(namespace string, p party) party {
		p.Application = p.DeepCopy()
		p.Namespace = namespace
		return p
	}
	for _, first := range parties {
		for _, second := range parties {
			a, b := in("a", first), in("b", second)
			if !v1.HostsOverlap(a.RouteKeys()[0].Host, b.RouteKeys()[0].Host) {
				continue
			}
			refusedA, _ := ValidateRouteOwnership(a.Application, owners(a, b))
			refusedB, _ := ValidateRouteOwnership(b.Application, owners(b, a))
			if len(refusedA) == 0 && len(refusedB) == 0 {
				t.Errorf("both have it: %v serving %v, and %v serving %v", a.RouteKeys(), a.serves, b.RouteKeys(), b.serves)
			}
		}
	}
}

func TestRouteClaimsFail(t *testing.T) {
	broken := errors.New("no index")
	for _, fail := range []func(*RouteOwners){
		func(o *RouteOwners) { o.HostClaims = func(string) ([]v1.RouteClaim, error) { return nil, broken } },
		func(o *RouteOwners) {
			o.RouteClaims = func(string, v1.RouteKey) ([]v1.RouteClaim, error) { return nil, broken }
		},
	} {
		find := owners()
		fail(&find)
		if _, err := ValidateRouteOwnership(claimant("a/web", 1, "web.example.com").Application, find); !errors.Is(err, broken) {
			t.Errorf("the error is %v", err)
		}
	}
}
