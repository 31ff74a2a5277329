// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"
)

// TestEditsBesideARouteConflict: nothing of the spec is carried out while its host name belongs to another Application, and an edit does not
// change that, unless it is one of the routes.
func TestEditsBesideARouteConflict(t *testing.T) {
	p := start(t)
	const ports, routes = ", ports: [{name: http, containerPort: 8080}]", ", routes: [{name: web, hostnames: [%.example.com]}]"
	p.create("first", "{image: example.com/web:1"+ports+strings.ReplaceAll(routes, "%", "a")+"}")
	p.want(0, []string{"status", "first", "--watch", "--timeout=60s"})
	p.create("second", "{image: example.com/web:1"+ports+strings.ReplaceAll(routes, "%", "a")+"}")
	p.eventually("the conflict", func() bool { return strings.Contains(p.run("get", "second").stdout, "RouteConflict") })

	const refused = "such a spec is not carried out (RouteConflict): spec.routes[0].hostnames[0]: Invalid value: \"a.example.com\": belongs to Application "
	p.want(0, []string{"restart", "second", "--dry-run=client"}, "The edit replaces no pod, because "+refused)
	diff := func(host string, output ...string) string {
		return p.runIn([]byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: second}, spec: {image: 'example.com/web:2'"+
			ports+strings.ReplaceAll(routes, "%", host)+"}}"), append([]string{"diff", "-f", "-"}, output...)...).stdout
	}
	said, want := diff("a"), p.namespace+"/second: no child changes and no pod is replaced. S"+refused[1:]
	if !strings.HasPrefix(said, want) || !strings.Contains(said, "\nOnce that is solved: ") {
		t.Errorf("diff says\n%s\nwant %q", said, want)
	}
	if got := diff("a", "-o", "json"); !strings.Contains(got, `"reason": "RouteConflict"`) || !strings.Contains(got, `"message": "spec.routes[0].hostnames[0]: `) {
		t.Errorf("diff as JSON says\n%s\nwant the refusal", got)
	}
	if got := diff("b") + diff("b", "-o", "json"); strings.Contains(got, refused) || strings.Contains(got, "RouteConflict") {
		t.Errorf("diff with a free host name says\n%s", got)
	}
}
