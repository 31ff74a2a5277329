// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestUnlikelyQuantities: 100M is written for 100m, and 64 for 64Mi. Both are valid.
func TestUnlikelyQuantities(t *testing.T) {
	quantities := func(list map[corev1.ResourceName]string) corev1.ResourceList {
		parsed := corev1.ResourceList{}
		for name, quantity := range list {
			parsed[name] = resource.MustParse(quantity)
		}
		return parsed
	}
	with := func(requests, limits map[corev1.ResourceName]string) *v1.Application {
		return application(func(a *v1.Application) {
			a.Spec.Resources = &corev1.ResourceRequirements{Requests: quantities(requests), Limits: quantities(limits)}
		})
	}
	const (
		cores = "spec.resources.requests[cpu]: 100M means 100000000 cores; a thousandth of a core is m, as in 500m"
		bytes = "spec.resources.limits[memory]: 64 means 64 bytes; a mebibyte is Mi, as in 64Mi"
	)
	sidecar := application(func(a *v1.Application) {
		a.Spec.Sidecars = []corev1.Container{{Name: "proxy", Image: "example.com/proxy:1", Resources: corev1.ResourceRequirements{Requests: quantities(map[corev1.ResourceName]string{"cpu": "500"})}}}
	})
	for _, test := range []struct {
		name         string
		updated, old *v1.Application
		want         []string
	}{
		{name: "usual", updated: with(map[corev1.ResourceName]string{"cpu": "500m", "memory": "64Mi"}, map[corev1.ResourceName]string{"cpu": "64", "memory": "128974848"})},
		{name: "unlimited", updated: with(nil, map[corev1.ResourceName]string{"cpu": "0", "memory": "0"})},
		{name: "cores", updated: with(map[corev1.ResourceName]string{"cpu": "100M"}, nil), want: []string{cores}},
		{name: "bytes", updated: with(nil, map[corev1.ResourceName]string{"memory": "64"}), want: []string{bytes}},
		{name: "as before", updated: with(nil, map[corev1.ResourceName]string{"memory": "64"}), old: with(nil, map[corev1.ResourceName]string{"memory": "64"})},
		{name: "a sidecar's", updated: sidecar, want: []string{"spec.sidecars[proxy].resources.requests[cpu]: 500 means 500 cores; a thousandth of a core is m, as in 500m"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			question := review(t, test.updated, nil)
			if test.old != nil {
				question = review(t, test.updated, test.old)
			}
			response := ask(t, new(cluster).handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}

// What lets no pod ever start or become ready is warned of when a request begins to say it.
func TestUnworkablePods(t *testing.T) {
	const (
		program   = `spec.command: "npm start" is taken as the name of one program, spaces included, because no shell splits it: make each word an item, as in [npm, start]`
		probe     = `spec.livenessProbe.exec.command: "cat /tmp/ok" is taken as the name of one program, spaces included, because no shell splits it: make each word an item, as in [cat, /tmp/ok]`
		late      = "spec.readinessProbe.initialDelaySeconds: no pod becomes ready before 60 s, so each rollout counts as failed after 30 s: lower it, or raise progressDeadlineSeconds"
		byDefault = "spec.readinessProbe.initialDelaySeconds: no pod becomes ready before 600 s, so each rollout counts as failed after 600 s: lower it, or set a higher progressDeadlineSeconds"
		byClass   = "spec.readinessProbe.initialDelaySeconds: no pod becomes ready before 60 s, so each rollout counts as failed after 45 s: lower it, or set a higher progressDeadlineSeconds"
		started   = "spec.startupProbe.initialDelaySeconds: no pod becomes ready before 30 s, so each rollout counts as failed after 30 s: lower it, or raise progressDeadlineSeconds"
	)
	command := func(words ...string) *v1.Application {
		return application(func(a *v1.Application) { a.Spec.Command = words })
	}
	delayed := func(seconds, deadline int32, probe func(*v1.ApplicationSpec, *v1.Probe)) *v1.Application {
		return application(func(a *v1.Application) {
			if deadline > 0 {
				a.Spec.ProgressDeadlineSeconds = &deadline
			}
			probe(&a.Spec, &v1.Probe{TCPSocket: &v1.TCPSocketAction{Port: new(intstr.FromInt32(80))}, InitialDelaySeconds: &seconds})
		})
	}
	readiness := func(spec *v1.ApplicationSpec, probe *v1.Probe) { spec.ReadinessProbe = probe }
	liveness := func(spec *v1.ApplicationSpec, probe *v1.Probe) { spec.LivenessProbe = probe }
	startup := func(spec *v1.ApplicationSpec, probe *v1.Probe) { spec.StartupProbe = probe }
	classes := &inClasses{classes: []*v1.ApplicationClass{applicationClass("impatient", false, func(spec *v1.ApplicationClassSpec) {
		spec.Defaults = &v1.ApplicationDefaults{ProgressDeadlineSeconds: new(int32(45))}
	})}}
	impatient := func(a *v1.Application) *v1.Application {
		a.Spec.ClassName = "impatient"
		return a
	}
	newer := func(a *v1.Application) *v1.Application {
		image("web:2")(a)
		return a
	}
	exec := application(func(a *v1.Application) {
		a.Spec.LivenessProbe = &v1.Probe{Exec: &corev1.ExecAction{Command: []string{"cat /tmp/ok"}}}
	})
	for _, test := range []struct {
		name         string
		updated, old *v1.Application
		want         []string
	}{
		{name: "words", updated: command("npm", "start")},
		{name: "a shell's words", updated: command("sh", "-c", "npm start")},
		{name: "a program", updated: command("/bin/web")},
		{name: "a string", updated: command("npm start"), want: []string{program}},
		{name: "a string as before", updated: command("npm start"), old: command("npm start")},
		{name: "the string of a probe", updated: exec, want: []string{probe}},
		{name: "early", updated: delayed(29, 30, readiness)},
		{name: "early, by the default", updated: delayed(599, 0, readiness)},
		{name: "late, by the default", updated: delayed(600, 0, readiness), want: []string{byDefault}},
		{name: "late, by the deadline of the class", updated: impatient(delayed(60, 0, readiness)), want: []string{byClass}},
		{name: "late in another class", updated: impatient(delayed(60, 0, readiness)), old: delayed(60, 0, readiness), want: []string{byClass}},
		{name: "late by the deadline of the class, as before", updated: newer(impatient(delayed(60, 0, readiness))), old: impatient(delayed(60, 0, readiness))},
		{name: "late", updated: delayed(60, 30, readiness), want: []string{late}},
		{name: "late as before", updated: delayed(60, 30, readiness), old: delayed(60, 30, readiness)},
		{name: "late at the start", updated: delayed(30, 30, startup), want: []string{started}},
		{name: "late liveness makes no pod unready", updated: delayed(60, 30, liveness)},
	} {
		t.Run(test.name, func(t *testing.T) {
			question := review(t, test.updated, nil)
			if test.old != nil {
				question = review(t, test.updated, test.old)
			}
			response := ask(t, classes.handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}

// TestProbesOfServicePorts: the kubelet probes the pod, which does not have the port of the Service.
func TestProbesOfServicePorts(t *testing.T) {
	const warning = "spec.%s.port: nothing in the spec listens on 80, which is a port of the Service: the container's port is 8080"
	number := func(port int32) *intstr.IntOrString { return new(intstr.FromInt32(port)) }
	http := func(port int32) *v1.Probe { return &v1.Probe{HTTPGet: &v1.HTTPGetAction{Port: number(port)}} }
	proxy := corev1.Container{Name: "proxy", Image: "example.com/proxy:1", Ports: []corev1.ContainerPort{{ContainerPort: 80}}}
	for name, test := range map[string]struct {
		spec v1.ApplicationSpec
		want []string
	}{
		"httpGet":                   {spec: v1.ApplicationSpec{ReadinessProbe: http(80)}, want: []string{fmt.Sprintf(warning, "readinessProbe.httpGet")}},
		"tcpSocket":                 {spec: v1.ApplicationSpec{LivenessProbe: &v1.Probe{TCPSocket: &v1.TCPSocketAction{Port: number(80)}}}, want: []string{fmt.Sprintf(warning, "livenessProbe.tcpSocket")}},
		"grpc":                      {spec: v1.ApplicationSpec{StartupProbe: &v1.Probe{GRPC: &v1.GRPCAction{Port: new(int32(80))}}}, want: []string{fmt.Sprintf(warning, "startupProbe.grpc")}},
		"the container's port":      {spec: v1.ApplicationSpec{ReadinessProbe: http(8080)}},
		"a port that is not listed": {spec: v1.ApplicationSpec{ReadinessProbe: http(9090)}},
		"the port of a sidecar":     {spec: v1.ApplicationSpec{ReadinessProbe: http(80), Sidecars: []corev1.Container{proxy}}},
		"the name of a port":        {spec: v1.ApplicationSpec{ReadinessProbe: &v1.Probe{HTTPGet: &v1.HTTPGetAction{Port: new(intstr.FromString("http"))}}}},
		"the primary port":          {spec: v1.ApplicationSpec{ReadinessProbe: &v1.Probe{HTTPGet: &v1.HTTPGetAction{}}}},
		"a command":                 {spec: v1.ApplicationSpec{ReadinessProbe: &v1.Probe{Exec: &corev1.ExecAction{Command: []string{"true"}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			updated := application(func(a *v1.Application) {
				test.spec.Image, test.spec.Ports = a.Spec.Image, []v1.ApplicationPort{{Name: "http", ContainerPort: 8080, ServicePort: new(int32(80))}}
				a.Spec = test.spec
			})
			response := ask(t, new(cluster).handler(t), ValidatePath, review(t, updated, nil))
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
	elsewhere := http(80) // Most classes forbid a host.
	elsewhere.HTTPGet.Host = "web.example.com"
	if got := Ineffective(&v1.ApplicationSpec{ReadinessProbe: elsewhere, Ports: []v1.ApplicationPort{{ContainerPort: 8080, ServicePort: new(int32(80))}}}); len(got) > 0 {
		t.Errorf("of another host: %q", got)
	}
}

// What a route says and its type does not heed is warned of when a request begins to say it.
func TestIneffectiveFields(t *testing.T) {
	const (
		certificate = "spec.routes[public].tls.secretName: it has no effect, because the type of the route is HTTPRoute: the Gateway's listener has the certificate"
		class       = "spec.routes[public].ingressClassName: it has no effect, because the type of the route is HTTPRoute: parentRefs name its Gateways"
	)
	routed := func(changes ...func(*v1.Application)) *v1.Application {
		return application(func(a *v1.Application) {
			withRoute("web.example.com")(a)
			a.Spec.Routes[0].Type = v1.RouteHTTPRoute
			a.Spec.Routes[0].ParentRefs = []v1.ParentReference{{Name: "shared"}}
			for _, change := range changes {
				change(a)
			}
		})
	}
	secret := func(a *v1.Application) { a.Spec.Routes[0].TLS = &v1.RouteTLS{SecretName: "web-tls"} }
	ingressClass := func(a *v1.Application) { a.Spec.Routes[0].IngressClassName = new("nginx") }
	auto := func(a *v1.Application) { a.Spec.Routes[0].Type = v1.RouteAuto }
	ingress := func(a *v1.Application) { a.Spec.Routes[0].Type, a.Spec.Routes[0].ParentRefs = v1.RouteIngress, nil }
	image := func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" }
	behind := func(a *v1.Application) {
		other := v1.Route{Name: "other", Hostnames: []string{"other.example.com"}}
		a.Spec.Routes = append([]v1.Route{other}, a.Spec.Routes...)
	}
	for _, test := range []struct {
		name         string
		updated, old *v1.Application
		want         []string
	}{
		{name: "nothing of an Ingress", updated: routed()},
		{name: "a redirect", updated: routed(func(a *v1.Application) { a.Spec.Routes[0].TLS = &v1.RouteTLS{Redirect: new(true)} })},
		{name: "a certificate", updated: routed(secret), want: []string{certificate}},
		{name: "an IngressClass", updated: routed(ingressClass), want: []string{class}},
		{name: "both", updated: routed(secret, ingressClass), want: []string{certificate, class}},
		{name: "of an Ingress", updated: routed(secret, ingressClass, ingress)},
		{name: "of what may be an Ingress", updated: routed(secret, ingressClass, auto)},
		{name: "by an update", updated: routed(secret), old: routed(), want: []string{certificate}},
		{name: "by a change of the type", updated: routed(secret), old: routed(secret, auto), want: []string{certificate}},
		{name: "as before", updated: routed(secret, ingressClass, image), old: routed(secret, ingressClass)},
		{name: "as before, at another place", updated: routed(secret, behind), old: routed(secret)},
		{name: "one as before", updated: routed(secret, ingressClass), old: routed(secret), want: []string{class}},
		{name: "invalid: what refuses is enough", updated: routed(secret, func(a *v1.Application) { a.Spec.Replicas = new(int32(-1)) })},
	} {
		t.Run(test.name, func(t *testing.T) {
			question := review(t, test.updated, nil)
			if test.old != nil {
				question = review(t, test.updated, test.old)
			}
			response := ask(t, (&cluster{exist: []string{"Secret/web-tls"}}).handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}

// A certificate that is missing is warned of, unless an annotation of the route or of its class has it made.
func TestMissingCertificates(t *testing.T) {
	const missing = `Secret "web-tls" does not exist in namespace "shop", and route "public" takes its certificate from it: create it, or let a controller such as cert-manager create it`
	issuer := map[string]string{"cert-manager.io/cluster-issuer": "ca"}
	certified := func(changes ...func(*v1.Application)) *v1.Application {
		return application(func(a *v1.Application) {
			withRoute("web.example.com")(a)
			a.Spec.Routes[0].TLS = &v1.RouteTLS{SecretName: "web-tls"}
			for _, change := range changes {
				change(a)
			}
		})
	}
	class := func(annotations map[string]string) *v1.ApplicationClass {
		return applicationClass("standard", true, func(spec *v1.ApplicationClassSpec) {
			spec.Defaults = &v1.ApplicationDefaults{Routes: &v1.RouteDefaults{Annotations: annotations}}
		})
	}
	gateway := applicationClass("standard", true, func(spec *v1.ApplicationClassSpec) {
		spec.Defaults = &v1.ApplicationDefaults{Routes: &v1.RouteDefaults{ParentRefs: []v1.ParentReference{{Name: "shared"}}}}
	})
	httpRoutes := applicationClass("standard", true, func(spec *v1.ApplicationClassSpec) {
		spec.Defaults = &v1.ApplicationDefaults{Routes: &v1.RouteDefaults{Type: v1.RouteHTTPRoute, ParentRefs: []v1.ParentReference{{Name: "shared"}}}}
	})
	ingress := func(a *v1.Application) { a.Spec.Routes[0].Type = v1.RouteIngress }
	pods := func(a *v1.Application) { a.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "web-tls"}} }
	for _, test := range []struct {
		name         string
		cluster      cluster
		class        *v1.ApplicationClass
		updated, old *v1.Application
		want         []string
	}{
		{name: "missing", updated: certified(), want: []string{missing}},
		{name: "there", cluster: cluster{exist: []string{"Secret/web-tls"}}, updated: certified()},
		{name: "not readable", cluster: cluster{unreadable: true, allowed: []string{"web"}}, updated: certified()},
		{name: "missing as before", updated: certified(image("web:2")), old: certified()},
		{name: "of what may be an HTTPRoute", updated: certified(func(a *v1.Application) { a.Spec.Routes[0].ParentRefs = []v1.ParentReference{{Name: "shared"}} })},
		{name: "made by an issuer", updated: certified(func(a *v1.Application) { a.Spec.Routes[0].Annotations = issuer })},
		{name: "made by the class's issuer", class: class(issuer), updated: certified()},
		{name: "of a class of HTTPRoutes", class: gateway, updated: certified()},
		{name: "of an Ingress in a class of Gateways", class: gateway, updated: certified(ingress), want: []string{missing}},
		{name: "of an Ingress in a class of HTTPRoutes", class: httpRoutes, updated: certified(ingress), want: []string{missing}},
		{name: "of an HTTPRoute that becomes an Ingress", class: httpRoutes, updated: certified(ingress), old: certified(), want: []string{missing}},
		{name: "of an Ingress of that class, as before", class: httpRoutes, updated: certified(ingress, image("web:2")), old: certified(ingress)},
		{name: "of a class without an issuer", class: class(nil), updated: certified(), want: []string{missing}},
		{name: "that the pods need, too", updated: certified(pods), want: []string{`Secret "web-tls" does not exist in namespace "shop", and the pods need it`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.class != nil {
				test.cluster.config = func(config *Config) { config.Classes = &inClasses{classes: []*v1.ApplicationClass{test.class}} }
			}
			question := review(t, test.updated, nil)
			if test.old != nil {
				question = review(t, test.updated, test.old)
			}
			response := ask(t, test.cluster.handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}

// TestMissingPeers: a NetworkPolicy may name an Application that comes later, or that is misspelled. Of those of other namespaces, nobody
// learns here whether they exist.
func TestMissingPeers(t *testing.T) {
	const missing = `Application "db" does not exist in namespace "shop": until it does, what spec.networkPolicy allows it has no effect`
	peers := func(names ...v1.ApplicationReference) func(*v1.Application) {
		return func(a *v1.Application) {
			a.Spec.NetworkPolicy = &v1.NetworkPolicy{}
			for _, name := range names {
				peer := []v1.NetworkPolicyPeer{{Application: &name}}
				a.Spec.NetworkPolicy.Ingress = append(a.Spec.NetworkPolicy.Ingress, v1.NetworkPolicyIngressRule{From: peer})
				a.Spec.NetworkPolicy.Egress = append(a.Spec.NetworkPolicy.Egress, v1.NetworkPolicyEgressRule{To: peer})
			}
		}
	}
	db := v1.ApplicationReference{Name: "db"}
	for _, test := range []struct {
		name         string
		cluster      cluster
		updated, old *v1.Application
		want         []string
	}{
		{name: "missing", updated: application(peers(db)), want: []string{missing}},
		{name: "missing, with the namespace", updated: application(peers(v1.ApplicationReference{Name: "db", Namespace: "shop"})), want: []string{missing}},
		{name: "there", cluster: cluster{exist: []string{"Application/db"}}, updated: application(peers(db))},
		{name: "not readable", cluster: cluster{unreadable: true, allowed: []string{"web"}}, updated: application(peers(db))},
		{name: "missing as before", updated: application(func(a *v1.Application) { peers(db)(a); image("web:2")(a) }), old: application(peers(db))},
		{name: "of another namespace", updated: application(peers(v1.ApplicationReference{Name: "db", Namespace: "data"}))},
		{name: "itself", updated: application(peers(v1.ApplicationReference{Name: "web"}))},
	} {
		t.Run(test.name, func(t *testing.T) {
			question := review(t, test.updated, nil)
			if test.old != nil {
				question = review(t, test.updated, test.old)
			}
			response := ask(t, test.cluster.handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}
