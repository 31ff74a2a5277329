// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"net/netip"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// NeedsPeers says how to write what an empty list of peers means in Kubernetes.
const NeedsPeers = `must have at least one peer: to allow everyone, write [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: "::/0"}}]`

func validateNetworkPolicy(in input) field.ErrorList {
	if in.spec.NetworkPolicy == nil {
		return nil
	}
	path := in.path.Child("networkPolicy")
	errs := validateIngressRules(in, path.Child("ingress"), in.spec.NetworkPolicy.Ingress)
	return append(errs, validateEgressRules(path.Child("egress"), in.spec.NetworkPolicy.Egress)...)
}

func validateIngressRules(in input, path *field.Path, rules []v1.NetworkPolicyIngressRule) field.ErrorList {
	errs := tooMany(path, len(rules), 64)
	ports := applicationPorts(in.spec)
	for i, rule := range rules {
		path := path.Index(i)
		errs = append(errs, validatePeers(path.Child("from"), rule.From)...)
		errs = append(errs, tooMany(path.Child("ports"), len(rule.Ports), 64)...)
		seen := names{}
		for j, name := range rule.Ports {
			path := path.Child("ports").Index(j)
			switch _, found := ports[name]; {
			case found:
				errs = append(errs, seen.add(path, name)...)
			case len(ports) == 0:
				errs = append(errs, field.Invalid(path, name, "the application has no ports"))
			default:
				errs = append(errs, field.NotSupported(path, name, sortedKeys(ports)))
			}
		}
	}
	return errs
}

func validateEgressRules(path *field.Path, rules []v1.NetworkPolicyEgressRule) field.ErrorList {
	errs := tooMany(path, len(rules), 64)
	for i, rule := range rules {
		path := path.Index(i)
		errs = append(errs, validatePeers(path.Child("to"), rule.To)...)
		errs = append(errs, tooMany(path.Child("ports"), len(rule.Ports), 64)...)
		for j, port := range rule.Ports {
			errs = append(errs, validateEgressPort(path.Child("ports").Index(j), port)...)
		}
	}
	return errs
}

func validateEgressPort(path *field.Path, port v1.NetworkPolicyPort) field.ErrorList {
	errs := validProtocol(path.Child("protocol"), port.Protocol)
	if port.Port.Type == intstr.String {
		if quoted := quotedNumber(path.Child("port"), port.Port); quoted != nil {
			return append(errs, quoted...)
		}
		errs = append(errs, validatePortName(path.Child("port"), port.Port.StrVal)...)
		if port.EndPort != nil {
			errs = append(errs, field.Invalid(path.Child("endPort"), *port.EndPort, "needs a numeric port"))
		}
		return errs
	}
	errs = append(errs, invalid(path.Child("port"), port.Port.IntVal, validation.IsValidPortNum(int(port.Port.IntVal)))...)
	if end := port.EndPort; end != nil {
		switch {
		case *end < port.Port.IntVal:
			errs = append(errs, field.Invalid(path.Child("endPort"), *end, fmt.Sprintf("must not be less than port (%d)", port.Port.IntVal)))
		default:
			errs = append(errs, invalid(path.Child("endPort"), *end, validation.IsValidPortNum(int(*end)))...)
		}
	}
	return errs
}

func validatePeers(path *field.Path, peers []v1.NetworkPolicyPeer) field.ErrorList {
	if len(peers) == 0 {
		return field.ErrorList{field.Required(path, NeedsPeers)}
	}
	errs := tooMany(path, len(peers), 64)
	for i := range peers {
		peer, path := &peers[i], path.Index(i)
		errs = append(errs, exactlyOne(path, []string{"application", "ipBlock", "podSelector and/or namespaceSelector"},
			peer.Application != nil, peer.IPBlock != nil, peer.PodSelector != nil || peer.NamespaceSelector != nil)...)
		if ref := peer.Application; ref != nil {
			path := path.Child("application")
			if ref.Name == "" {
				errs = append(errs, field.Required(path.Child("name"), "must be the name of an Application"))
			} else {
				errs = append(errs, invalid(path.Child("name"), ref.Name, validation.IsDNS1035Label(ref.Name))...)
			}
			if ref.Namespace != "" {
				errs = append(errs, label(path.Child("namespace"), ref.Namespace)...)
			}
		}
		if peer.IPBlock != nil {
			errs = append(errs, validateIPBlock(path.Child("ipBlock"), peer.IPBlock)...)
		}
		errs = append(errs, validateLabelSelector(path.Child("podSelector"), peer.PodSelector)...)
		errs = append(errs, validateLabelSelector(path.Child("namespaceSelector"), peer.NamespaceSelector)...)
	}
	return errs
}

func validateIPBlock(path *field.Path, block *networkingv1.IPBlock) field.ErrorList {
	if block.CIDR == "" {
		return field.ErrorList{field.Required(path.Child("cidr"), "must be a block of addresses, e.g. 10.0.0.0/8")}
	}
	errs := validateCIDR(path.Child("cidr"), block.CIDR)
	whole, err := netip.ParsePrefix(block.CIDR)
	for i, except := range block.Except {
		path := path.Child("except").Index(i)
		cidrErrs := validateCIDR(path, except)
		errs = append(errs, cidrErrs...)
		part, partErr := netip.ParsePrefix(except)
		if err != nil || partErr != nil || len(cidrErrs) > 0 {
			continue // Already reported.
		}
		if !whole.Contains(part.Addr()) || whole.Bits() >= part.Bits() {
			errs = append(errs, field.Invalid(path, except, "must be a strict subset of cidr ("+whole.String()+")"))
		}
	}
	return errs
}

// validateCIDR is as strict as the API server is for new objects.
func validateCIDR(path *field.Path, cidr string) field.ErrorList {
	return validation.IsValidCIDRForLegacyField(path, cidr, true, nil)
}
