// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
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

// limitSharedHostnames refuses routes that would take requests for paths of other Applications under a host name that
// they may share, whether or not one does now.
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

// makesRegex reports whether an annotation makes a controller read paths as regular expressions. For some controllers,
// one such Ingress affects all Ingresses of the host name.
func makesRegex(key string) bool {
	_, name, _ := strings.Cut(strings.ToLower(key), "/")
	return strings.Contains(name, "regex") || name == "rewrite-target" || name == "path-type"
}

// validateParentKinds refuses parents that are not Gateways, unless the class allows their kind, or sets them. In a
// mesh, a route that is attached to another Service takes the requests of its clients.
func validateParentKinds(in input) field.ErrorList {
	var allowed []string
	if limits := in.limits(); limits != nil {
		allowed = limits.AllowedParentKinds
	}
	gateway := v1.ParentReference{}.GroupKind()
	var errs field.ErrorList
	for i, route := range in.spec.Routes {
		if in.isDefaultParents(route.ParentRefs) {
			continue
		}
		for j, parent := range route.ParentRefs {
			kind := parent.GroupKind()
			if kind == gateway || slices.Contains(allowed, kind.String()) {
				continue
			}
			errs = append(errs, field.Invalid(in.path.Child("routes").Index(i).Child("parentRefs").Index(j).Child("kind"), kind.String(),
				"must be a Gateway: other kinds have to be among allowedParentKinds of the ApplicationClass"))
		}
	}
	return errs
}

// isDefaultParents reports whether a route has the parents of its class.
func (in input) isDefaultParents(parents []v1.ParentReference) bool {
	return in.class != nil && in.class.Spec.Defaults != nil && in.class.Spec.Defaults.Routes != nil &&
		equality.Semantic.DeepEqual(parents, in.class.Spec.Defaults.Routes.ParentRefs)
}
