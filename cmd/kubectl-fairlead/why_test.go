// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"
)

// TestWhyOfMissingRevision: the advice is the command that removes the field, and that command helps.
func TestWhyOfMissingRevision(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.pin("web", "7")
	p.eventually("the revision to be missed", func() bool { return strings.Contains(p.run("get", "web").stdout, "RevisionMissing") })
	p.want(1, []string{"why", "web"}, "The spec is not carried out: it names a revision that does not exist. No child was changed.",
		"See which revisions exist, and name one of them in spec.rollback.toRevision: kubectl fairlead -n "+p.namespace+" history web\n",
		"Or remove the field, so that the pods of the spec run: kubectl -n "+p.namespace+
			` patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"rollback":{"toRevision":null}}}'`+"\n")
	p.pin("web", "null")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "Ready")
}

// TestWhyOfMissing: why says what it can about the Applications that exist, and what to do about a Deployment that has none.
func TestWhyOfMissing(t *testing.T) {
	p := start(t)
	p.create("web", "{image: example.com/web:1}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.leaveBehind("shop")
	gone := `applications.apps.fairlead.dev "gone" not found in namespace ` + p.namespace + "\n"
	alone := "error: there is no Application shop in namespace " + p.namespace + ", but a Deployment of that name. To let an Application adopt it, " +
		"see what that would change: kubectl fairlead -n " + p.namespace + " adopt shop --harden --dry-run=client\n"

	misspelt := `error: applications.apps.fairlead.dev "wbe" not found in namespace ` + p.namespace + "\nDid you mean web?\n"

	for _, test := range []struct {
		args           []string
		stdout, stderr string
	}{
		{[]string{"why", "gone", "web"}, p.namespace + "/web is ready", "error: " + gone},
		{[]string{"why", "gone", "web", "missing"}, p.namespace + "/web is ready", gone + "applications.apps.fairlead.dev \"missing\" not found in namespace " + p.namespace + "\n"},
		{[]string{"status", "gone", "web"}, p.namespace + "/web  Ready", "error: " + gone},
		{[]string{"status", "gone", "web", "--watch"}, p.namespace + "/web  Ready", "error: " + gone},
		{[]string{"status", "gone", "web", "-o", "json"}, `"items": [`, "error: " + gone},
		{[]string{"tree", "web", "gone"}, "Deployment/web", "error: " + gone},
		{[]string{"history", "gone", "web"}, "example.com/web:1", "error: " + gone},
		{[]string{"status", "shop", "web"}, p.namespace + "/web  Ready", alone},
		{[]string{"why", "gone", "web", "-o", "json"}, `"name": "web"`, gone},
		{[]string{"why", "shop"}, "", alone},
		{[]string{"why", "shop", "web"}, p.namespace + "/web is ready", alone},
		{[]string{"why", "gone", "-o", "json"}, "", gone},
		{[]string{"why", "wbe"}, "", misspelt},
		{[]string{"status", "wbe"}, "", misspelt},
		{[]string{"restart", "wbe"}, "", misspelt},
		{[]string{"logs", "wbe"}, "", misspelt},
		{[]string{"history", "wbe"}, "", misspelt},
		{[]string{"adopt", "sohp"}, "", "error: deployments.apps \"sohp\" not found in namespace " + p.namespace + "\nDid you mean shop?\n"},
		{[]string{"eject", "wbe"}, "", "error: there is no Application wbe in namespace " + p.namespace + ", and none left objects behind\nDid you mean web?\n"},
	} {
		r := p.want(2, test.args, test.stdout)
		if !strings.Contains(r.stderr, test.stderr) || test.stdout == "" && r.stdout != "" {
			t.Errorf("%q says %q, and the error %q", test.args, r.stdout, r.stderr)
		}
	}
}

// TestWhyOfUnservedRoutes: no controller serves the IngressClass, and the Application is ready all the same.
func TestWhyOfUnservedRoutes(t *testing.T) {
	p := start(t)
	p.create("r", "{image: example.com/web:1, ports: [{name: http, containerPort: 80}], routes: [{name: public, hostnames: ["+
		p.namespace+".example.com], ingressClassName: nosuch, tls: {secretName: nosuch}}]}")
	p.want(0, []string{"status", "r", "--watch", "--timeout=60s"})
	const hint = "f clients do not reach the application, check that a controller serves IngressClass nosuch"
	p.want(0, []string{"why", "r"}, p.namespace+"/r is ready, but there is something to know.\n",
		"No controller has given Ingress r an address. Perhaps none serves the class; but some controllers never give one.\n", "I"+hint+". To see the classes: kubectl get ingressclasses\n",
		"Secret nosuch does not exist, so HTTPS clients do not get the certificate that the route names.\n",
		"Create it: kubectl -n "+p.namespace+" create secret tls nosuch --cert=FILE --key=FILE\n")
	p.want(0, []string{"status", "r"}, "Routes       Applied; no address for Ingress r: i"+hint+"\n")
	p.want(0, []string{"tree", "r"}, p.namespace+".example.com; no address\n")
}
