// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/reference"
	"fairlead.dev/fairlead/pkg/render"
)

// The kinds of a Reference, beside further kinds of children.
const (
	KindConfigMap      = string(reference.ConfigMap)
	KindSecret         = string(reference.Secret)
	KindNamespace      = "Namespace"
	KindServiceAccount = "ServiceAccount"
	KindDeployment     = "Deployment"
	KindApplication    = v1.ApplicationKind
)

// Reference is an object that concerns an Application: one of its namespace that its pods need, that has the name of a child, or that its
// NetworkPolicy names, or that namespace.
type Reference struct {
	Kind, Namespace, Name string
}

// referencesOf are the objects that the pods need, each once. What is optional is left out.
func referencesOf(application *v1.Application) []Reference {
	var references []Reference
	seen := map[Reference]struct{}{}
	add := func(kind, name string) {
		r := Reference{Kind: kind, Namespace: application.Namespace, Name: name}
		if _, found := seen[r]; !found && name != "" {
			seen[r] = struct{}{}
			references = append(references, r)
		}
	}
	for _, used := range reference.FromSpec(&application.Spec) {
		if used.Required {
			add(string(used.Kind), used.Name)
		}
	}
	for _, secret := range application.Spec.ImagePullSecrets {
		add(KindSecret, secret.Name)
	}
	add(KindServiceAccount, serviceAccountName(application))
	return references
}

// peersOf are the other Applications of the namespace that the NetworkPolicy names. Of those of other namespaces, a requester need not be
// able to learn whether they exist.
func peersOf(application *v1.Application) []Reference {
	var peers []Reference
	add := func(all []v1.NetworkPolicyPeer) {
		for _, peer := range all {
			named := peer.Application
			if named == nil || named.Namespace != "" && named.Namespace != application.Namespace || named.Name == application.Name {
				continue
			}
			peers = append(peers, Reference{Kind: KindApplication, Namespace: application.Namespace, Name: named.Name})
		}
	}
	if policy := application.Spec.NetworkPolicy; policy != nil {
		for _, rule := range policy.Ingress {
			add(rule.From)
		}
		for _, rule := range policy.Egress {
			add(rule.To)
		}
	}
	return peers
}

// newPullSecretsOfClass are the Secrets for registries that the pods begin to get from their class, and its name.
func (h *Handler) newPullSecretsOfClass(ctx context.Context, in input) (secrets []Reference, of string) {
	if in.old != nil && in.old.Spec.ClassName == in.new.Spec.ClassName {
		return nil, ""
	}
	secrets, of = h.pullSecretsOfClass(ctx, in.new)
	if in.old != nil && len(secrets) > 0 {
		before, _ := h.pullSecretsOfClass(ctx, in.old)
		secrets = slices.DeleteFunc(secrets, func(secret Reference) bool { return slices.Contains(before, secret) })
	}
	return secrets, of
}

// pullSecretsOfClass are the Secrets for registries that the pods get from their class, and its name.
func (h *Handler) pullSecretsOfClass(ctx context.Context, application *v1.Application) (secrets []Reference, of string) {
	chosen := h.classOf(ctx, application)
	if chosen == nil || chosen.Spec.Defaults == nil {
		return nil, ""
	}
	for _, secret := range chosen.Spec.Defaults.ImagePullSecrets {
		secrets = append(secrets, Reference{Kind: KindSecret, Namespace: application.Namespace, Name: secret.Name})
	}
	return secrets, chosen.Name
}

// onlyPullsImages reports whether the pods refer to a Secret for the credentials of a registry alone. They start without it if the node has
// the image, or may pull it without credentials.
func onlyPullsImages(application *v1.Application, secret Reference) bool {
	isNamed := slices.ContainsFunc(application.Spec.ImagePullSecrets, func(named corev1.LocalObjectReference) bool { return named.Name == secret.Name })
	return secret.Kind == KindSecret && isNamed && !slices.ContainsFunc(reference.FromSpec(&application.Spec), func(used reference.Reference) bool {
		return used.Required && string(used.Kind) == KindSecret && used.Name == secret.Name
	})
}

// certificatesOf returns the Secrets that Ingresses take their certificates from, each with the first of its routes. Left out is
// a Secret that the annotation of a certificate issuer asks for: the issuer makes it afterwards. So is a route that may become
// an HTTPRoute, which has no such Secret. Both may come from the class.
func (h *Handler) certificatesOf(ctx context.Context, application *v1.Application) map[Reference]string {
	names := func(route v1.Route) bool { return route.TLS != nil && route.TLS.SecretName != "" }
	if !slices.ContainsFunc(application.Spec.Routes, names) {
		return nil
	}
	resolved := h.resolved(ctx, application)
	certificates := map[Reference]string{}
	for i, route := range application.Spec.Routes {
		merged := resolved.Spec.Routes[i] // The class changes no route's place.
		if !names(route) || render.RouteKind(merged, render.Facts{}) == child.HTTPRoute || namesIssuer(merged.Annotations) {
			continue
		}
		r := Reference{Kind: KindSecret, Namespace: application.Namespace, Name: route.TLS.SecretName}
		if _, found := certificates[r]; !found {
			certificates[r] = route.Name
		}
	}
	return certificates
}

// namesIssuer reports whether the annotations of an Ingress ask cert-manager for a certificate.
func namesIssuer(annotations map[string]string) bool {
	for key := range annotations {
		if strings.HasPrefix(key, "cert-manager.io/") || key == "kubernetes.io/tls-acme" {
			return true
		}
	}
	return false
}
