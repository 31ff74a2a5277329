// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func applicationClass(t testing.TB, spec string) *v1.ApplicationClass {
	t.Helper()
	class := &v1.ApplicationClass{}
	if err := yaml.UnmarshalStrict([]byte(spec), &class.Spec); err != nil {
		t.Fatalf("decode spec: %v", err)
	}
	class.Name = "standard"
	return class
}

func TestClassLimits(t *testing.T) {
	const allows = `ApplicationClass "standard" allows `
	for _, tc := range []struct {
		name   string
		limits string
		spec   string
		want   []string
	}{
		{name: "none", limits: `{}`, spec: `{replicas: 10000, serviceAccount: {automountToken: true}}`},
		{
			name: "registries", limits: `{allowedRegistries: [ghcr.io/acme, docker.io/library, "localhost:5000"]}`,
			spec: `{image: ghcr.io/acme-evil/web:1, initContainers: [{name: a, image: nginx:1}, {name: b, image: acme/b}], sidecars: [{name: c, image: "localhost:5000/c"}, {name: d, image: "GHCR.IO/acme/d@sha256:` + digest + `"}]}`,
			want: []string{
				`spec.image: Invalid value: "ghcr.io/acme-evil/web:1": ` + allows + `images of ghcr.io/acme, docker.io/library, localhost:5000`,
				`spec.initContainers[1].image: Invalid value: "acme/b": ` + allows + `images of ghcr.io/acme, docker.io/library, localhost:5000; without a registry, it is docker.io/acme/b`,
			},
		},
		{name: "no registry at all", limits: `{allowedRegistries: []}`, spec: `image: web`, want: []string{`spec.image: Invalid value: "web": ` + allows + `no images, because its allowedRegistries is empty`}},
		{name: "replicas", limits: `{maxReplicas: 3}`, spec: `replicas: 4`, want: []string{`spec.replicas: Invalid value: 4: ` + allows + `at most 3`}},
		{
			name: "autoscaled replicas", limits: `{maxReplicas: 3}`, spec: `autoscaling: {minReplicas: 4, maxReplicas: 4}`,
			want: []string{`spec.autoscaling.maxReplicas: Invalid value: 4: ` + allows + `at most 3`},
		},
		{name: "the replica of a spec without replicas", limits: `{maxReplicas: 0}`, want: []string{`spec.replicas: Invalid value: 1: ` + allows + `no pods; without replicas, a Deployment starts with 1: set replicas to 0`}},
		{name: "a spec without replicas", limits: `{maxReplicas: 1}`},
		{name: "none of none", limits: `{maxReplicas: 0}`, spec: `replicas: 0`},
		{name: "autoscaled, none of none", limits: `{maxReplicas: 0}`, spec: `autoscaling: {minReplicas: 0, maxReplicas: 0}`},
		{name: "as many as are allowed", limits: `{maxReplicas: 3}`, spec: `replicas: 3`},
		{
			name: "resource limits", limits: `{requireResourceLimits: true}`,
			spec: `{resources: {limits: {cpu: 1}}, sidecars: [{name: a, image: a, resources: {limits: {cpu: 1, memory: 1Gi}}}, {name: b, image: b}]}`,
			want: []string{
				`spec.resources.limits[memory]: Required value: ApplicationClass "standard" requires limits for cpu and memory of each container`,
				`spec.sidecars[1].resources.limits[cpu]: Required value: ApplicationClass "standard" requires limits for cpu and memory of each container`,
				`spec.sidecars[1].resources.limits[memory]: Required value: ApplicationClass "standard" requires limits for cpu and memory of each container`,
			},
		},
		{
			name: "a default that is less than the request", limits: "{requireResourceLimits: true}\ndefaults: {resources: {limits: {cpu: 1, memory: 256Mi}}}",
			spec: `{resources: {requests: {memory: 1Gi}, limits: {cpu: 1}}}`,
			want: []string{
				`spec.resources.limits[memory]: Required value: ApplicationClass "standard" requires limits for cpu and memory of each container; ` +
					`its default of 256Mi is not taken, because your request 1Gi is higher: set a limit`,
			},
		},
		{
			name: "limits of zero, which are none", limits: `{requireResourceLimits: true}`,
			spec: `{resources: {limits: {cpu: 0m, memory: "0"}}, initContainers: [{name: a, image: a, resources: {limits: {cpu: "0", memory: 1Gi}}}], sidecars: [{name: b, image: b, resources: {limits: {cpu: 1, memory: 0Gi}}}]}`,
			want: []string{
				`spec.resources.limits[cpu]: Invalid value: "0": ApplicationClass "standard" requires limits for cpu and memory of each container; 0 means unlimited`,
				`spec.resources.limits[memory]: Invalid value: "0": ApplicationClass "standard" requires limits for cpu and memory of each container; 0 means unlimited`,
				`spec.initContainers[0].resources.limits[cpu]: Invalid value: "0": ApplicationClass "standard" requires limits for cpu and memory of each container; 0 means unlimited`,
				`spec.sidecars[0].resources.limits[memory]: Invalid value: "0": ApplicationClass "standard" requires limits for cpu and memory of each container; 0 means unlimited`,
			},
		},
		{name: "limits of zero, where none are required", limits: `{}`, spec: `{resources: {limits: {cpu: "0", memory: "0"}}}`},
		{
			name: "service types", limits: `{allowedServiceTypes: [NodePort]}`, spec: web + `service: {type: LoadBalancer}`,
			want: []string{`spec.service.type: Invalid value: "LoadBalancer": ` + allows + `ClusterIP, NodePort`},
		},
		{name: "ClusterIP is always allowed", limits: `{allowedServiceTypes: []}`, spec: web + `service: {type: ClusterIP}`},
		{
			name: "hostnames", limits: `{allowedHostnames: ["*.shop.example.com", example.com]}`,
			spec: web + `routes: [{name: a, hostnames: [a.shop.example.com, a.b.shop.example.com, "*.shop.example.com", "*.b.shop.example.com", example.com, shop.example.com, "*.example.com", evil-shop.example.com]}]`,
			want: []string{
				`spec.routes[0].hostnames[5]: Invalid value: "shop.example.com": ` + allows + `*.shop.example.com, example.com`,
				`spec.routes[0].hostnames[6]: Invalid value: "*.example.com": ` + allows + `*.shop.example.com, example.com`,
				`spec.routes[0].hostnames[7]: Invalid value: "evil-shop.example.com": ` + allows + `*.shop.example.com, example.com`,
			},
		},
		{name: "hostnames that are shared", limits: `{sharedHostnames: [shared.example.com]}`, spec: web + `routes: [{name: a, hostnames: [shared.example.com], paths: [{path: /a}, {path: /b, pathType: Exact}]}]`},
		{
			name: "what reaches into paths of others", limits: `{sharedHostnames: ["*.example.com"]}`,
			spec: web + `routes:
- {name: a, hostnames: [a.example.com], paths: [{path: "/(.*)", pathType: ImplementationSpecific}], annotations: {nginx.ingress.kubernetes.io/use-regex: "true", nginx.ingress.kubernetes.io/rewrite-target: /$1}}
- {name: b, hostnames: [example.com], paths: [{path: "/(.*)", pathType: ImplementationSpecific}], annotations: {nginx.ingress.kubernetes.io/use-regex: "true"}}`,
			want: []string{
				`spec.routes[0].paths[0].pathType: Invalid value: "ImplementationSpecific": ` + shares + `use Prefix or Exact`,
				`spec.routes[0].annotations[nginx.ingress.kubernetes.io/rewrite-target]: Forbidden: ` + shares + `paths must not become regular expressions`,
				`spec.routes[0].annotations[nginx.ingress.kubernetes.io/use-regex]: Forbidden: ` + shares + `paths must not become regular expressions`,
			},
		},
		{
			name: "route annotations", limits: `{allowedAnnotations: ["example.com/*", other.com/a]}`,
			spec: web + `routes: [{name: a, hostnames: [a.example.com], annotations: {example.com/x: "1", other.com/a: "2", other.com/ab: "3"}}]`,
			want: []string{`spec.routes[0].annotations[other.com/ab]: Invalid value: "3": ` + allows + `annotations: example.com/*, other.com/a`},
		},
		{
			name: "snippets have to be named in full", limits: `{allowedAnnotations: ["nginx.ingress.kubernetes.io/*", nginx.ingress.kubernetes.io/server-snippet]}`,
			spec: web + `routes: [{name: a, hostnames: [a.example.com], annotations: {nginx.ingress.kubernetes.io/server-snippet: a, nginx.ingress.kubernetes.io/configuration-snippet: b}}]`,
			want: []string{`spec.routes[0].annotations[nginx.ingress.kubernetes.io/configuration-snippet]: Forbidden: snippets of a controller's configuration are not allowed, unless the class names the annotation in allowedAnnotations`},
		},
		{
			name: "foreign ServiceAccounts", limits: `{maxReplicas: 1}`, spec: `serviceAccount: {name: admin}`,
			want: []string{`spec.serviceAccount.name: Invalid value: "admin": ` + allows + `no ServiceAccount but the Application's own: remove name`},
		},
		{name: "foreign ServiceAccounts are allowed", limits: `{allowForeignServiceAccounts: true}`, spec: `serviceAccount: {name: admin}`},
		{
			name: "a stricter profile", limits: `{securityProfile: Restricted}`, spec: `securityContext: {privileged: true}`,
			want: []string{
				`spec.securityContext.privileged: Forbidden: ApplicationClass "standard" has the security profile Restricted: Pod Security level restricted: privileged: container "web" must not set securityContext.privileged=true`,
			},
		},
		{name: "a looser profile", limits: `{securityProfile: Privileged}`, spec: `{podSecurityContext: {runAsNonRoot: false}, securityContext: {privileged: true}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			app := application(t, tc.spec)
			errs := ValidateApplication(app, Options{SecurityProfile: "baseline", ForeignServiceAccounts: true, Class: applicationClass(t, `limits: `+tc.limits)})
			if diff := cmp.Diff(tc.want, messages(errs)); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if tc.want != nil && tc.name != "snippets have to be named in full" && !OnlyExceedsClass(errs) {
				t.Error("the errors are not told from those of an invalid spec")
			}
			app.Spec.Image = "web:"
			if errs := ValidateApplication(app, Options{SecurityProfile: "baseline", ForeignServiceAccounts: true, Class: applicationClass(t, `limits: `+tc.limits)}); OnlyExceedsClass(errs) {
				t.Errorf("an invalid spec is taken for one that only exceeds the class: %v", errs)
			}
		})
	}
}

const (
	digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	web    = "ports: [{name: http, containerPort: 8080}]\n"
	shares = `ApplicationClass "standard" shares this host name between namespaces: `
)

// What a class sets itself is nothing that its list could forbid.
func TestClassDefaultsAreAllowed(t *testing.T) {
	class := applicationClass(t, `{defaults: {routes: {annotations: {example.com/a: "1", example.com/x-snippet: s}}}, limits: {allowedAnnotations: []}}`)
	app := application(t, web+`routes: [{name: a, hostnames: [a.example.com], annotations: {example.com/a: "1", example.com/x-snippet: s}}]`)
	if errs := ValidateApplication(app, Options{Class: class}); len(errs) > 0 {
		t.Errorf("as the class says: %v", errs.ToAggregate())
	}
	app.Spec.Routes[0].Annotations["example.com/a"] = "2"
	want := []string{`spec.routes[0].annotations[example.com/a]: Invalid value: "2": ApplicationClass "standard" allows annotations: none`}
	if diff := cmp.Diff(want, messages(ValidateApplication(app, Options{Class: class}))); diff != "" {
		t.Errorf("another value (-want +got):\n%s", diff)
	}
}

// A restart writes an annotation of the pods, and nothing else may use that to get around the list.
func TestEveryClassAllowsRestarts(t *testing.T) {
	app := application(t, `podMetadata: {annotations: {kubectl.kubernetes.io/restartedAt: "2026-01-02T03:04:05Z"}}`)
	options := Options{Class: applicationClass(t, `limits: {allowedAnnotations: []}`)}
	if errs := ValidateApplication(app, options); len(errs) > 0 {
		t.Errorf("a restart: %v", errs.ToAggregate())
	}
	app.Spec.PodMetadata.Annotations["kubectl.kubernetes.io/other"] = "x"
	app.Spec.ServiceAccount = &v1.ServiceAccount{Annotations: map[string]string{v1.AnnotationRestartedAt: "x"}} // It restarts nothing.
	want := []string{
		`spec.serviceAccount.annotations[kubectl.kubernetes.io/restartedAt]: Invalid value: "x": ApplicationClass "standard" allows annotations: none`,
		`spec.podMetadata.annotations[kubectl.kubernetes.io/other]: Invalid value: "x": ApplicationClass "standard" allows annotations: none`,
	}
	if diff := cmp.Diff(want, messages(ValidateApplication(app, options))); diff != "" {
		t.Errorf("another annotation (-want +got):\n%s", diff)
	}
}

// Routes are attached to Gateways, and to what the class allows beside them.
func TestParentKinds(t *testing.T) {
	const refused = "must be a Gateway: other kinds have to be among allowedParentKinds of the ApplicationClass"
	app := application(t, web+`routes: [{name: a, type: HTTPRoute, hostnames: [a.example.com], parentRefs: [{name: g}, {group: "", kind: Service, name: s}, {group: example.com, name: other}]}]`)
	service := `spec.routes[0].parentRefs[1].kind: Invalid value: "Service": ` + refused
	other := `spec.routes[0].parentRefs[2].kind: Invalid value: "Gateway.example.com": ` + refused
	for limits, want := range map[string][]string{
		"": {service, other}, `{maxReplicas: 9}`: {service, other}, `{allowedParentKinds: []}`: {service, other},
		`{allowedParentKinds: [Service]}`: {other}, `{allowedParentKinds: [Service, Gateway.example.com]}`: nil,
	} {
		options := Options{}
		if limits != "" {
			options.Class = applicationClass(t, `limits: `+limits)
		}
		if diff := cmp.Diff(want, messages(ValidateApplication(app, options))); diff != "" {
			t.Errorf("limits %s: messages (-want +got):\n%s", limits, diff)
		}
	}
}

// A class may choose any parents, for routes that name none.
func TestParentsOfTheClass(t *testing.T) {
	const parents = `[{group: "", kind: Service, name: mesh}]`
	class := applicationClass(t, `{defaults: {routes: {parentRefs: `+parents+`}}}`)
	app := application(t, web+`routes: [{name: a, type: HTTPRoute, hostnames: [a.example.com], parentRefs: `+parents+`}]`)
	if errs := ValidateApplication(app, Options{Class: class}); len(errs) > 0 {
		t.Errorf("as the class says: %v", errs.ToAggregate())
	}
	app.Spec.Routes[0].ParentRefs[0].Name = "victim"
	if errs := ValidateApplication(app, Options{Class: class}); len(errs) != 1 {
		t.Errorf("another one: %v", errs.ToAggregate())
	}
}

func TestScrapeInterval(t *testing.T) {
	for interval, short := range map[string]bool{
		"1ms": true, "0s": true, "4s": true, "4s999ms": true, "4999ms": true, "0y0w0d0h0m1s": true,
		"5s": false, "5000ms": false, "4s1000ms": false, "1m": false, "1y": false, "99999999999999999999y": false, "9223372036854775807ms": false, "0m30s": false,
	} {
		if isShort(interval) != short {
			t.Errorf("%s: want too short %t", interval, short)
		}
		app := application(t, web+`monitoring: {interval: `+interval+`}`)
		if errs := ValidateApplication(app, Options{}); (len(errs) > 0) != short {
			t.Errorf("%s: %v", interval, errs.ToAggregate())
		}
	}
}

func TestValidateApplicationClass(t *testing.T) {
	for _, tc := range []struct {
		name string
		spec string
		want []string
	}{
		{name: "empty", spec: `{}`},
		{name: "valid", spec: `
defaults:
  resources: {requests: {cpu: 100m}}
  networkPolicy: {ingress: [{from: [{application: {name: a}}], ports: [metrics]}]}
  routes: {ingressClassName: nginx, tls: {}, annotations: {example.com/a: b}}
limits: {securityProfile: Baseline, allowedRegistries: [ghcr.io/acme], allowedHostnames: ["*.example.com"], allowedAnnotations: ["example.com/*"], allowedServiceTypes: [NodePort], maxReplicas: 0}`},
		{name: "resources", spec: `defaults: {resources: {requests: {memory: 2Gi}, limits: {memory: 1Gi}}}`, want: []string{`spec.defaults.resources.requests[memory]: Invalid value: "2Gi": must be less than or equal to the limit of 1Gi`}},
		{
			name: "a default that the limits refuse", spec: `{defaults: {resources: {limits: {cpu: "0"}}}, limits: {requireResourceLimits: true}}`,
			want: []string{`spec.defaults.resources.limits[cpu]: Invalid value: "0": is unlimited, and requireResourceLimits asks for a limit`},
		},
		{
			name: "strategy", spec: `defaults: {strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}}`,
			want: []string{`spec.defaults.strategy.rollingUpdate.maxUnavailable: Invalid value: "0": must be more than 0 while maxSurge is 0: otherwise no pod could ever be replaced`},
		},
		{name: "no namespaces in particular", spec: `namespaceSelector: {}`},
		{name: "namespaces", spec: `namespaceSelector: {matchLabels: {"a b": c}, matchExpressions: [{key: a, operator: In}]}`, want: []string{
			`spec.namespaceSelector.matchLabels[a b]: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
			`spec.namespaceSelector.matchExpressions[0].values: Required value: must be specified when ` + "`operator`" + ` is 'In' or 'NotIn'`,
		}},
		{name: "labels", spec: `defaults: {podMetadata: {labels: {apps.fairlead.dev/x: a}}}`, want: []string{`spec.defaults.podMetadata.labels[apps.fairlead.dev/x]: Forbidden: the label is reserved: selectors and ownership rest on it`}},
		{name: "network policy", spec: `defaults: {networkPolicy: {ingress: [{from: []}]}}`, want: []string{`spec.defaults.networkPolicy.ingress[0].from: Required value: must have at least one peer: to allow everyone, write [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: "::/0"}}]`}},
		{name: "an operator", spec: `namespaceSelector: {matchExpressions: [{key: a, operator: Equals, values: [b]}]}`, want: []string{
			`spec.namespaceSelector.matchExpressions[0].operator: Unsupported value: "Equals": supported values: "In", "NotIn", "Exists", "DoesNotExist"`,
		}},
		{name: "ports that none can have", spec: `defaults: {networkPolicy: {ingress: [{from: [{podSelector: {}}], ports: [metrics, Metrics, "9090"]}]}}`, want: []string{
			`spec.defaults.networkPolicy.ingress[0].ports[1]: Invalid value: "Metrics": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
			`spec.defaults.networkPolicy.ingress[0].ports[2]: Invalid value: "9090": must contain at least one letter (a-z)`,
		}},
		{name: "routes", spec: `defaults: {routes: {annotations: {kubernetes.io/ingress.class: nginx}}}`, want: []string{`spec.defaults.routes.annotations[kubernetes.io/ingress.class]: Invalid value: "nginx": use ingressClassName`}},
		{name: "grace period", spec: `defaults: {terminationGracePeriodSeconds: -1}`, want: []string{`spec.defaults.terminationGracePeriodSeconds: Invalid value: -1: must be between 0 and 86400`}},
		{name: "limits", spec: `limits: {securityProfile: None, allowedRegistries: [GHCR.io], allowedHostnames: ["*"], allowedAnnotations: ["a*b"], allowedServiceTypes: [ExternalName], maxReplicas: -1}`, want: []string{
			`spec.limits.securityProfile: Unsupported value: "None": supported values: "Restricted", "Baseline", "Privileged"`,
			`spec.limits.allowedRegistries[0]: Invalid value: "GHCR.io": must be a registry, or a part of one, in lower case: e.g. ghcr.io or ghcr.io/acme`,
			`spec.limits.allowedHostnames[0]: Invalid value: "*": must have its only * at the beginning, as in *.example.com, and neither scheme, port nor path`,
			`spec.limits.allowedAnnotations[0]: Invalid value: "a*b": must be an annotation, or the beginning of some with one * at its end`,
			`spec.limits.allowedServiceTypes[0]: Unsupported value: "ExternalName": supported values: "ClusterIP", "NodePort", "LoadBalancer"`,
			`spec.limits.maxReplicas: Invalid value: -1: must be between 0 and 10000`,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, messages(ValidateApplicationClass(applicationClass(t, tc.spec)))); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}
