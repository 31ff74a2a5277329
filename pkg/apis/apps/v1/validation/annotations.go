// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// annotated has the annotations of one kind of child, and those that the class sets.
type annotated struct {
	path                  *field.Path
	annotations, defaults map[string]string
	// always is an annotation that every class allows here, or "".
	always string
}

// allAnnotations returns all annotations of children. A controller may read an annotation on any object: some for
// Ingresses also read Services.
func allAnnotations(in input) []annotated {
	var ofPods, ofRoutes map[string]string
	if in.class != nil && in.class.Spec.Defaults != nil {
		if metadata := in.class.Spec.Defaults.PodMetadata; metadata != nil {
			ofPods = metadata.Annotations
		}
		if routes := in.class.Spec.Defaults.Routes; routes != nil {
			ofRoutes = routes.Annotations
		}
	}
	var all []annotated
	if service := in.spec.Service; service != nil {
		all = append(all, annotated{path: in.path.Child("service"), annotations: service.Annotations})
	}
	for i, route := range in.spec.Routes {
		all = append(all, annotated{path: in.path.Child("routes").Index(i), annotations: route.Annotations, defaults: ofRoutes})
	}
	if account := in.spec.ServiceAccount; account != nil {
		all = append(all, annotated{path: in.path.Child("serviceAccount"), annotations: account.Annotations})
	}
	if metadata := in.spec.PodMetadata; metadata != nil {
		all = append(all, annotated{path: in.path.Child("podMetadata"), annotations: metadata.Annotations, defaults: ofPods, always: v1.AnnotationRestartedAt})
	}
	return all
}

// each calls f for the annotations that the class does not set, sorted by key.
func (a annotated) each(f func(path *field.Path, key, value string)) {
	for _, key := range sortedKeys(a.annotations) {
		value := a.annotations[key]
		if given, found := a.defaults[key]; !found || given != value {
			f(a.path.Child("annotations").Key(truncate(key, maxValue)), key, value)
		}
	}
}

// validateHarmlessAnnotations refuses annotations that affect more than the Application, with and without a class. The
// platform can permit one of them: the class must name it in full, or set it.
func validateHarmlessAnnotations(in input) field.ErrorList {
	var errs field.ErrorList
	for _, a := range allAnnotations(in) {
		a.each(func(path *field.Path, key, _ string) {
			if limits := in.limits(); limits != nil && slices.Contains(limits.AllowedAnnotations, key) {
				return
			}
			switch {
			case isSnippet(key):
				errs = append(errs, field.Forbidden(path, "snippets of a controller's configuration are not allowed, unless the class names the annotation in allowedAnnotations"))
			case namesHosts(key):
				errs = append(errs, field.Forbidden(path, "host names in annotations are not allowed, because they may be those of others: use the hostnames of a route, or a class that names the annotation in allowedAnnotations"))
			}
		})
	}
	return errs
}

// limitAnnotations checks the annotations that the Application adds to the defaults of its class. Every class allows a restart of
// the pods: otherwise it would refuse kubectl fairlead restart.
func limitAnnotations(in input) field.ErrorList {
	allowed := in.limits().AllowedAnnotations
	if allowed == nil {
		return nil
	}
	var errs field.ErrorList
	for _, a := range allAnnotations(in) {
		a.each(func(path *field.Path, key, value string) {
			if key == a.always {
				return
			}
			if !slices.ContainsFunc(allowed, func(pattern string) bool { return matches(pattern, key) }) {
				errs = append(errs, field.Invalid(path, value, in.allows()+" annotations: "+some(allowed)))
			}
		})
	}
	return errs
}

// matches reports whether a pattern allows the annotation.
func matches(pattern, key string) bool {
	if prefix, wildcard := strings.CutSuffix(pattern, "*"); wildcard {
		return strings.HasPrefix(key, prefix)
	}
	return pattern == key
}

// splitAnnotation returns prefix and name, in lower case. Users can configure the prefix of a controller, so most checks
// below use only the name.
func splitAnnotation(key string) (prefix, name string) {
	prefix, name, found := strings.Cut(strings.ToLower(key), "/")
	if !found {
		return "", prefix
	}
	return prefix, name
}

// isSnippet reports whether the value becomes configuration of a controller that serves all namespaces. A user who
// writes one can read that controller's Secrets.
func isSnippet(key string) bool {
	prefix, name := splitAnnotation(key)
	switch {
	case strings.Contains(name, "snippet"): // NGINX, HAProxy
		return true
	case name == "config-backend", name == "route-acl", name == "backend-config": // HAProxy's two controllers
		return prefix != "cloud.google.com" // There it is the name of a BackendConfig.
	case strings.HasPrefix(name, "skipper-"): // Skipper's filters, predicates and routes
		return true
	default:
		return name == "config" && prefix == "getambassador.io"
	}
}

// namesHosts reports whether the value has host names: of DNS records, of certificates, or of requests that a controller
// serves. A host name of a route belongs to one namespace; these would bypass that.
func namesHosts(key string) bool {
	prefix, name := splitAnnotation(key)
	for _, part := range []string{
		"hostname",                   // ExternalDNS, Application Gateway, clouds' load balancers
		"server-alias", "host-alias", // NGINX, HAProxy, Kong
		"redirect-from", "from-to-www", // HAProxy, NGINX
		"alt-names", "common-name", "uri-sans", "ip-sans", "email-sans", // cert-manager
		"dnsnames", "commonname", // Gardener
		"tls.domains", "router.rule", "frontend.rule", // Traefik
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	switch prefix {
	case "dns.alpha.kubernetes.io": // dns-controller
		return true
	case "alb.ingress.kubernetes.io":
		return strings.HasPrefix(name, "conditions.")
	case "konghq.com", "configuration.konghq.com":
		return name == "snis"
	default:
		return false
	}
}
