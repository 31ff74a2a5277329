// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// In a NetworkPolicy an empty list of peers or ports means all of them. So a rule that is left without peers, or without
// ports, must not be rendered: every rule here has at least one peer, and only an egress rule that has no ports in the
// spec has none here, which means all ports.

// networkPolicies renders the NetworkPolicy, if the spec has one, even an empty one.
func networkPolicies(app *v1.Application, facts Facts) ([]any, error) {
	given := app.Spec.NetworkPolicy
	if given == nil {
		return nil, nil
	}
	spec := networkingv1ac.NetworkPolicySpec().
		WithPodSelector(labelSelector(app)).
		// Explicit, because a policy without egress rules would not restrict egress.
		WithPolicyTypes(networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress)
	for _, rule := range given.Ingress {
		peers, err := networkPeers(app, rule.From)
		if err != nil {
			return nil, err
		}
		if rendered := ingressRule(peers, declaredPorts(app, rule.Ports)); rendered != nil {
			spec.WithIngress(rendered)
		}
	}
	if rule := ingressRule(routePeers(app, facts), routedPorts(app)); rule != nil {
		spec.WithIngress(rule)
	}
	if rule := ingressRule(namespacePeers(facts.MonitoringNamespaces), monitoredPorts(app)); rule != nil {
		spec.WithIngress(rule)
	}
	spec.WithEgress(dnsRule())
	for _, rule := range given.Egress {
		rendered, err := egressRule(app, rule)
		if err != nil {
			return nil, err
		}
		if rendered != nil {
			spec.WithEgress(rendered)
		}
	}
	policy := networkingv1ac.NetworkPolicy(app.Name, app.Namespace).WithSpec(spec)
	policy.ObjectMetaApplyConfiguration = objectMeta(app, app.Name, nil)
	return []any{policy}, nil
}

// ingressRule allows the peers to connect to the ports. It is nil if there is no peer or no port.
func ingressRule(peers []*networkingv1ac.NetworkPolicyPeerApplyConfiguration, ports []v1.ApplicationPort) *networkingv1ac.NetworkPolicyIngressRuleApplyConfiguration {
	if len(peers) == 0 || len(ports) == 0 {
		return nil
	}
	rule := networkingv1ac.NetworkPolicyIngressRule().WithFrom(peers...)
	for _, port := range ports {
		// By name, so that during a rollout that changes the number both old and new pods are open.
		rule.WithPorts(networkPort(intstr.FromString(port.Name), port.Protocol))
	}
	return rule
}

func egressRule(app *v1.Application, given v1.NetworkPolicyEgressRule) (*networkingv1ac.NetworkPolicyEgressRuleApplyConfiguration, error) {
	peers, err := networkPeers(app, given.To)
	if err != nil || len(peers) == 0 {
		return nil, err
	}
	rule := networkingv1ac.NetworkPolicyEgressRule().WithTo(peers...)
	for _, port := range given.Ports {
		if port.Port == (intstr.IntOrString{}) || port.Port == intstr.FromString("") {
			continue
		}
		rendered := networkPort(port.Port, port.Protocol)
		if port.EndPort != nil {
			rendered.WithEndPort(*port.EndPort)
		}
		rule.WithPorts(rendered)
	}
	if len(given.Ports) > 0 && len(rule.Ports) == 0 {
		return nil, nil
	}
	return rule, nil
}

// networkPort always has a protocol, because the rules are atomic; see atomic.go.
func networkPort(port intstr.IntOrString, protocol corev1.Protocol) *networkingv1ac.NetworkPolicyPortApplyConfiguration {
	return networkingv1ac.NetworkPolicyPort().WithProtocol(Protocol(protocol)).WithPort(port)
}

// declaredPorts returns the ports of the Application with these names, or all of them if names is empty.
func declaredPorts(app *v1.Application, names []string) []v1.ApplicationPort {
	if len(names) == 0 {
		return app.Spec.Ports
	}
	var ports []v1.ApplicationPort
	for _, port := range app.Spec.Ports {
		if slices.Contains(names, port.Name) {
			ports = append(ports, port)
		}
	}
	return ports
}

// routedPorts returns the ports to which routes lead.
func routedPorts(app *v1.Application) []v1.ApplicationPort {
	var names []string
	for _, route := range app.Spec.Routes {
		for _, path := range RoutePaths(app, route) {
			names = append(names, path.Port)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return declaredPorts(app, names)
}

// routePeers returns the namespaces from which routes send requests: those of the route controllers, and those of the
// Gateways, beside which most implementations run their proxies.
func routePeers(app *v1.Application, facts Facts) []*networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	namespaces := slices.Clone(facts.RouteControllerNamespaces)
	for _, route := range app.Spec.Routes {
		if RouteKind(route, facts) == child.HTTPRoute {
			for _, parent := range route.ParentRefs {
				namespaces = append(namespaces, cmp.Or(parent.Namespace, app.Namespace))
			}
		}
	}
	return namespacePeers(namespaces)
}

// namespacePeers returns all pods of the namespaces.
func namespacePeers(namespaces []string) []*networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	var peers []*networkingv1ac.NetworkPolicyPeerApplyConfiguration
	for _, namespace := range slices.Compact(slices.Sorted(slices.Values(namespaces))) {
		if namespace != "" {
			peers = append(peers, networkingv1ac.NetworkPolicyPeer().WithNamespaceSelector(namespaceNamed(namespace)))
		}
	}
	return peers
}

// networkPeers renders the peers. It omits empty ones.
func networkPeers(app *v1.Application, given []v1.NetworkPolicyPeer) ([]*networkingv1ac.NetworkPolicyPeerApplyConfiguration, error) {
	var peers []*networkingv1ac.NetworkPolicyPeerApplyConfiguration
	for _, peer := range given {
		rendered := networkingv1ac.NetworkPolicyPeer()
		switch {
		case peer.Application != nil && peer.Application.Name != "":
			namespace := peer.Application.Namespace
			if namespace == "" {
				namespace = app.Namespace
			}
			rendered.
				WithNamespaceSelector(namespaceNamed(namespace)).
				WithPodSelector(metav1ac.LabelSelector().
					WithMatchLabels(map[string]string{v1.LabelApplication: peer.Application.Name}))
		case peer.IPBlock != nil && peer.IPBlock.CIDR != "":
			rendered.WithIPBlock(networkingv1ac.IPBlock().
				WithCIDR(peer.IPBlock.CIDR).
				WithExcept(peer.IPBlock.Except...))
		case peer.PodSelector != nil || peer.NamespaceSelector != nil:
			var err error
			if rendered.PodSelector, err = convertSelector(peer.PodSelector); err != nil {
				return nil, err
			}
			if rendered.NamespaceSelector, err = convertSelector(peer.NamespaceSelector); err != nil {
				return nil, err
			}
		default:
			continue
		}
		peers = append(peers, rendered)
	}
	return peers, nil
}

// convertSelector preserves the difference between no selector and an empty one, which selects everything.
func convertSelector(given *metav1.LabelSelector) (*metav1ac.LabelSelectorApplyConfiguration, error) {
	if given == nil {
		return nil, nil
	}
	return convert[metav1ac.LabelSelectorApplyConfiguration](given)
}

func namespaceNamed(name string) *metav1ac.LabelSelectorApplyConfiguration {
	return metav1ac.LabelSelector().WithMatchLabels(map[string]string{corev1.LabelMetadataName: name})
}
