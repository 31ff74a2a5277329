// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package rendertest

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// network draws how clients reach the application, and which may.
func network(t *rapid.T, spec *v1.ApplicationSpec) {
	if len(spec.Ports) > 0 {
		spec.Service = maybe(t, "service", rapid.Custom(service))
		for _, name := range some(t, "routes", "public", "internal", "with-a-name-that-is-rather-long-for-a-route") {
			spec.Routes = append(spec.Routes, route(t, name, spec.Ports))
		}
	}
	spec.NetworkPolicy = maybe(t, "networkPolicy", rapid.Custom(func(t *rapid.T) v1.NetworkPolicy {
		var policy v1.NetworkPolicy
		for range rapid.IntRange(0, 2).Draw(t, "ingress") {
			rule := v1.NetworkPolicyIngressRule{From: peers(t)}
			if len(spec.Ports) > 0 && sometimes(t, "ports") {
				rule.Ports = []string{oneOf(t, "port", spec.Ports...).Name}
			}
			policy.Ingress = append(policy.Ingress, rule)
		}
		for range rapid.IntRange(0, 2).Draw(t, "egress") {
			policy.Egress = append(policy.Egress, v1.NetworkPolicyEgressRule{To: peers(t), Ports: peerPorts(t)})
		}
		return policy
	}))
}

func service(t *rapid.T) v1.Service {
	return v1.Service{
		Type:            oneOf(t, "type", "", corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer),
		SessionAffinity: oneOf(t, "sessionAffinity", "", corev1.ServiceAffinityNone, corev1.ServiceAffinityClientIP),
		Annotations:     annotations(t, "annotations"),
	}
}

func route(t *rapid.T, name string, ports []v1.ApplicationPort) v1.Route {
	route := v1.Route{
		Name:             name,
		Type:             oneOf(t, "type", "", v1.RouteIngress),
		Hostnames:        append([]string{name + ".example.com"}, some(t, "hostnames", "*."+name+".example.com", "www."+name+".example.com")...),
		IngressClassName: maybe(t, "ingressClassName", rapid.SampledFrom([]string{"nginx", "traefik"})),
		Annotations:      annotations(t, "annotations"),
	}
	if sometimes(t, "tls") {
		route.TLS = &v1.RouteTLS{SecretName: name + "-tls"}
	}
	for _, path := range some(t, "paths", "", "/api", "/api/v2") {
		routePath := v1.RoutePath{Path: path, PathType: oneOf(t, "pathType", "", networkingv1.PathTypePrefix, networkingv1.PathTypeExact)}
		if sometimes(t, "port") {
			routePath.Port = oneOf(t, "port", tcpPorts(ports)...)
		}
		route.Paths = append(route.Paths, routePath)
	}
	return route
}

func peers(t *rapid.T) []v1.NetworkPolicyPeer {
	all := []v1.NetworkPolicyPeer{
		{Application: &v1.ApplicationReference{Name: "db", Namespace: oneOf(t, "namespace", "", "data")}},
		{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8", Except: some(t, "except", "10.1.0.0/16", "10.2.0.0/16")}},
		{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}},
		{NamespaceSelector: &metav1.LabelSelector{}, PodSelector: &metav1.LabelSelector{}},
	}
	return atLeastOne(t, "peers", all...)
}

func peerPorts(t *rapid.T) []v1.NetworkPolicyPort {
	return some(t, "ports",
		v1.NetworkPolicyPort{Port: intstr.FromInt32(5432), Protocol: oneOf(t, "protocol", "", corev1.ProtocolTCP)},
		v1.NetworkPolicyPort{Port: intstr.FromInt32(8000), EndPort: maybe(t, "endPort", rapid.Int32Range(8000, 8010)), Protocol: corev1.ProtocolUDP},
		v1.NetworkPolicyPort{Port: intstr.FromString("metrics")})
}
