// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strings"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// SharesHost reports whether the class of the Application shares the host name with Applications of other namespaces.
func (o RouteOwners) SharesHost(app *v1.Application, host string) bool {
	return sharedIn(o.Class(app), host)
}

// LosersTo returns the Applications of other namespaces that would share a host name, but lose it to the Application, because
// the Application comes first and its class does not share the given host name.
func (o RouteOwners) LosersTo(app *v1.Application, host string) ([]*v1.Application, error) {
	if o.SharesHost(app, host) {
		return nil, nil
	}
	claims, err := o.HostClaims(host)
	if err != nil {
		return nil, fmt.Errorf("find who has host name %s: %w", host, err)
	}
	check := routeCheck{app: app, owners: o}
	var best *v1.RouteClaim
	for i := range claims {
		if claim := &claims[i]; check.isOwn(claim) && claim.Host == host && check.counts(claim) && (best == nil || ranks(claim, best) < 0) {
			best = claim
		}
	}
	if best == nil {
		return nil, nil
	}
	kept := keptHosts(claims, best)
	var losers []*v1.Application
	for i := range claims {
		claim := &claims[i]
		// Only what a spec asks for can be refused.
		if theirs := claim.Application; theirs.Namespace != app.Namespace && !claim.Serves && !kept.has(theirs.Namespace, claim.Host) &&
			o.SharesHost(theirs, claim.Host) {
			losers = append(losers, theirs)
		}
	}
	return losers, nil
}

// namespacedHost is a host name that a namespace has.
type namespacedHost struct{ namespace, host string }

// hostsKept are the host names that namespaces keep. A wildcard keeps all names below it.
type hostsKept struct {
	exactly   map[namespacedHost]bool
	wildcards map[string][]string
}

// keptHosts returns the host names of the claims that come before the given one.
func keptHosts(claims []v1.RouteClaim, than *v1.RouteClaim) hostsKept {
	kept := hostsKept{exactly: map[namespacedHost]bool{}, wildcards: map[string][]string{}}
	for i := range claims {
		claim := &claims[i]
		key := namespacedHost{claim.Application.Namespace, claim.Host}
		if kept.exactly[key] || ranks(claim, than) >= 0 {
			continue
		}
		kept.exactly[key] = true
		if strings.HasPrefix(claim.Host, "*") {
			kept.wildcards[key.namespace] = append(kept.wildcards[key.namespace], claim.Host)
		}
	}
	return kept
}

func (k hostsKept) has(namespace, host string) bool {
	if k.exactly[namespacedHost{namespace, host}] {
		return true
	}
	for _, wildcard := range k.wildcards[namespace] {
		if v1.HostCovers(wildcard, host) {
			return true
		}
	}
	return false
}
