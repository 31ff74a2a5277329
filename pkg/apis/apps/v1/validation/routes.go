// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func validateRoutes(in input) field.ErrorList {
	path := in.path.Child("routes")
	errs := tooMany(path, len(in.spec.Routes), 16)
	if len(in.spec.Routes) > 0 && len(in.spec.Ports) == 0 {
		errs = append(errs, field.Forbidden(path, "routes need at least one entry in ports"))
	}
	target := probed{ports: applicationPorts(in.spec)}
	if len(in.spec.Ports) > 0 {
		target.primary = in.spec.Ports[0].Name
	}
	routeNames, served := names{}, names{}
	for i := range in.spec.Routes {
		route, path := &in.spec.Routes[i], path.Index(i)
		errs = append(errs, label(path.Child("name"), route.Name)...)
		errs = append(errs, routeNames.add(path.Child("name"), route.Name)...)
		errs = append(errs, validateRouteType(path, route)...)
		errs = append(errs, validateHostnames(path.Child("hostnames"), route.Hostnames)...)
		errs = append(errs, validateRoutePaths(path.Child("paths"), route.Paths, target)...)
		errs = append(errs, validateServedOnce(path, route, served)...)
		if route.TLS != nil && route.TLS.SecretName != "" {
			errs = append(errs, subdomain(path.Child("tls", "secretName"), route.TLS.SecretName)...)
		}
		if route.IngressClassName != nil {
			errs = append(errs, subdomain(path.Child("ingressClassName"), *route.IngressClassName)...)
		}
		errs = append(errs, validateRouteAnnotations(path, route)...)
	}
	return append(errs, validateRedirectNames(path, in.spec.Routes)...)
}

func validateHostnames(path *field.Path, hostnames []string) field.ErrorList {
	errs := tooMany(path, len(hostnames), 32)
	if len(hostnames) == 0 {
		errs = append(errs, field.Required(path, "must have at least one, because a route without a host would take every host of the cluster"))
	}
	seen := names{}
	for i, hostname := range hostnames {
		errs = append(errs, validateHostname(path.Index(i), hostname)...)
		errs = append(errs, seen.add(path.Index(i), hostname)...)
	}
	return errs
}

func validateHostname(path *field.Path, hostname string) field.ErrorList {
	switch {
	case hostname == "":
		return field.ErrorList{field.Required(path, "must be a host name")}
	case len(validation.IsValidIPForLegacyField(path, hostname, false, nil)) == 0:
		return field.ErrorList{field.Invalid(path, hostname, "must be a DNS name, not an IP address")}
	case len(hostname) > validation.DNS1123SubdomainMaxLength:
		return field.ErrorList{field.TooLong(path, "", validation.DNS1123SubdomainMaxLength)}
	case strings.Contains(hostname, "*") && len(validation.IsWildcardDNS1123Subdomain(hostname)) > 0:
		return field.ErrorList{field.Invalid(path, hostname, "must have its only * at the beginning, as in *.example.com, and neither scheme, port nor path")}
	case !strings.Contains(hostname, "*") && len(validation.IsDNS1123Subdomain(hostname)) > 0:
		return field.ErrorList{field.Invalid(path, hostname, "must be a host name of lower-case letters, digits, '-' and '.', without scheme, port or path, such as web.example.com")}
	}
	if strings.Count(hostname, ".") >= v1.MaxHostLabels {
		return field.ErrorList{field.Invalid(path, hostname, fmt.Sprintf("must have at most %d parts between the dots", v1.MaxHostLabels))}
	}
	if longLabel(hostname) {
		return field.ErrorList{field.Invalid(path, hostname, "each part between the dots must be no more than 63 characters")}
	}
	return nil
}

func validateRoutePaths(path *field.Path, paths []v1.RoutePath, target probed) field.ErrorList {
	errs := tooMany(path, len(paths), 32)
	if len(paths) == 0 && target.primary != "" {
		return validateRoutePort(path, "", target)
	}
	for i, routePath := range paths {
		path := path.Index(i)
		errs = append(errs, enum(path.Child("pathType"), routePath.PathType,
			networkingv1.PathTypeExact, networkingv1.PathTypePrefix, networkingv1.PathTypeImplementationSpecific)...)
		if message := pathProblem(routePath.Path, routePath.PathType); message != "" {
			errs = append(errs, field.Invalid(path.Child("path"), routePath.Path, message))
		}
		errs = append(errs, validateRoutePort(path.Child("port"), routePath.Port, target)...)
	}
	return errs
}

// validateRoutePort checks the protocol, because HTTP runs over TCP.
func validateRoutePort(path *field.Path, port string, target probed) field.ErrorList {
	if port != "" {
		return validateTCPPortName(path, port, target.ports)
	}
	// That there are no ports is said once, of all routes.
	if protocol, found := target.ports[target.primary]; found && protocol != corev1.ProtocolTCP {
		return field.ErrorList{field.Required(path, fmt.Sprintf("the primary port %q is %s and cannot serve HTTP: name a TCP port", target.primary, protocol))}
	}
	return nil
}

// allowedInPath are the characters of a path besides letters and digits. It excludes those with a meaning in regular
// expressions or in the configuration language of Ingress controllers, where paths were used for attacks before:
// {}()[]|^$*+?\;"'`#<> and white space.
const allowedInPath = "/-._~!&,=:@%"

// pathProblem checks the syntax of a path. An ImplementationSpecific path may be a regular expression, so it only
// refuses characters that could end or quote a statement.
func pathProblem(path string, pathType networkingv1.PathType) string {
	switch {
	case path == "":
		return "" // the default, /
	case !strings.HasPrefix(path, "/"):
		return "must start with '/'"
	case len(path) > 1024:
		return "must be no more than 1024 bytes"
	case pathType == networkingv1.PathTypeImplementationSpecific:
		if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(";\"'`#", r) }) {
			return "must not contain white space, control or non-ASCII characters, quotes, ';' or '#'"
		}
		return ""
	}
	for i := range len(path) {
		switch c := path[i]; {
		case c == '%':
			if message := escapeProblem(path[i:]); message != "" {
				return message
			}
		case strings.IndexByte("*^$()[]|", c) >= 0:
			return "must be no pattern: with pathType Prefix, /api includes everything below it"
		case !isAlphanumeric(c) && strings.IndexByte(allowedInPath, c) < 0:
			return "must consist of letters, digits and " + allowedInPath + "; percent-encode others"
		}
	}
	if strings.Contains(path, "//") {
		return "must not contain '//'"
	}
	if hasElement(path, ".") || hasElement(path, "..") {
		return "must not have '.' or '..' as an element"
	}
	return ""
}

// escapeProblem refuses an escape of a character that a path may not contain.
func escapeProblem(s string) string {
	if len(s) < 3 || !isHex(s[1]) || !isHex(s[2]) {
		return "'%' must be followed by two hexadecimal digits"
	}
	switch escape := strings.ToLower(s[:3]); {
	case escape == "%2f", escape == "%5c", escape == "%2e":
		return "must not contain an encoded '/', '\\' or '.'"
	case escape < "%20" || escape == "%7f":
		return "must not contain encoded control characters"
	}
	return ""
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// validateServedOnce refuses two rules for one host and path, because the controller would choose one of them.
func validateServedOnce(path *field.Path, route *v1.Route, served names) field.ErrorList {
	paths := route.Paths
	if len(paths) == 0 {
		paths = []v1.RoutePath{{}}
	}
	var errs field.ErrorList
	for i, routePath := range paths {
		pathType := routePath.PathType
		if pathType == "" {
			pathType = networkingv1.PathTypePrefix
		}
		urlPath := routePath.Path
		if pathType == networkingv1.PathTypePrefix {
			urlPath = strings.TrimSuffix(urlPath, "/") // /a and /a/ are one prefix
		}
		if urlPath == "" {
			urlPath = "/"
		}
		fldPath := path.Child("paths").Index(i)
		if len(route.Paths) == 0 {
			fldPath = path.Child("hostnames")
		}
		var duplicates field.ErrorList
		own := names{} // a hostname that is listed twice is reported as such
		for _, hostname := range route.Hostnames {
			if hostname != "" && len(own.add(nil, hostname)) == 0 {
				duplicates = append(duplicates, served.add(fldPath, fmt.Sprintf("%s%s (%s)", hostname, urlPath, pathType))...)
			}
		}
		if len(duplicates) > 0 {
			errs = append(errs, duplicates[0])
		}
	}
	return errs
}

func validateRouteAnnotations(path *field.Path, route *v1.Route) field.ErrorList {
	errs := validateAnnotations(path.Child("annotations"), route.Annotations)
	if class, ok := route.Annotations[networkingv1beta1.AnnotationIngressClass]; ok && route.IngressClassName != nil && class != *route.IngressClassName {
		errs = append(errs, field.Invalid(path.Child("annotations").Key(networkingv1beta1.AnnotationIngressClass), class, "must be the same as ingressClassName, or better be left out"))
	}
	return errs
}
