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

// privateBlocks are the addresses that are never public, where a cluster's DNS answers if not
// in a pod.
func privateBlocks() []string {
	return []string{
		"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", // private use, RFC 1918
		"100.64.0.0/10",         // shared address space, used for pods and services by some clouds
		"169.254.0.0/16",        // link-local: node-local DNS, and the resolvers of some clouds
		"fc00::/7", "fe80::/10", // the same for IPv6
	}
}

// dnsRule opens DNS, without which hardly any other rule is of use. Port 53, by UDP and TCP, to
// any pod of the cluster and to any private address.
//
// Only pods with the label k8s-app=kube-dns in kube-system would be tighter, but is wrong in
// many clusters: a node-local cache answers on the host, at a link-local address or at the
// ClusterIP itself; distributions name and place their DNS differently; the address of the
// Service is not known here. What matters stays closed: a public resolver cannot be
// reached, so names are resolved, and can be filtered and logged, by the cluster's own DNS.
// Where the DNS pods listen on another port than 53, as OpenShift's do on 5353, the spec needs an
// egress rule for it, because policies see the port of the pod and not that of its Service.
func dnsRule() *networkingv1ac.NetworkPolicyEgressRuleApplyConfiguration {
	rule := networkingv1ac.NetworkPolicyEgressRule().
		WithPorts(
			networkPort(intstr.FromInt32(dnsPort), corev1.ProtocolUDP),
			networkPort(intstr.FromInt32(dnsPort), corev1.ProtocolTCP)).
		// Pods are named by a selector, because some network plugins match no pod by its address.
		WithTo(networkingv1ac.NetworkPolicyPeer().WithNamespaceSelector(metav1ac.LabelSelector()))
	for _, block := range privateBlocks() {
		rule.WithTo(networkingv1ac.NetworkPolicyPeer().WithIPBlock(networkingv1ac.IPBlock().WithCIDR(block)))
	}
	return rule
}
