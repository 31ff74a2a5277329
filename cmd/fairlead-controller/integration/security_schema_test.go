// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// mayNameNamespaces are the only fields of an Application's spec that lead out of its namespace, and
// why they may.
var mayNameNamespaces = map[*regexp.Regexp]string{
	regexp.MustCompile(`^spec\.networkPolicy\.(ingress\[\]\.from|egress\[\]\.to)\[\]\.(application\.namespace|namespaceSelector)$`): "whom the pods talk to, as a NetworkPolicy of the tenant's own could say",
	regexp.MustCompile(`^spec\.routes\[\]\.parentRefs\[\]\.namespace$`):                                                             "the Gateway: its listeners say routes of which namespaces they take, and an HTTPRoute of the tenant's own could name it",
	regexp.MustCompile(`^spec\.affinity\.pod(Anti)?Affinity\..*\.(namespaces|namespaceSelector)$`):                                  "beside whose pods the scheduler puts these: it reads nothing of them, and a pod of the tenant's own could say it",
}

// TestS7NothingLeadsToOtherNamespaces walks the schema that the API server has.
func TestS7NothingLeadsToOtherNamespaces(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	spec := e.crd().Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	used := map[string]bool{}
	for _, path := range properties("spec", &spec) {
		name := path[strings.LastIndex(path, ".")+1:]
		if !strings.Contains(strings.ToLower(name), "namespace") {
			continue
		}
		allowed := ""
		for pattern, reason := range mayNameNamespaces {
			if pattern.MatchString(path) {
				allowed, used[pattern.String()] = reason, true
			}
		}
		if allowed == "" {
			t.Errorf("%s can name another namespace", path)
		}
	}
	for pattern := range mayNameNamespaces {
		if !used[pattern.String()] {
			t.Errorf("no field is like %s", pattern)
		}
	}
}

// properties are the paths of all fields. A field of unknown content would hide some, so it is one
// that contains the word.
func properties(path string, props *apiextensionsv1.JSONSchemaProps) []string {
	var all []string
	if unknown := props.XPreserveUnknownFields; unknown != nil && *unknown {
		all = append(all, path+".anyNamespace")
	}
	for _, name := range slices.Sorted(maps.Keys(props.Properties)) {
		property := props.Properties[name]
		all = append(all, path+"."+name)
		all = append(all, properties(path+"."+name, &property)...)
	}
	if props.Items != nil && props.Items.Schema != nil {
		all = append(all, properties(path+"[]", props.Items.Schema)...)
	}
	if props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil {
		all = append(all, properties(path+"{}", props.AdditionalProperties.Schema)...)
	}
	return all
}

// TestS11NothingOpensEverything has Applications whose rules come to little or nothing. In a
// NetworkPolicy an empty list of peers or ports, and an empty peer, stand for all; none may arise.
func TestS11NothingOpensEverything(t *testing.T) {
	t.Parallel()
	e := start(t)
	tenant := e.as("edit")
	odd := map[string]string{
		"empty":       `networkPolicy: {}`,
		"no-rules":    `networkPolicy: {ingress: [], egress: []}`,
		"absent-peer": `networkPolicy: {ingress: [{from: [{application: {name: nobody}}]}], egress: [{to: [{application: {name: nobody}}]}]}`,
		"portless":    `networkPolicy: {ingress: [{from: [{podSelector: {matchLabels: {a: b}}}]}]}`,
		"routed":      "ports: [{name: http, containerPort: 80}]\n  routes: [{name: a, hostnames: [routed.example.com]}]\n  networkPolicy: {}",
	}
	for name, spec := range odd {
		tenant.create(named(small, name) + "  " + spec + "\n")
	}
	for name := range odd {
		e.waitReady(name)
		policy := get[networkingv1.NetworkPolicy](e, name)
		if !slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) || !slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) {
			t.Errorf("%s: only %v is restricted", name, policy.Spec.PolicyTypes)
		}
		var peers []networkingv1.NetworkPolicyPeer
		for _, rule := range policy.Spec.Ingress {
			if peers = append(peers, rule.From...); len(rule.From) == 0 || len(rule.Ports) == 0 {
				t.Errorf("%s: the rule %+v opens everything", name, rule)
			}
		}
		for _, rule := range policy.Spec.Egress {
			// A peer's ports may be left out: the peer's own policy has them.
			if peers = append(peers, rule.To...); len(rule.To) == 0 {
				t.Errorf("%s: the rule %+v opens everything", name, rule)
			}
		}
		for _, peer := range peers {
			if peer == (networkingv1.NetworkPolicyPeer{}) {
				t.Errorf("%s: an empty peer", name)
			}
		}
	}
}
