// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// RouteOwners decides which Application owns a host name. Between namespaces, one namespace owns a host name as a whole,
// with all names that a wildcard covers, unless the classes of both Applications share it. Within a namespace, and under
// a shared host name, each path belongs to one Application.
//
// The owner is the Application that asks for it and serves it, else one that only serves it still; among several or none
// of those, the oldest. Serving comes before age, because an old Application may begin to ask today for a host name that
// a younger one has served for long. A live route that its own spec does not ask for comes after: a user may have edited
// it, and must not take a host name in that way.
type RouteOwners struct {
	// HostClaims returns the claims of all namespaces to host names that overlap with the given one.
	HostClaims func(host string) ([]v1.RouteClaim, error)
	// RouteClaims returns the claims of a namespace to a host name and path.
	RouteClaims func(namespace string, key v1.RouteKey) ([]v1.RouteClaim, error)
	// Class returns the class of an Application; nil if it has none.
	Class func(*v1.Application) *v1.ApplicationClass
}

// ValidateRouteOwnership returns an error for each host name, or host name and path, of the stored Application that
// another one owns.
func ValidateRouteOwnership(app *v1.Application, owners RouteOwners) (field.ErrorList, error) {
	return routeCheck{app: app, owners: owners, stored: true}.validate()
}

// ValidateNewRoutes returns an error for each host name, or host name and path, that old, which may be nil, did not ask
// for and that another Application has or asks for already. The age of the other one does not matter, because this
// request is later.
func ValidateNewRoutes(app, old *v1.Application, owners RouteOwners) (field.ErrorList, error) {
	return newRoutes(app, old, owners).validate()
}

func newRoutes(app, old *v1.Application, owners RouteOwners) routeCheck {
	check := routeCheck{app: app, owners: owners, had: map[v1.RouteKey]bool{}, hadHost: map[string]bool{}}
	if old != nil {
		for _, key := range old.RouteKeys() {
			check.had[key], check.hadHost[key.Host] = true, true
		}
	}
	return check
}

// HeldRoutes returns an error for each host name, or host name and path, that old, which may be nil, did not ask for, and that another
// Application of the namespace serves until it is resumed, although its spec does not ask for the host name any more. ValidateNewRoutes
// accepts these, as routes that move.
func HeldRoutes(app, old *v1.Application, owners RouteOwners) (field.ErrorList, error) {
	check := newRoutes(app, old, owners)
	check.held = true
	return check.validate()
}

// routeCheck checks the routes of one Application.
type routeCheck struct {
	app    *v1.Application
	owners RouteOwners
	// stored means that the claims of the Application itself count, as in a sync. In a request they come after all
	// others, and routes that it had before are not checked.
	stored bool
	// held means that only routes of the namespace count that HeldRoutes is about.
	held    bool
	had     map[v1.RouteKey]bool
	hadHost map[string]bool
}

func (c routeCheck) validate() (field.ErrorList, error) {
	var errs field.ErrorList
	// Routes that are too large claim nothing, and are refused for that.
	if len(c.app.RouteKeys()) == 0 {
		return nil, nil
	}
	seenHosts, seen := map[string]*field.Error{}, map[v1.RouteKey]bool{}
	for i := range c.app.Spec.Routes {
		path := field.NewPath("spec", "routes").Index(i).Child("hostnames")
		for j, hostname := range c.app.Spec.Routes[i].Hostnames {
			host := v1.CanonicalHost(hostname)
			taken, looked := seenHosts[host]
			if !looked {
				var err error
				if taken, err = c.validateHost(path.Index(j), host); err != nil {
					return nil, err
				}
				seenHosts[host] = taken
				if taken != nil {
					errs = append(errs, taken)
				}
			}
			if taken != nil {
				continue // The paths under it are of no interest then.
			}
			for _, key := range routeKeys(hostname, c.app.Spec.Routes[i].Paths) {
				if seen[key] {
					continue
				}
				seen[key] = true
				err, cannot := c.validateKey(path.Index(j), key)
				if cannot != nil {
					return nil, cannot
				}
				if err != nil {
					errs = append(errs, err)
				}
			}
		}
	}
	return bounded(errs), nil
}

// validateHost returns an error if another namespace owns the host name.
func (c routeCheck) validateHost(path *field.Path, host string) (*field.Error, error) {
	if c.hadHost[host] || c.held {
		return nil, nil
	}
	claims, err := c.owners.HostClaims(host)
	if err != nil {
		return nil, fmt.Errorf("find who has host name %s: %w", host, err)
	}
	var ours, theirs *v1.RouteClaim
	if c.stored {
		ours = &v1.RouteClaim{Application: c.app, Host: host}
	}
	for i := range claims {
		claim := &claims[i]
		switch {
		case claim.Application.Namespace == c.app.Namespace:
			// This covers the host name as a whole. A name below a wildcard is no claim to the wildcard.
			if v1.HostCovers(claim.Host, host) && (ours == nil || ranks(claim, ours) < 0) {
				ours = claim
			}
		case c.counts(claim) && !c.shares(host, claim) && (theirs == nil || ranks(claim, theirs) < 0):
			theirs = claim
		}
	}
	if theirs == nil || ours != nil && ranks(ours, theirs) < 0 {
		return nil, nil
	}
	return hostBelongsTo(path, host, theirs), nil
}

// validateKey returns an error if another Application of the namespace, or of one that shares the host name, owns the
// path under the host name.
func (c routeCheck) validateKey(path *field.Path, key v1.RouteKey) (*field.Error, error) {
	if c.had[key] {
		return nil, nil
	}
	claims, err := c.keyClaims(key)
	if err != nil {
		return nil, fmt.Errorf("find who has %s: %w", key, err)
	}
	var owner *v1.RouteClaim
	if c.stored {
		owner = &v1.RouteClaim{Application: c.app, Host: key.Host}
	}
	for i := range claims {
		claim := &claims[i]
		// A request may ask for what another Application of the namespace only serves still: the route moves.
		moves := claim.Serves && claim.Application.Namespace == c.app.Namespace
		switch {
		case c.held && (c.isOwn(claim) || !moves || !isHeld(claim)):
			continue
		case !c.held && !c.stored && (c.isOwn(claim) || moves):
			continue
		}
		if owner == nil || ranks(claim, owner) < 0 {
			owner = claim
		}
	}
	if owner == nil || c.isOwn(owner) {
		return nil, nil
	}
	asked := key.String()
	if key.Path == "/" {
		asked = key.Host // Most users name no path.
	}
	return c.belongsTo(path, asked, owner), nil
}

// isHeld reports whether an Application serves a host name that its spec does not ask for any more, because Fairlead changes none of its
// children.
func isHeld(claim *v1.RouteClaim) bool {
	owner := claim.Application
	return claim.Serves && owner.DeletionTimestamp == nil && owner.Spec.ReconcilePolicy.Withholds() && !owner.AsksForHost(claim.Host)
}

// keyClaims returns the claims of the namespace, and of namespaces that share the host name. Claims of others do not
// matter, because this namespace owns the host name.
func (c routeCheck) keyClaims(key v1.RouteKey) ([]v1.RouteClaim, error) {
	claims, err := c.owners.RouteClaims(c.app.Namespace, key)
	if err != nil || !sharedIn(c.owners.Class(c.app), key.Host) {
		return claims, err
	}
	all, err := c.owners.HostClaims(key.Host)
	if err != nil {
		return nil, err
	}
	looked := map[string]bool{c.app.Namespace: true}
	for i := range all {
		claim := &all[i]
		if looked[claim.Application.Namespace] || !c.shares(key.Host, claim) {
			continue
		}
		looked[claim.Application.Namespace] = true
		more, err := c.owners.RouteClaims(claim.Application.Namespace, key)
		if err != nil {
			return nil, err
		}
		claims = append(claims, more...)
	}
	return claims, nil
}

// counts reports whether a claim of another namespace counts. An Application that only asks for a host name which its
// class does not allow, or whose class it may not have, blocks no other Application.
func (c routeCheck) counts(claim *v1.RouteClaim) bool {
	if claim.Serves {
		return true
	}
	class := c.owners.Class(claim.Application)
	if class == nil && claim.Application.Spec.ClassName != "" {
		return false
	}
	return allowsHostname(class, claim.Host)
}

// shares reports whether both Applications may share a host name: the class of each lists its own.
func (c routeCheck) shares(host string, claim *v1.RouteClaim) bool {
	return sharedIn(c.owners.Class(c.app), host) && sharedIn(c.owners.Class(claim.Application), claim.Host)
}

// isOwn compares names, because a new object has no UID.
func (c routeCheck) isOwn(claim *v1.RouteClaim) bool {
	return claim.Application.Namespace == c.app.Namespace && claim.Application.Name == c.app.Name
}

// ranks orders claims, the better one first. Claims of different Applications are never equal.
func ranks(a, b *v1.RouteClaim) int {
	return cmp.Or(
		first(servesAsAsked(a), servesAsAsked(b)),
		first(a.Serves, b.Serves),
		a.Application.CreationTimestamp.Compare(b.Application.CreationTimestamp.Time),
		cmp.Compare(a.Application.Namespace, b.Application.Namespace),
		cmp.Compare(a.Application.Name, b.Application.Name),
	)
}

// servesAsAsked reports whether a live route has the host name because the spec asks for it.
func servesAsAsked(claim *v1.RouteClaim) bool {
	return claim.Serves && claim.Application.AsksForHost(claim.Host)
}

// first orders true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// belongsTo names the Application that owns the host name, without the reason, which may become outdated: an Application
// may ask today for what it did not ask for when it was created, and may serve a moment later what it only asks for now,
// when no sync updates this status. A route that the owner gave up in its spec, and that its reconcilePolicy keeps, is worth a reason: the
// owner's spec would not show it. The claim ends when the owner is resumed, and a sync follows. A tenant of another namespace does not learn
// the owner's reconcilePolicy, and could not change it.
func (c routeCheck) belongsTo(path *field.Path, asked string, owner *v1.RouteClaim) *field.Error {
	name := nameOf(owner)
	if isHeld(owner) && owner.Application.Namespace == c.app.Namespace {
		gaveUp := "it"
		if asked != owner.Host {
			gaveUp = owner.Host
		}
		return field.Invalid(path, asked, fmt.Sprintf("Application %s gave %s up, but its reconcilePolicy keeps it: "+
			"resume that Application, or choose another host name or path", name, gaveUp)) // GivenUpBy reads it.
	}
	return field.Invalid(path, asked, fmt.Sprintf("belongs to Application %s: "+otherHost+orPath, name))
}

// NeedsOtherHost reads these.
const otherHost, orPath = "choose another host name", " or path"

// hostBelongsTo names the Application of another namespace that owns the host name. Another path would be refused too.
func hostBelongsTo(path *field.Path, host string, owner *v1.RouteClaim) *field.Error {
	if host != owner.Host {
		return field.Invalid(path, host, fmt.Sprintf("overlaps with %s of Application %s: "+otherHost, owner.Host, nameOf(owner)))
	}
	return field.Invalid(path, host, fmt.Sprintf("belongs to Application %s"+ofAnotherNamespace+otherHost, nameOf(owner)))
}

// NeedsSharing reads it.
const ofAnotherNamespace = " of another namespace, with all its paths: "

func nameOf(owner *v1.RouteClaim) string {
	return owner.Application.Namespace + "/" + owner.Application.Name
}

var givenUp = regexp.MustCompile(`: Application [^/ ]+/(\S+) gave \S+ up, but its reconcilePolicy keeps it`)

// GivenUpBy returns the Application of the namespace that gave a route up and keeps it, as the message of an error of
// ValidateRouteOwnership says, also one that was cut off; "" if it says nothing such.
func GivenUpBy(message string) string {
	if owner := givenUp.FindStringSubmatch(message); owner != nil {
		return owner[1]
	}
	return ""
}

// NeedsOtherHost reports whether another path does not help, as the message of an error of ValidateRouteOwnership says.
func NeedsOtherHost(message string) bool {
	return strings.Contains(message, otherHost) && !strings.Contains(message, otherHost+orPath)
}

// NeedsSharing reports whether the route has a host name of another namespace, which it may have with other paths if the classes of both
// share it, as the message of an error of ValidateRouteOwnership says.
func NeedsSharing(message string) bool { return strings.Contains(message, ofAnotherNamespace) }

// sharedIn reports whether the class lets its Applications share a host name with other namespaces.
func sharedIn(class *v1.ApplicationClass, host string) bool {
	return class != nil && class.Spec.Limits != nil && hostIn(class.Spec.Limits.SharedHostnames, host)
}

// allowsHostname reports whether Applications of the class may have the host name.
func allowsHostname(class *v1.ApplicationClass, host string) bool {
	return class == nil || class.Spec.Limits == nil || class.Spec.Limits.AllowedHostnames == nil || hostIn(class.Spec.Limits.AllowedHostnames, host)
}

func hostIn(patterns []string, host string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return v1.HostCovers(pattern, host) })
}

func routeKeys(hostname string, paths []v1.RoutePath) []v1.RouteKey {
	if len(paths) == 0 {
		paths = []v1.RoutePath{{}}
	}
	keys := make([]v1.RouteKey, 0, len(paths))
	for _, path := range paths {
		keys = append(keys, v1.NewRouteKey(hostname, path))
	}
	return keys
}
