// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// notFurther is what follows the mistakes of an object that is not checked further.
// noDefaultClass is what lint says of Applications without a class, as long as it knows none.
const noDefaultClass = "; the limits of a default class were not: if there is one, pass it with --class-file"

const notFurther = "An object that cannot be read, or breaks the schema or a CEL rule, is not checked further: correct it, and lint it again.\n"

// TestLintOfWrongKinds: a value of a wrong kind has one line, which says what to write.
func TestLintOfWrongKinds(t *testing.T) {
	wantLint(t, map[string]string{
		`env: {B: c, A: b}`:             `spec.env: Invalid value: must be a list of {name, value}, not a map: [{name: A, value: …}]`,
		`env: [A=b]`:                    `spec.env[0]: Invalid value: must be a map with the fields name, value, valueFrom, not a string: {name: A, value: …}`,
		`env: [{name: A, value: 5}]`:    `spec.env[0].value: Invalid value: must be a string, not a number: put it in quotes, "5"`,
		`env: [{name: A, value: true}]`: `spec.env[0].value: Invalid value: must be a string, not true or false: put it in quotes, "true"`,
		`networkPolicy: {ingress: [{from: [{podSelector: {}}], ports: [8080]}]}`: `spec.networkPolicy.ingress[0].ports[0]: Invalid value: must be a string, not a number: the name of one of the ports`,
		`ports: {name: http, containerPort: 80}`:                                 `spec.ports: Invalid value: must be a list of {name, containerPort}, not a map: begin its first field with "- "`,
		`ports: {http: 80}`:                                                      `spec.ports: Invalid value: must be a list of {name, containerPort}, not a map: [{name: http, containerPort: …}]`,
		`ports: [{name: http, containerPort: "80"}]`:                             `spec.ports[0].containerPort: Invalid value: must be a whole number, not a string: leave out the quotes`,
		`routes: {host: a.example.com}`:                                          `spec.routes: Invalid value: must be a list of {name, hostnames}, not a map: [{name: NAME, hostnames: […]}]`,
		`routes: {web: a.example.com}`:                                           `spec.routes: Invalid value: must be a list of {name, hostnames}, not a map: [{name: web, hostnames: […]}]`,
		`envFrom: {secretRef: {name: a}}`:                                        `spec.envFrom: Invalid value: must be a list of maps, not a map: begin its first field with "- "`,
		`command: sh`:                                                            `spec.command: Invalid value: must be a list of strings, not a string: [sh]`,
		`command: nginx -g off`:                                                  `spec.command: Invalid value: must be a list of strings, not a string: [nginx, -g, "off"]`,
		`command: nginx -g "daemon off;"`:                                        `spec.command: Invalid value: must be a list of strings, not a string: [nginx, -g, "daemon off;"]`,
		`command: web && tail`:                                                   `spec.command: Invalid value: must be a list of strings, not a string: [sh, -c, "web && tail"]`,
		`command: say 'no end`:                                                   `spec.command: Invalid value: must be a list of strings, not a string: close the open quote, and make each word an item`,
		`args: --port 8080`:                                                      `spec.args: Invalid value: must be a list of strings, not a string: [--port, "8080"]`,
		`args: --port $(PORT)`:                                                   `spec.args: Invalid value: must be a list of strings, not a string: [--port, "$(PORT)"]`,
		`args: 8080`:                                                             `spec.args: Invalid value: must be a list of strings, not a number: ["8080"]`,

		`command: [sh, -c], args: exec web --port 80`: `spec.args: Invalid value: must be a list of strings, not a string: ["exec web --port 80"]`,
		`args: ""`:             `spec.args: Invalid value: must be a list of strings, not a string: []`,
		`command: sh -c "a b"`: `spec.command: Invalid value: must be a list of strings, not a string: [sh, -c, "a b"]`,
		`livenessProbe: {periodSeconds: 5s, httpGet: {path: /}}`:             `spec.livenessProbe.periodSeconds: Invalid value: must be a whole number, not "5s": write 5, a number of seconds`,
		`livenessProbe: {timeoutSeconds: 500ms, httpGet: {path: /}}`:         `spec.livenessProbe.timeoutSeconds: Invalid value: must be a whole number of seconds, not "500ms"`,
		`terminationGracePeriodSeconds: 5m`:                                  `spec.terminationGracePeriodSeconds: Invalid value: must be a whole number, not "5m": write 300, a number of seconds`,
		`autoscaling: {maxReplicas: 2, targetCPUUtilizationPercentage: 70%}`: `spec.autoscaling.targetCPUUtilizationPercentage: Invalid value: must be a whole number, not "70%": write 70`,
		`livenessProbe: {exec: {command: ls /}}`:                             `spec.livenessProbe.exec.command: Invalid value: must be a list of strings, not a string: [ls, /]`,
		`monitoring: {interval: 30}`:                                         `spec.monitoring.interval: Invalid value: must be a string, not a number: a duration such as 30s`,
		`monitoring: {port: 8080}`:                                           `spec.monitoring.port: Invalid value: must be a string, not a number: the name of one of the ports`,
		`routes: [{name: r, hostnames: [a], paths: [{path: /, port: 80}]}]`:  `spec.routes[0].paths[0].port: Invalid value: must be a string, not a number: the name of one of the ports`,
		`args: {a: b}`:                      `spec.args: Invalid value: must be a list of strings, not a map: [a, b]`,
		`livenessProbe: {exec: ls}`:         `spec.livenessProbe.exec: Invalid value: must be a map with the field command, not a string: {command: [ls]}`,
		`image: [web]`:                      `spec.image: Invalid value: must be a string, not a list`,
		`image: 1.10`:                       `spec.image: Invalid value: must be a string, not 1.1: put it in quotes, "1.10"`,
		`replicas: many`:                    `spec.replicas: Invalid value: must be a whole number, not a string`,
		`replicas: 1.5`:                     `spec.replicas: Invalid value: must be a whole number, not 1.5`,
		`replicas: 99999999999`:             `spec.replicas: Invalid value: must be a whole number from 0 to 10000, not 99999999999`,
		`replicas: 99999999999999999999999`: `spec.replicas: Invalid value: must be a whole number from 0 to 10000, not 99999999999999999999999`,
		`ports: [{name: http, containerPort: -99999999999}]`: `spec.ports[0].containerPort: Invalid value: must be a whole number from 1 to 65535, not -99999999999`,
		`replicas: 20000`:                    `spec.replicas: Invalid value: 20000: spec.replicas in body should be less than or equal to 10000`,
		`paused: "true"`:                     `spec.paused: Invalid value: must be true or false, not a string: leave out the quotes`,
		`deletionPolicy: true`:               `spec.deletionPolicy: Invalid value: must be one of Delete, Orphan, not true or false`,
		`config: {data: [a], mountPath: /a}`: `spec.config.data: Invalid value: must be a map, not a list: {KEY: VALUE}`,
		`config: {data: {a.yaml: {x: [1], z: 2}}, mountPath: /a}`:                       `spec.config.data[a.yaml]: Invalid value: must be a string, not a map: write | after the key, and the content of the file below it`,
		`config: {data: {b.json: [{x: 1}]}, mountPath: /b}`:                             `spec.config.data[b.json]: Invalid value: must be a string, not a list: write | after the key, and the content of the file below it`,
		`nodeSelector: {example.com/a: {b: c}}`:                                         `spec.nodeSelector[example.com/a]: Invalid value: must be a string, not a map`,
		`networkPolicy: true`:                                                           `spec.networkPolicy: Invalid value: must be a map with the fields egress, ingress, not true or false: {}`,
		`resources: {requests: {cpu: 0.50}}`:                                            `spec.resources.requests[cpu]: Invalid value: must be a whole number or a string, not 0.50: put it in quotes, "0.50"`,
		`resources: {limits: {nvidia.com/gpu: 1.5}}`:                                    `spec.resources.limits[nvidia.com/gpu]: Invalid value: must be a whole number, not 1.5`,
		`sidecars: [{name: a, image: b, resources: {limits: {example.com/fpga: 1.5}}}]`: `spec.sidecars[0].resources.limits[example.com/fpga]: Invalid value: must be a whole number, not 1.5`,
		`resources: {limits: {memory: 1.5}}`:                                            `spec.resources.limits[memory]: Invalid value: must be a whole number of bytes, not 1.5: write a unit behind it, as in 1.5Gi`,
		`sidecars: [{name: a, image: b, resources: {limits: {hugepages-2Mi: 0.5}}}]`:    `spec.sidecars[0].resources.limits[hugepages-2Mi]: Invalid value: must be a whole number of bytes, not 0.5: write a unit behind it, as in 0.5Gi`,
		`resources: {requests: {cpu: true}}`:                                            `spec.resources.requests[cpu]: Invalid value: must be a whole number or a string, not true or false`,
		`livenessProbe: {httpGet: {path: /, port: 80.5}}`:                               `spec.livenessProbe.httpGet.port: Invalid value: must be a whole number or a string, not 80.5`,
	})
}

// TestLintWarns: what the API server would accept with a warning is no error, and takes no cluster.
func TestLintWarns(t *testing.T) {
	const object = "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec:\n  image: web\n"
	const cores = `-:7: warning: spec.resources.requests[cpu]: 500 means 500 cores; a thousandth of a core is m, as in 500m (effect)`
	for name, test := range map[string]struct {
		fields, want string
		code         int
	}{
		"a warning": {"  resources:\n    requests: {cpu: 500}\n", cores + "\n1 object checked, nothing else found" + noDefaultClass + "\n", ExitYes},
		"two warnings": {"  resources:\n    requests: {cpu: 500}\n  command: [npm start]\n",
			cores + "\n" + `-:8: warning: spec.command: "npm start" is taken as the name of one program, spaces included, because no shell splits it: make each word an item, as in [npm, start] (effect)` +
				"\n1 object checked, nothing else found" + noDefaultClass + "\n", ExitYes},
		"a probe of the Service's port": {"  ports: [{name: http, containerPort: 8080, servicePort: 80}]\n  readinessProbe:\n    httpGet: {port: 80}\n",
			"-:8: warning: spec.readinessProbe.httpGet.port: nothing in the spec listens on 80, which is a port of the Service: the container's port is 8080 (effect)\n" +
				"1 object checked, nothing else found" + noDefaultClass + "\n", ExitYes},
		"a field of a route": {"  ports: [{name: http, containerPort: 8080}]\n  routes:\n  - name: public\n    type: HTTPRoute\n    parentRefs: [{name: shared}]\n" +
			"    hostnames: [web.example.com]\n    ingressClassName: nginx\n",
			"-:12: warning: spec.routes[public].ingressClassName: it has no effect, because the type of the route is HTTPRoute: parentRefs name its Gateways (effect)\n" +
				"1 object checked, nothing else found" + noDefaultClass + "\n", ExitYes},
		"an error comes first": {"  resources:\n    requests: {cpu: 500}\n  replicas: -1\n", "-:8: spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0 (schema)\n", ExitNo},
	} {
		t.Run(name, func(t *testing.T) {
			streams, in, out, _ := genericiooptions.NewTestIOStreams()
			in.WriteString(object + test.fields)
			if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != test.code || out.String() != test.want {
				t.Errorf("exit code %d, %s, want %d, %s", code, out, test.code, test.want)
			}
		})
	}
}

// TestLintOfUnknownFields: an unknown field names the one that is meant, of the map that it is in.
func TestLintOfUnknownFields(t *testing.T) {
	wantLint(t, map[string]string{
		`replica: 2`:  `spec.replica: Forbidden: unknown field: did you mean replicas?`,
		`surplus: []`: `spec.surplus: Forbidden: unknown field: remove it, or correct its name`,
		`ports: [{name: http, containerport: 80}]`:          `spec.ports[0].containerport: Forbidden: unknown field: did you mean containerPort?`,
		`resources: {limit: {cpu: 1}}`:                      `spec.resources.limit: Forbidden: unknown field: did you mean limits?`,
		`routes: [{hostname: [a.example.com]}]`:             `spec.routes[0].hostname: Forbidden: unknown field: did you mean hostnames?`,
		`readinessProbe: {httpget: {path: /}}`:              `spec.readinessProbe.httpget: Forbidden: unknown field: did you mean httpGet?`,
		`sidecars: [{name: a, image: a, volumeMount: [a]}]`: `spec.sidecars[0].volumeMount: Forbidden: unknown field: did you mean volumeMounts?`,
		`config: {data: {a.b/c: d}, mountpath: /etc/a}`:     `spec.config.mountpath: Forbidden: unknown field: did you mean mountPath?`,
	})
}

// TestLintOfFieldsElsewhere: an unknown field names the field for the same purpose, also if that is not beside it.
func TestLintOfFieldsElsewhere(t *testing.T) {
	wantLint(t, map[string]string{
		`ports: [{name: http, containerPort: 80, targetPort: 80}]`: `spec.ports[0].targetPort: Forbidden: unknown field: remove it: containerPort is set`,
		`hpa: {maxReplicas: 2}`: `spec.hpa: Forbidden: unknown field: did you mean autoscaling?`,
		`volumes: []`:           `spec.volumes: Forbidden: unknown field: did you mean mounts?`,
		`ports: [{name: http, containerPort: 80, port: 80}]`: `spec.ports[0].port: Forbidden: unknown field: did you mean servicePort?`,
		`resources: {cpu: 1}`:                                `spec.resources.cpu: Forbidden: unknown field: did you mean requests or limits?`,
		`class: gold`:                                        `spec.class: Forbidden: unknown field: did you mean className?`,
		`routes: [{host: a.example.com}]`:                    `spec.routes[0].host: Forbidden: unknown field: did you mean hostnames?`,
		`mounts: [{mountPath: /a, secret: {name: a}}]`:       `spec.mounts[0].secret.name: Forbidden: unknown field: did you mean secretName?`,
		`readinessProbe: {path: /ready}`:                     `spec.readinessProbe.path: Forbidden: unknown field: did you mean httpGet.path?`,
		`serviceType: NodePort`:                              `spec.serviceType: Forbidden: unknown field: did you mean spec.service.type?`,
		`serviceAccountName: a`:                              `spec.serviceAccountName: Forbidden: unknown field: did you mean spec.serviceAccount.name?`,
		`minReplicas: 2`:                                     `spec.minReplicas: Forbidden: unknown field: did you mean replicas or spec.autoscaling.minReplicas?`,
		`maxUnavailable: 1`:                                  `spec.maxUnavailable: Forbidden: unknown field: did you mean spec.disruptionBudget.maxUnavailable or spec.strategy.rollingUpdate.maxUnavailable?`,
	})
}

// TestLintOfFieldsOfKubernetes: what users of Deployments, Services and Ingresses write by habit names the field of an Application, or says
// that there is none.
func TestLintOfFieldsOfKubernetes(t *testing.T) {
	wants := map[string]string{}
	for field, want := range map[string]string{
		`containers: [{name: a, image: a}]`:           `spec.containers: write the fields of the main container, such as image, in the spec itself, and other containers in sidecars`,
		`template: {spec: {}}`:                        `spec.template: write what the pods have, such as image, ports and env, in the spec itself, and their labels in podMetadata`,
		`selector: {matchLabels: {a: b}}`:             `spec.selector: remove it: Fairlead sets the selectors of the Deployment and the Service`,
		`restartPolicy: Always`:                       `spec.restartPolicy: remove it: the containers of an Application always restart`,
		`labels: {a: b}`:                              `spec.labels: did you mean podMetadata.labels?`,
		`annotations: {a: b}`:                         `spec.annotations: did you mean podMetadata.annotations or service.annotations?`,
		`host: a.example.com`:                         `spec.host: did you mean spec.routes[].hostnames?`,
		`containerPort: 80`:                           `spec.containerPort: did you mean spec.ports[].containerPort?`,
		`targetPort: 80`:                              `spec.targetPort: did you mean spec.ports[].containerPort?`,
		`runAsUser: 1`:                                `spec.runAsUser: did you mean spec.podSecurityContext.runAsUser or spec.securityContext.runAsUser?`,
		`enviroment: {A: b}`:                          `spec.enviroment: did you mean env?`, //nolint:misspell // A typo of users.
		`version: "1.2"`:                              `spec.version: write it in image, behind a colon, as in image: registry.example.com/web:1.2`,
		`user: 1000`:                                  `spec.user: did you mean securityContext.runAsUser or podSecurityContext.runAsUser?`,
		`type: ClusterIP`:                             `spec.type: did you mean service.type or strategy.type?`,
		`expose: true`:                                `spec.expose: did you mean routes, for HTTP from outside of the cluster, service.type or ports?`,
		`url: https://a.example.com/b`:                `spec.url: its host name belongs in routes[].hostnames, and its path in routes[].paths[].path`,
		`path: /`:                                     `spec.path: did you mean routes[].paths[].path, mounts[].mountPath, or httpGet.path of a probe?`,
		`zone: a`:                                     `spec.zone: set nodeSelector, with the label topology.kubernetes.io/zone, for one zone; to spread the pods over all zones, set topologySpreadConstraints`,
		`workingDirectory: /srv`:                      `spec.workingDirectory: did you mean workingDir?`,
		`sidecars: [{name: a, image: a, workdir: /}]`: `spec.sidecars[0].workdir: did you mean workingDir?`,
		`policy: Retain`:                              `spec.policy: did you mean reconcilePolicy, deletionPolicy, adoptionPolicy, configChangePolicy or rollback.policy?`,
		`tty: true`:                                   `spec.tty: remove it: Fairlead does not offer it`,
		`service: {ports: []}`:                        `spec.service.ports: did you mean spec.ports?`,
		`service: {port: 80}`:                         `spec.service.port: did you mean spec.ports[].servicePort?`,
		`service: {targetPort: 80}`:                   `spec.service.targetPort: did you mean spec.ports[].containerPort?`,
		`service: {selector: {a: b}}`:                 `spec.service.selector: remove it: Fairlead sets the selector of the Service`,
		`ports: [{name: a, containerPort: 1, nodePort: 2}]`: `spec.ports[0].nodePort: remove it: Kubernetes chooses the node port`,
		`envFrom: [{secretName: a}]`:                        `spec.envFrom[0].secretName: did you mean secretRef.name?`,
		`envFrom: [{configMapName: a}]`:                     `spec.envFrom[0].configMapName: did you mean configMapRef.name?`,
		`envFrom: [{name: a}]`:                              `spec.envFrom[0].name: did you mean configMapRef.name or secretRef.name?`,
		`mounts: [{mountPath: /a, hostPath: {path: /}}]`:    `spec.mounts[0].hostPath: no pod of an Application mounts a path of its node: use emptyDir, or a persistentVolumeClaim`,
		`mounts: [{mountPath: /a, name: a}]`:                `spec.mounts[0].name: remove it: a mount has its source beside mountPath, such as secret, configMap or emptyDir`,
		`mounts: [{path: /a}]`:                              `spec.mounts[0].path: did you mean mountPath?`,
		`mounts: [{mountPath: /a, pvc: {}}]`:                `spec.mounts[0].pvc: did you mean persistentVolumeClaim?`,
		`routes: [{port: http}]`:                            `spec.routes[0].port: did you mean paths[].port?`,
		`routes: [{rules: []}]`:                             `spec.routes[0].rules: did you mean paths?`,
		`routes: [{backend: {}}]`:                           `spec.routes[0].backend: did you mean paths[].port?`,
		`routes: [{gateway: a}]`:                            `spec.routes[0].gateway: did you mean parentRefs?`,
		`routes: [{tls: {hosts: [a.example.com]}}]`:         `spec.routes[0].tls.hosts: did you mean spec.routes[].hostnames?`,
		`routes: [{paths: [{path: /, type: Exact}]}]`:       `spec.routes[0].paths[0].type: did you mean pathType?`,
		`containerSecurityContext: {}`:                      `spec.containerSecurityContext: did you mean securityContext?`,
		`"": 1`:                                             `spec: remove it, or correct its name`,
		`readinessProbe: {Port: 80}`:                        `spec.readinessProbe.Port: did you mean httpGet.port, tcpSocket.port or grpc.port?`,
		`livenessProbe: {port: 80}`:                         `spec.livenessProbe.port: did you mean httpGet.port, tcpSocket.port or grpc.port?`,
		`livenessProbe: {httpGet: {headers: []}}`:           `spec.livenessProbe.httpGet.headers: did you mean httpHeaders?`,
		`livenessProbe: {command: [ls]}`:                    `spec.livenessProbe.command: did you mean exec.command?`,
		`autoscaling: {cpu: 80, maxReplicas: 2}`:            `spec.autoscaling.cpu: did you mean targetCPUUtilizationPercentage?`,
		`autoscaling: {max: 2}`:                             `spec.autoscaling.max: did you mean maxReplicas?`,
	} {
		at, instead, _ := strings.Cut(want, ": ")
		wants[field] = at + ": Forbidden: unknown field: " + instead
	}
	wantLint(t, wants)
}

// TestLintTogether: files that are correct alone may not be so together.
func TestLintTogether(t *testing.T) {
	web := func(metadata, host string, more ...string) string {
		return "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {" + metadata + "}\nspec:\n  image: web\n  ports: [{name: http, containerPort: 80}]\n" +
			"  routes: [{name: r, hostnames: [" + host + "]}]\n" + strings.Join(more, "")
	}
	const class = "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: shared}\nspec: {limits: {sharedHostnames: [a.example.com]}}\n"
	shop, blog := "namespace: shop, name: web", "namespace: blog, name: web"
	const found = "2 objects checked, nothing found"
	const nothing = found + noDefaultClass
	for name, test := range map[string]struct {
		objects []string
		want    string
	}{
		"twice": {[]string{web(shop, "a.example.com"), web(shop, "b.example.com")},
			`-:11: metadata.name: Duplicate value: "web": this Application is at -:3 too, and the one that is applied last wins: remove one of them (together)`},
		"twice without a namespace": {[]string{web("name: web", "a.example.com"), web("name: web", "a.example.com")},
			`-:11: metadata.name: Duplicate value: "web": this Application is at -:3 too, and the one that is applied last wins: remove one of them (together)`},
		"a class twice": {[]string{class, class},
			`-:8: metadata.name: Duplicate value: "shared": this ApplicationClass is at -:3 too, and the one that is applied last wins: remove one of them (together)`},
		"a host name": {[]string{web(shop, "a.example.com"), web(blog, "A.example.com")},
			`-:15: spec.routes[0].hostnames[0]: Invalid value: "a.example.com": belongs to Application shop/web of another namespace, with all its paths: choose another host name (together)`},
		"a host name under a wildcard": {[]string{web(shop, `"*.example.com"`), web(blog, "a.example.com")},
			`-:15: spec.routes[0].hostnames[0]: Invalid value: "a.example.com": overlaps with *.example.com of Application shop/web: choose another host name (together)`},
		"a path, in no namespace": {[]string{web("name: web", "a.example.com"), web("name: api", "a.example.com")},
			`-:15: spec.routes[0].hostnames[0]: Invalid value: "a.example.com": belongs to Application web: choose another host name or path (together)`},
		"other host names":               {[]string{web(shop, "a.example.com"), web(blog, "b.example.com")}, nothing},
		"an unknown namespace":           {[]string{web(shop, "a.example.com"), web("name: api", "a.example.com")}, nothing},
		"a class that is not known":      {[]string{web(shop, "a.example.com", "  className: shared\n"), web(blog, "a.example.com", "  className: shared\n")}, found + "; their classes were not: pass them with --class-file (shared)"},
		"a class that shares host names": {[]string{class, web(shop, "a.example.com", "  className: shared\n"), web("namespace: blog, name: api", "a.example.com], paths: [{path: /blog}", "  className: shared\n")}, "3 objects checked, nothing found"},
	} {
		t.Run(name, func(t *testing.T) {
			streams, in, out, errOut := genericiooptions.NewTestIOStreams()
			in.WriteString(strings.Join(test.objects, "---\n"))
			Run(t.Context(), streams, []string{"lint", "-f", "-"})
			if got := strings.TrimSpace(out.String() + errOut.String()); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "web.yaml")
	for _, name := range []string{file, filepath.Join(filepath.Dir(file), "web-of-another-cluster.yaml")} {
		if err := os.WriteFile(name, []byte(web(shop, "a.example.com")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	code := Run(t.Context(), streams, []string{"lint", "-f", file, "-f", filepath.Dir(file)})
	if code != ExitYes || strings.TrimSpace(out.String()) != "3 objects checked, nothing found"+noDefaultClass {
		t.Errorf("a file that is given twice, and one for another cluster: exit code %d, %s", code, out)
	}
}

// wantLint checks Applications, each with a field, and wants one line for each.
func wantLint(t *testing.T, fields map[string]string) {
	t.Helper()
	streams, in, out, errOut := genericiooptions.NewTestIOStreams()
	var want []string
	for i, field := range slices.Sorted(maps.Keys(fields)) {
		image := "image: web, "
		if strings.HasPrefix(field, "image:") {
			image = ""
		}
		fmt.Fprintf(in, "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web-%d}\nspec: {%s%s}\n---\n", i, image, field)
		want = append(want, fmt.Sprintf("-:%d: %s (schema)", 5*i+4, fields[field]))
	}
	code := Run(t.Context(), streams, []string{"lint", "-f", "-"})
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	if diff := cmp.Diff(want, got); diff != "" || code != ExitNo || errOut.String() != notFurther {
		t.Errorf("exit code %d, %q (-want +got):\n%s", code, errOut, diff)
	}
}

// TestLintOfMisspeltKinds: a typing error in kind or apiVersion must not pass as an object of another API.
func TestLintOfMisspeltKinds(t *testing.T) {
	const good = "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: web}\n---\n"
	const passes = "1 object checked, nothing found" + noDefaultClass
	wrong := func(version, kind string) string {
		return fmt.Sprintf("-:6: apiVersion: Invalid value: %q: kind %s needs apiVersion apps.fairlead.dev/v1 (schema)", version, kind)
	}
	for name, test := range map[string]struct {
		object string
		code   int
		want   string
	}{
		"a kind":                                {"apiVersion: apps.fairlead.dev/v1\nkind: Applicationn\nmetadata: {name: a}\n", ExitNo, `-:7: kind: Unsupported value: "Applicationn": supported values: "Application", "ApplicationClass" (schema)`},
		"no kind":                               {"apiVersion: apps.fairlead.dev/v1\nmetadata: {name: a}\n", ExitNo, `-:6: kind: Unsupported value: "": supported values: "Application", "ApplicationClass" (schema)`},
		"no apiVersion":                         {"kind: Application\nmetadata: {name: a}\n", ExitNo, `-:6: apiVersion: Required value: kind Application needs apiVersion apps.fairlead.dev/v1 (schema)`},
		"a group":                               {"apiVersion: fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: a}\n", ExitNo, wrong("fairlead.dev/v1", "ApplicationClass")},
		"a version":                             {"apiVersion: apps.fairlead.dev/v1beta1\nkind: Application\nmetadata: {name: a}\n", ExitNo, wrong("apps.fairlead.dev/v1beta1", "Application")},
		"the group of Deployments":              {"apiVersion: apps/v1\nkind: Application\nmetadata: {name: a}\n", ExitNo, wrong("apps/v1", "Application")},
		"the group of Deployments, for a class": {"apiVersion: apps/v1\nkind: ApplicationClass\nmetadata: {name: a}\n", ExitNo, wrong("apps/v1", "ApplicationClass")},
		"no group":                              {"apiVersion: v1\nkind: Application\nmetadata: {name: a}\n", ExitNo, wrong("v1", "Application")},
		"a Deployment":                          {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n", ExitYes, passes},
		"an Application of a SIG":               {"apiVersion: app.k8s.io/v1beta1\nkind: Application\nmetadata: {name: a}\n", ExitYes, passes},
		"an Application of Argo":                {"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n", ExitYes, passes},
		"values of a chart":                     {"image: {tag: v1}\n", ExitYes, passes},
	} {
		t.Run(name, func(t *testing.T) {
			streams, in, out, errOut := genericiooptions.NewTestIOStreams()
			in.WriteString(good + test.object)
			code := Run(t.Context(), streams, []string{"lint", "-f", "-"})
			if got := strings.TrimSpace(strings.TrimSuffix(out.String()+errOut.String(), notFurther)); code != test.code || got != test.want {
				t.Errorf("exit code %d, %q, want %d, %q", code, got, test.code, test.want)
			}
		})
	}
}
