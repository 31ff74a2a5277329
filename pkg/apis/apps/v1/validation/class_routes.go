// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func limitHostnames(in input) field.ErrorList {
	allowed := in.limits().AllowedHostnames
	if allowed == nil {
		return nil
	}
	var errs field.ErrorList
	for i, route := range in.spec.Routes {
		for j, hostname := range route.Hostnames {
			if !hostIn(allowed, hostname) {
				errs = append(errs, field.Invalid(in.path.Child("routes").Index(i).Child("hostnames").Index(j), hostname, in.allows()+" "+some(allowed)))
			}
		}
	}
	return errs
}

// limitSharedHostnames refuses what would take requests for paths of other Applications under a host name
// that they may share, whether or not one does today.
func limitSharedHostnames(in input) field.ErrorList {
	shared := in.limits().SharedHostnames
	var errs field.ErrorList
	for i, route := range in.spec.Routes {
		if !slices.ContainsFunc(route.Hostnames, func(hostname string) bool { return hostIn(shared, hostname) }) {
			continue
		}
		path := in.path.Child("routes").Index(i)
		detail := fmt.Sprintf("ApplicationClass %q shares this host name between namespaces: ", in.class.Name)
		for j, routePath := range route.Paths {
			if routePath.PathType == networkingv1.PathTypeImplementationSpecific {
				errs = append(errs, field.Invalid(path.Child("paths").Index(j).Child("pathType"), routePath.PathType, detail+"use Prefix or Exact"))
			}
		}
		for _, key := range sortedKeys(route.Annotations) {
			if makesRegex(key) {
				errs = append(errs, field.Forbidden(path.Child("annotations").Key(truncate(key, maxValue)), detail+"paths must not become regular expressions"))
			}
		}
	}
	return errs
}

// makesRegex recognises annotations that make a controller read paths as regular expressions. Where one of an
// Ingress does so, some controllers do so for all Ingresses of the host name.
func makesRegex(key string) bool {
	_, name, _ := strings.Cut(strings.ToLower(key), "/")
	return strings.Contains(name, "regex") || name == "rewrite-target" || name == "path-type"
}

// limitRouteAnnotations looks at what the Application adds to the defaults of its class.
func limitRouteAnnotations(in input) field.ErrorList {
	allowed := in.limits().AllowedRouteAnnotations
	if allowed == nil {
		return nil
	}
	var errs field.ErrorList
	for i, route := range in.spec.Routes {
		for _, key := range sortedKeys(route.Annotations) {
			if in.isClassDefault(key, route.Annotations[key]) || slices.ContainsFunc(allowed, func(pattern string) bool { return matches(pattern, key) }) {
				continue
			}
			path := in.path.Child("routes").Index(i).Child("annotations").Key(truncate(key, maxValue))
			errs = append(errs, field.Invalid(path, route.Annotations[key], in.allows()+" annotations: "+some(allowed)))
		}
	}
	return errs
}

// isClassDefault tells whether a route has an annotation from its class.
func (in input) isClassDefault(key, value string) bool {
	defaults := in.class.Spec.Defaults
	if defaults == nil || defaults.Routes == nil {
		return false
	}
	given, found := defaults.Routes.Annotations[key]
	return found && given == value
}

// matches tells whether a pattern allows the annotation.
func matches(pattern, key string) bool {
	if prefix, wildcard := strings.CutSuffix(pattern, "*"); wildcard {
		return strings.HasPrefix(key, prefix)
	}
	return pattern == key
}

// isSnippet recognises annotations whose value becomes configuration of a controller that serves
// all namespaces: whoever writes one can read its Secrets.
func isSnippet(key string) bool {
	key = strings.ToLower(key)
	return strings.Contains(key, "-snippet") || strings.HasSuffix(key, "/config-backend") // The latter is haproxy-ingress's.
}

// allowsSnippet tells whether the platform takes the risk of this very annotation: the class's list
// names it, in full, or the class sets it.
func (in input) allowsSnippet(key, value string) bool {
	if in.class == nil {
		return false
	}
	return in.limits() != nil && slices.Contains(in.limits().AllowedRouteAnnotations, key) || in.isClassDefault(key, value)
}
