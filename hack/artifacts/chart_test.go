// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// chartTemplate is a template of the chart that is made from manifests, so that both stay the same. Their comments stay in
// it. hack/chart has the tests that compare what the chart and the overlays render.
type chartTemplate struct {
	file string
	// condition is when the chart has these objects.
	condition string
	sources   []string
	// annotations is what goes into the metadata of each object.
	annotations string
}

const clusterWide = `include "fairlead.clusterWide" .`

var chartTemplates = []chartTemplate{
	{"webhooks.yaml", clusterWide, []string{"webhook/configurations.yaml"}, `  {{- if include "fairlead.certManager" . }}
  annotations:
    cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/fairlead-controller
  {{- end }}
`},
	{"users.yaml", clusterWide, []string{"rbac/users/roles.yaml", "rbac/users/live-view.yaml"}, ""},
	{"flow-control.yaml", "and .Values.flowControl.enabled (" + clusterWide + ")", []string{"components/flow-control/flow-control.yaml"}, ""},
	{"operator-fence.yaml", "and .Values.operatorFence.enabled (" + clusterWide + ")", []string{
		"components/operator-fence/children.yaml", "components/operator-fence/webhooks.yaml",
	}, ""},
	{"monitoring.yaml", "and .Values.monitoring.enabled (" + clusterWide + ")", []string{
		"components/monitoring/service-monitor.yaml", "components/monitoring/rules.yaml", "components/monitoring/reader.yaml",
	}, ""},
}

// sourceHeader is what the first lines of a source say about that file, and not about its objects.
var sourceHeader = regexp.MustCompile(`^# Copyright.*\n# SPDX.*\n\n(?:# Generated.*\n)?(?:---\n)?`)

// metadata is the head of an object's metadata. Labels come behind it.
var metadata = regexp.MustCompile(`(?m)^metadata:\n((?:  (?:name|namespace): .*\n)+)(  labels:\n)?`)

func (c chartTemplate) render(t *testing.T) []byte {
	t.Helper()
	documents := make([]string, len(c.sources))
	for i, source := range c.sources {
		documents[i] = escapeTemplate(sourceHeader.ReplaceAllString(readFile(t, "artifacts/"+source), ""))
	}
	labelled := metadata.ReplaceAllString(strings.Join(documents, "---\n"),
		"metadata:\n${1}"+strings.ReplaceAll(c.annotations, "$", "$$")+"  labels:\n    {{- include \"fairlead.labels\" . | nindent 4 }}\n")
	return fmt.Appendf(nil, "{{- /* Generated from artifacts/%s by make generate. Do not edit. */ -}}\n{{- if %s }}\n%s{{- end }}\n",
		strings.Join(c.sources, ", artifacts/"), c.condition, labelled)
}

// escapeTemplate makes Helm print what is written for another template language, and puts the release's namespace in.
func escapeTemplate(text string) string {
	text = regexp.MustCompile(`\{\{|\}\}`).ReplaceAllStringFunc(text, func(braces string) string { return "{{ `" + braces + "` }}" })
	return strings.ReplaceAll(text, operatorNamespace, "{{ .Release.Namespace }}")
}

// chartRules are the roles whose rules the chart has in a library: where they apply depends on the values. A role may be
// divided by the rules that contain a text.
var chartRules = []struct{ name, source, role, with, without string }{
	{"watched", "rbac/watched/role.yaml", "fairlead-controller", "", ""},
	{"classes", "rbac/classes/role.yaml", "fairlead-controller-classes", "", ""},
	{"cluster", "rbac/cluster/role.yaml", "fairlead-controller-cluster", "", "admissionregistration.k8s.io"},
	{"caBundle", "rbac/cluster/role.yaml", "fairlead-controller-cluster", "admissionregistration.k8s.io", ""},
	{"own", "rbac/own/role.yaml", "fairlead-controller", "", "[secrets]"},
	{"certificate", "rbac/own/role.yaml", "fairlead-controller", "[secrets]", ""},
	{"secrets", "components/secrets-access/secrets-access.yaml", "fairlead-controller-secrets", "watch", ""},
	{"hashKey", "components/secrets-access/secrets-access.yaml", "fairlead-controller-secrets", "", "watch"},
}

var (
	ruleSections = regexp.MustCompile(`(?m)^ {2}name: (\S+)\n(?:  namespace: \S+\n)?rules:\n((?:[-# ].*\n)+)`)
	ruleBlocks   = regexp.MustCompile(`(?m)^(?:#.*\n)*- apiGroups.*\n(?: {2}.*\n)+`)
)

func chartRulesLibrary(t *testing.T) []byte {
	t.Helper()
	var library strings.Builder
	library.WriteString("{{/* Generated from the roles of artifacts by make generate. Do not edit. */}}\n")
	for _, part := range chartRules {
		var rules strings.Builder
		for _, section := range ruleSections.FindAllStringSubmatch(readFile(t, "artifacts/"+part.source), -1) {
			for _, rule := range ruleBlocks.FindAllString(section[2], -1) {
				if section[1] == part.role && strings.Contains(rule, part.with) && (part.without == "" || !strings.Contains(rule, part.without)) {
					rules.WriteString(rule)
				}
			}
		}
		if rules.Len() == 0 {
			t.Fatalf("%s has no rule for the chart's %s", part.source, part.name)
		}
		fmt.Fprintf(&library, "\n{{- define \"fairlead.rules.%s\" }}\n%s{{- end }}\n", part.name, strings.TrimSuffix(rules.String(), "\n")+"\n")
	}
	return []byte(library.String())
}
