// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/manifest"
)

// TestLintNamesTheLine: a mistake is at the line of its own field, and not at that of a field above it.
func TestLintNamesTheLine(t *testing.T) {
	const object = "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec:\n  image: web\n"
	const ofTemplate = "if this is a template, lint its output, such as the output of helm template"
	for name, test := range map[string]struct{ fields, want string }{
		"a key with a dot": {
			"  config:\n    mountPath: /a\n    a.yaml: b\n",
			"-:8: spec.config.a.yaml: Forbidden: unknown field: a file belongs in data",
		},
		"a key with a slash": {
			"  networkPolicy:\n    ingress:\n    - from:\n      - podSelector:\n          example.com/a: b\n",
			"-:10: spec.networkPolicy.ingress[0].from[0].podSelector.example.com/a: Forbidden: unknown field: a label belongs in",
		},
		"an item of a nested list": {
			"  sidecars:\n  - name: a\n    image: b\n    env:\n    - name: A\n      valu: b\n",
			"-:11: spec.sidecars[0].env[0].valu: Forbidden: unknown field: did you mean value?",
		},
		"a wrong indentation": {
			"  ports:\n  - name: http\n   containerPort: 8080\n",
			"-:8: yaml: line 8: did not find expected key (syntax)",
		},
		"a tab": {
			"  ports:\n  - name: http\n\tcontainerPort: 8080\n",
			"-:8: yaml: line 8: found a tab character that violates indentation (syntax)",
		},
		"a tab after the name of a field": {
			"  resources:\n\trequests: {}\n",
			"-:7: yaml: line 7: found character that cannot start any token, probably a tab: indent with spaces (syntax)",
		},
		"a value that begins with a percent sign": {
			"  command: [%s]\n",
			"-:6: yaml: line 6: found character that cannot start any token: put the value in quotes (syntax)",
		},
		"a value that begins with an at sign": {
			"  args:\n  - @file\n",
			"-:7: yaml: line 7: found character that cannot start any token: put the value in quotes (syntax)",
		},
		"a value that begins with a backtick": {
			"  args: [a, `date`]\n",
			"-:6: yaml: line 6: found character that cannot start any token: put the value in quotes (syntax)",
		},
		"a host name with a wildcard": {
			"  routes:\n  - hostnames:\n    - *.example.com\n",
			"-:8: yaml: line 8: did not find expected alphabetic or numeric character: put the value in quotes, since * begins an alias (syntax)",
		},
		"a value that begins with an ampersand": {
			"  args: [&.a]\n",
			"-:6: yaml: line 6: did not find expected alphabetic or numeric character: put the value in quotes, since & begins an anchor (syntax)",
		},
		"a condition of a template": {
			"  {{- if .Values.replicas }}\n  replicas: 1\n  {{- end }}\n",
			"-:6: yaml: line 6: could not find expected ':': " + ofTemplate + " (syntax)",
		},
		"a value of a template": {
			"  resources:\n    {{- toYaml .Values.resources | nindent 4 }}\n",
			"-:7: yaml: line 7: did not find expected node content: " + ofTemplate + " (syntax)",
		},
		"two values of a template": {
			"  className: {{ .Values.a }}:{{ .Values.b }}\n",
			"-:6: yaml: line 6: did not find expected key: " + ofTemplate + " (syntax)",
		},
		"a tab in a template": {
			"  className: {{ .Values.a }}\n  resources:\n\trequests: {}\n",
			"-:8: yaml: line 8: found character that cannot start any token, probably a tab: indent with spaces (syntax)",
		},
		"a bracket that is left open": {
			"  command: [a,\n  args: []\n",
			"-:7: yaml: line 7: did not find expected ',' or ']' (syntax)",
		},
		"the second document": {
			"---\n" + object + "  ports:\n  - name: http\n   containerPort: 8080\n",
			"-:14: yaml: line 14: did not find expected key (syntax)",
		},
		"two keys that are read alike": {
			"  podMetadata: {labels: {a: b,\n    1: c, 0x1: d}}\n",
			"-:7: the key 0x1 is read as \"1\": put it in quotes, \"0x1\" (syntax)",
		},
		"a template": {
			"  replicas: {{ .Values.replicas }}\n",
			"-:6: a key is a map: if this is a template, lint its output, such as the output of helm template; else put the key in quotes (syntax)",
		},
		"a list as a key": {
			"  nodeSelector:\n    [a]: b\n",
			"-:7: a key is a list: put it in quotes (syntax)",
		},
		"a key that is null": {
			"  nodeSelector:\n    ~: b\n",
			"-:7: a key is null: give it a name; if the name is null, put it in quotes (syntax)",
		},
		"a merge of a list of names": {
			"  nodeSelector:\n    <<: [a]\n",
			"-:7: << takes a map or a list of maps, such as an alias of one (syntax)",
		},
		"a tag": {
			"  replicas: !!int many\n",
			"-:6: cannot decode !!str `many` as a !!int (syntax)",
		},
		"an alias of nothing": {
			"  replicas: *count\n",
			"-:6: yaml: line 6: unknown anchor 'count' referenced (syntax)",
		},
		"an alias of nothing, far down": {
			strings.Repeat("  # *count\n", 300) + "  replicas: *count\n  paused: [\n",
			"-:306: yaml: line 306: unknown anchor 'count' referenced (syntax)",
		},
		"an alias of an earlier document": {
			"  command: &words [web]\n---\n" + object + "  paused: &no false\n  args: *words\n",
			"-:14: unknown anchor 'words' referenced (syntax)",
		},
		"a number that no unit can follow": {
			"  resources: {requests: {memory: 1.5e-1}}\n",
			"-:6: spec.resources.requests[memory]: Invalid value: must be a whole number of bytes, not 1.5e-1: write a unit behind it, as in 0.15Gi (schema)\n",
		},
		"a list whose items come from a merge": {
			"---\nx: &a\n  items:\n  - {apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: b}, spec: {imag: a}}\nkind: List\n<<: *a\n",
			"-:7: spec.imag: Forbidden: unknown field: did you mean image? (schema)\n",
		},
		"a list whose items share an anchor": {
			"---\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  data: &d {a: b}\n- apiVersion: apps.fairlead.dev/v1\n  kind: Application\n" +
				"  metadata: {name: b}\n  spec:\n    image: a\n    nodeSelector: *d\n    replica: 1\n",
			"-:18: spec.replica: Forbidden: unknown field: did you mean replicas",
		},
		"a misread key outside of the item that has its alias": {
			"---\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  data: &d\n    on: b\n- apiVersion: apps.fairlead.dev/v1\n  kind: Application\n" +
				"  metadata: {name: b}\n  spec:\n    image: a\n    nodeSelector: *d\n",
			"-:12: the key on is read as \"true\": put it in quotes, \"on\" (syntax)",
		},
		"an infinite number": {
			"  replicas: .inf\n",
			"-:6: JSON has no such number as .inf: write another one; if it is text, put it in quotes (syntax)",
		},
		"no number": {
			"  config:\n    mountPath: /a\n    data:\n      a: .nan\n",
			"-:9: JSON has no such number as .nan: write another one; if it is text, put it in quotes (syntax)",
		},
		"two templates": {
			"  nodeSelector:\n    {{ a }}: x\n    {{ b }}: y\n",
			"-:7: a key is a map: if this is a template, lint its output",
		},
		"an infinite key, beside a number": {
			"  nodeSelector:\n    .inf: a\n    b: -.inf\n",
			"-:8: JSON has no such number as -.inf: ",
		},
		"an alias": {
			"  readinessProbe: &probe\n    httpGet: {path: /}\n    perid: 5\n  livenessProbe: *probe\n",
			"-:8: spec.livenessProbe.perid: Forbidden: unknown field",
		},
		"a mount, by its path": {
			"  mounts:\n  - mountPath: /a.d\n    secret:\n      secretName: a\n      items:\n      - key: tls.key\n        path: b\n        mode: 400\n",
			"-:13: warning: spec.mounts[/a.d].secret.items[tls.key].mode: 400 is decimal",
		},
		"a source of a projection": {
			"  mounts:\n  - mountPath: /a\n    projected:\n      sources:\n      - secret:\n          name: a\n          items:\n          - key: b\n            path: b\n            mode: 440\n",
			"-:15: warning: spec.mounts[/a].projected.sources[0].secret.items[b].mode: 440 is decimal",
		},
		"a command and its script": {
			"  command: sh -c\n  args: exec web\n",
			"-:6: spec.command: Invalid value: must be a list of strings, not a string: [sh, -c] (schema)\n" +
				"-:7: spec.args: Invalid value: must be a list of strings, not a string: [\"exec web\"] (schema)\n",
		},
		"a sidecar, by its name": {
			"  sidecars:\n  - name: a\n    image: b\n    resources:\n      requests:\n        cpu: 500\n",
			"-:11: warning: spec.sidecars[a].resources.requests[cpu]: 500 means 500 cores",
		},
	} {
		t.Run(name, func(t *testing.T) {
			streams, in, out, _ := genericiooptions.NewTestIOStreams()
			in.WriteString(object + test.fields)
			Run(t.Context(), streams, []string{"lint", "-f", "-"})
			if !strings.HasPrefix(out.String(), test.want) {
				t.Errorf("%s, want %s", out, test.want)
			}
		})
	}
}

// TestLintOfEmptyValues: a value that is left out is null, in braces as on a line of its own.
func TestLintOfEmptyValues(t *testing.T) {
	const object = "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec:\n  image: web\n"
	const noSource = "spec.mounts[0]: Invalid value: exactly one of secret, configMap, emptyDir, persistentVolumeClaim, projected must be set, and none is"
	for fields, want := range map[string]string{
		"  config: {mountPath: /a, data: {a: }}\n":                     "-:6: spec.config.data: Invalid value: 0: spec.config.data in body should have at least 1 properties",
		"  config:\n    mountPath: /a\n    data:\n      a:\n":          "-:8: spec.config.data: Invalid value: 0: spec.config.data in body should have at least 1 properties",
		"  config: {mountPath: /a, data: {a: \"\"}}\n":                 "1 object checked",
		"  mounts: [{mountPath: /a, emptyDir: }]\n":                    "-:6: " + noSource + ": emptyDir has no value, so write emptyDir: {} (cel)\n",
		"  mounts:\n  - mountPath: /a\n    emptyDir:\n":                "-:7: " + noSource + ": emptyDir has no value, so write emptyDir: {} (cel)\n",
		"  mounts: [{mountPath: /a, subPath: , secret: }]\n":           "-:6: " + noSource + ": secret has no value, so write its fields (cel)\n",
		"  mounts: [{mountPath: /a, subPath: }]\n":                     "-:6: " + noSource + " (cel)\n",
		"  readinessProbe: {exec: }\n":                                 "-:6: spec.readinessProbe: Invalid value: exactly one of exec, httpGet, tcpSocket, grpc must be set, and none is: exec has no value, so write its fields (cel)\n",
		"  env: [{name: }]\n":                                          "-:6: spec.env[0].name: Required value",
		"  readinessProbe: {httpGet: {path: /, port: 80, scheme: }}\n": "-:6: warning: spec.readinessProbe.httpGet.scheme: ",
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		in.WriteString(object + fields)
		Run(t.Context(), streams, []string{"lint", "-f", "-"})
		if !strings.HasPrefix(out.String(), want) {
			t.Errorf("%s: %s, want %s", fields, out, want)
		}
	}
}

// TestLintInTheOrderOfLines: a reader goes through the file once, whichever rule or kind a finding is of.
func TestLintInTheOrderOfLines(t *testing.T) {
	streams, in, out, _ := genericiooptions.NewTestIOStreams()
	in.WriteString(`apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: web
  command: [npm start]
---
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: api}
spec:
  replica: 2
---
apiVersion: apps.fairlead.dev/v1
kind: Applications
---
apiVersion: apps.fairlead.dev/v1
kind: ApplicationClass
metadata: {name: gold}
spec: {isDefault: true}
`)
	Run(t.Context(), streams, []string{"lint", "-f", "-"})
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Split(line, ":")[:3], ":"))
	}
	want := []string{"-:6: warning", "-:12: spec.replica", "-:15: kind", "-:20: spec.isDefault"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, out)
	}
}

// TestLintInTheOrderOfFiles: the files come in the order in which they are passed, the class files last, and then any other.
func TestLintInTheOrderOfFiles(t *testing.T) {
	directory := t.TempDir()
	write := func(name, kind string) string {
		file := filepath.Join(directory, name)
		content := "apiVersion: apps.fairlead.dev/v1\nkind: " + kind + "\nmetadata: {name: " + strings.TrimSuffix(name, ".yaml") + "}\nspec: {surplus: 1}\n"
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	first, second, class := write("web.yaml", "Application"), write("api.yaml", "Application"), write("a.yaml", "ApplicationClass")
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	Run(t.Context(), streams, []string{"lint", "-f", first, "-f", second, "--class-file", class})
	var got []string
	for line := range strings.Lines(out.String()) {
		if file, _, _ := strings.Cut(line, ":"); len(got) == 0 || got[len(got)-1] != file {
			got = append(got, file)
		}
	}
	if diff := cmp.Diff([]string{first, second, class}, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, out)
	}
	problems := []manifest.Problem{{File: "other"}, {File: second}, {File: first}}
	sortByPlace(problems, []*manifest.Document{{File: first}, {File: second}})
	if diff := cmp.Diff([]manifest.Problem{{File: first}, {File: second}, {File: "other"}}, problems); diff != "" {
		t.Errorf("a file without documents (-want +got):\n%s", diff)
	}
}
