// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
)

const dnsPort = 53

// privateBlocks returns the address blocks that are never public. A cluster's DNS answers at one of these addresses,
// if not in a pod.
func privateBlocks() []string {
	return []string{
		"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", // private use, RFC 1918
		"100.64.0.0/10",         // shared address space, used for pods and services by some clouds
		"169.254.0.0/16",        // link-local: node-local DNS, and the resolvers of some clouds
		"fc00::/7", "fe80::/10", // the same for IPv6
	}
}

// dnsRule opens DNS, without which hardly any other rule is of use: port 53, by UDP and TCP, to any pod of the
// cluster and to any private address.
//
// Opening only pods with the label k8s-app=kube-dns in kube-system would be tighter, but wrong in many clusters. A
// node-local cache answers on the host, at a link-local address or at the ClusterIP itself. Distributions name and
// place their DNS differently. The address of the Service is not known here. What matters stays closed: pods cannot
// reach a public resolver, so the cluster's own DNS resolves names, and can filter and log them. If the DNS pods
// listen on another port than 53, such as OpenShift's on 5353, the spec needs an egress rule for it, because policies
// apply to the port of the pod, not to that of its Service.
func dnsRule() *networkingv1ac.NetworkPolicyEgressRuleApplyConfiguration {
	rule := networkingv1ac.NetworkPolicyEgressRule().
		WithPorts(
			networkPort(intstr.FromInt32(dnsPort), corev1.ProtocolUDP),
			networkPort(intstr.FromInt32(dnsPort), corev1.ProtocolTCP)).
		// A selector selects the pods, because some network plugins match no pod by its address.
		WithTo(networkingv1ac.NetworkPolicyPeer().WithNamespaceSelector(metav1ac.LabelSelector()))
	for _, block := range privateBlocks() {
		rule.WithTo(networkingv1ac.NetworkPolicyPeer().WithIPBlock(networkingv1ac.IPBlock().WithCIDR(block)))
	}
	return rule
}
