// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestLintShowsValidExamples: an example has no value that its field would refuse. A placeholder stands for it.
func TestLintShowsValidExamples(t *testing.T) {
	const placeholderPort = "{name: NAME, containerPort: 8080}"
	const from, to = "networkPolicy: {ingress: [{from: ", "networkPolicy: {egress: [{to: "
	const toPods = to + "[{podSelector: {}}], ports: "
	const route = "routes: [{name: a, hostnames: [a.example.com], "
	for field, want := range map[string]string{
		`ports: http`:                                   "[" + placeholderPort + "]",
		`ports: [8080.5]`:                               placeholderPort,
		`ports: [99999]`:                                placeholderPort,
		`ports: ["7000-7010:7000-7010"]`:                placeholderPort,
		`ports: ["80:3000"]`:                            "{name: NAME, containerPort: 3000}",
		`ports: ["53:53/udp"]`:                          "{name: NAME, containerPort: 53, protocol: UDP}",
		`mounts: "data:/data:ro"`:                       "[{mountPath: /data, …}]",
		`mounts: ["./a:/data"]`:                         "{mountPath: /data, …}",
		`mounts: [data]`:                                "{mountPath: /PATH, …}",
		`readinessProbe: curl`:                          "",
		`livenessProbe: "http://localhost/"`:            "",
		`startupProbe: 8080`:                            "",
		`startupProbe: {httpGet: curl}`:                 "{path: /PATH}",
		`startupProbe: {tcpSocket: "8080"}`:             "{port: 8080}",
		`startupProbe: {tcpSocket: http}`:               "{port: http}",
		`startupProbe: {tcpSocket: "99999"}`:            "{port: 8080}",
		`mounts: "http://example.com/a"`:                "[{mountPath: /PATH, …}]",
		`startupProbe: {grpc: http}`:                    "{port: 8080}",
		`lifecycle: {preStop: {sleep: 7s}}`:             "{seconds: 7}",
		`lifecycle: {preStop: {sleep: soon}}`:           "{seconds: 5}",
		`strategy: rolling`:                             "{type: RollingUpdate}",
		`service: cluster`:                              "{type: ClusterIP}",
		`rollback: always`:                              "{policy: OnFailure}",
		`routes: "https://www.example.com/x"`:           "[{name: NAME, hostnames: [web.example.com]}]",
		`routes: "*.example.com"`:                       `[{name: NAME, hostnames: ["*.example.com"]}]`,
		route + `paths: "http://a"}]`:                   "[{path: /PATH}]",
		route + `parentRefs: infra/shared}]`:            "[{namespace: infra, name: shared}]",
		route + `parentRefs: [Shared]}]`:                "{name: NAME}",
		route + `tls: true}]`:                           "{secretName: NAME}",
		route + `tls: web}]`:                            "{secretName: web}",
		route + `tls: [{hosts: [a.example.com]}]}]`:     "{secretName: NAME}",
		route + `tls: [{secretName: a}, {}]}]`:          "",
		`startupProbe: {exec: [sh, -c, "a, b"]}`:        `{command: [sh, -c, "a, b"]}`,
		`startupProbe: {exec: [sleep, 5]}`:              "",
		`disruptionBudget: Never`:                       "",
		`env: [{name: A, valueFrom: {fieldRef: name}}]`: "{fieldPath: metadata.name}",
		`sidecars: "proxy:1"`:                           "[{name: NAME, image: proxy:1}]",
		`sidecars: [example.com/proxy]`:                 "{name: NAME, image: example.com/proxy}",
		`sidecars: ["https://example.com"]`:             "{name: NAME, image: …}",
		`initContainers: [Proxy]`:                       "{name: NAME, image: …}",
		`serviceAccount: 8080`:                          `{name: "8080"}`,
		`envFrom: [Web_x]`:                              "{configMapRef: {name: NAME}} or {secretRef: {name: NAME}}",
		`mounts: [{mountPath: /a, secret: "*"}]`:        "{secretName: NAME}",
		from + `web}]}`:                                 "[{application: {name: web}}]",
		from + `[web]}]}`:                               "{application: {name: web}}",
		from + `[shop/web]}]}`:                          "{application: {namespace: shop, name: web}}",
		from + `[Web]}]}`:                               "{application: {name: NAME}}",
		from + `{name: web}}]}`:                         "[{application: {name: web}}]",
		from + `[{application: web}]}]}`:                "{name: web}",
		from + `[{application: shop/web}]}]}`:           "{namespace: shop, name: web}",
		to + `[10.0.0.0/8]}]}`:                          "{ipBlock: {cidr: 10.0.0.0/8}}",
		to + `["::/0"]}]}`:                              `{ipBlock: {cidr: "::/0"}}`,
		to + `10.0.0.5}]}`:                              "[{ipBlock: {cidr: 10.0.0.5/32}}]",
		to + `[{ipBlock: 10.0.0.5}]}]}`:                 "{cidr: 10.0.0.5/32}",
		to + `[{ipBlock: all}]}]}`:                      "{cidr: 10.0.0.0/8}",
		to + `[300.1.1.1]}]}`:                           "{application: {name: NAME}}",
		to + `[10.0.0.0/99]}]}`:                         "{application: {name: NAME}}",
		to + `["::/129"]}]}`:                            "{application: {name: NAME}}",
		to + `[{ipBlock: 10.0.0.256}]}]}`:               "{cidr: 10.0.0.0/8}",
		toPods + `[5432]}]}`:                            "{port: 5432}",
		toPods + `5432}]}`:                              "[{port: 5432}]",
		toPods + `[53/udp]}]}`:                          "{port: 53, protocol: UDP}",
		toPods + `[8000-8010]}]}`:                       "{port: 8000, endPort: 8010}",
		toPods + `[http]}]}`:                            "{port: http}",
		`networkPolicy: {ingress: [web]}`:               "{from: [{application: {name: web}}]}",
		`networkPolicy: {egress: web}`:                  "[{to: [{application: {name: web}}]}]",
		`networkPolicy: {ingress: [{ports: 80}]}`:       "names of the ports, as in [NAME]",
		`networkPolicy: {ingress: [{ports: [80]}]}`:     "the name of one of the ports",
		`ports: [{name: web, containerPort: 80}], networkPolicy: {ingress: [{ports: {port: 80}}]}`:   "names of the ports, as in [web]",
		`ports: [{name: web, containerPort: 80}], networkPolicy: {ingress: [{ports: [{port: 80}]}]}`: "the name of one of the ports, as in web",
		`mounts: [{mountPath: /a, configMap: {name: a, items: ["a/b"]}}]`:                            "{key: KEY, path: KEY}",
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		fmt.Fprintf(in, "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: web, %s}\n", field)
		Run(t.Context(), streams, []string{"lint", "-f", "-"})
		line, _, _ := strings.Cut(out.String(), "\n")
		_, got, _ := strings.Cut(line, ", not ")
		_, got, _ = strings.Cut(strings.TrimSuffix(got, " (schema)"), ": ")
		if !strings.Contains(out.String(), "Invalid value: must be a ") || got != want {
			t.Errorf("%s: %s, want the example %q", field, out, want)
		}
	}
}

// TestLintOfItemsWithoutName: a key is the name of an item only where it stands alone, in a list whose items are likely to be written so.
func TestLintOfItemsWithoutName(t *testing.T) {
	const unknown = ": Forbidden: unknown field: remove it, or correct its name"
	wantLint(t, map[string]string{
		`env: [{LOG: debug}]`:               "spec.env[0].LOG: Forbidden: unknown field: the name belongs in name, as in {name: LOG, value: …}",
		`imagePullSecrets: [{login: quay}]`: "spec.imagePullSecrets[0].login" + unknown,
		`ports: [{number: 80}]`:             "spec.ports[0].number" + unknown,
		`routes: [{name: a, hostnames: [a], parentRefs: [{gatewayName: shared}]}]`: "spec.routes[0].parentRefs[0].gatewayName" + unknown,
		`sidecars: [{proxy: {image: a}}]`:                                          "spec.sidecars[0].proxy: Forbidden: unknown field: the name belongs in name, as in {name: proxy}",
	})
	streams, in, out, _ := genericiooptions.NewTestIOStreams()
	in.WriteString("apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: web, env: [{variable: LOG, val: debug}]}\n")
	Run(t.Context(), streams, []string{"lint", "-f", "-"})
	if strings.Contains(out.String(), "as in") {
		t.Errorf("two unknown fields: %s, want no name among them", out)
	}
}
