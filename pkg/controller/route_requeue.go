// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// claimants are the Applications that wait for a host name or path of another one, or that may lose theirs to it.
type claimants struct {
	claims func(host string) ([]v1.RouteClaim, error)
	// owners decides with the present classes which Application owns a host name.
	owners  func() (validation.RouteOwners, error)
	enqueue func(key cache.ObjectName, trigger workqueue.Trigger)
}

// enqueueClaimants queues the Applications that were refused one of the keys, because the Application that had the keys no
// longer asks for them or serves them. All others keep their routes, so a tenant that writes wildcards queues no other
// Application. Nearly always no other Application claims a host name, and this is one index lookup for each.
//
// It does not miss an Application that is just being refused: the write of its status follows, whose event queues it.
func (c claimants) enqueueClaimants(keys []v1.RouteKey, trigger workqueue.Trigger) {
	woken := map[cache.ObjectName]bool{}
	last := ""
	for _, key := range keys {
		if key.Host == last {
			continue // The paths of a host name follow each other.
		}
		last = key.Host
		// Cannot fail: the informer has the index.
		claims, _ := c.claims(key.Host)
		for _, claim := range claims {
			name := cache.MetaObjectToName(claim.Application)
			if !woken[name] && hasRefusedRoute(claim.Application) {
				woken[name] = true
				c.enqueue(name, trigger)
			}
		}
	}
}

// enqueueLosersTo queues the Applications of other namespaces that lose a host name to this one, because its class does not share
// the host name any more. before is the Application as it was if its className changed, else nil.
//
// It queues those that lose by the rules of ownership, and no others. So a tenant that changes className again and again queues no
// Application that keeps its host name, whatever wildcards the tenant asks for.
func (c claimants) enqueueLosersTo(before, application *v1.Application, trigger workqueue.Trigger) {
	owners, err := c.owners()
	if err != nil {
		return // Cannot happen: the cache has only classes.
	}
	last := ""
	for _, key := range application.RouteKeys() {
		if key.Host == last || before != nil && !owners.SharesHost(before, key.Host) {
			continue
		}
		last = key.Host
		// Cannot fail: the informer has the index.
		losers, _ := owners.LosersTo(application, key.Host)
		for _, loser := range losers {
			c.enqueue(cache.MetaObjectToName(loser), trigger)
		}
	}
}

// sharesHosts reports whether Applications of the class may share a host name with other namespaces.
func sharesHosts(class *v1.ApplicationClass) bool {
	return class.Spec.Limits != nil && len(class.Spec.Limits.SharedHostnames) > 0
}

// hasRefusedRoute reports whether the status says that another Application owns a route of this one.
func hasRefusedRoute(application *v1.Application) bool {
	stalled := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionStalled)
	return stalled != nil && stalled.Reason == v1.ReasonRouteConflict
}

// claimsLess reports whether the Application may ask for fewer routes than before, or may share them now.
func claimsLess(before, after *v1.Application) bool {
	if before.DeletionTimestamp == nil && after.DeletionTimestamp != nil {
		return true
	}
	return before.UID != after.UID || before.Spec.ClassName != after.Spec.ClassName || !slices.Equal(before.RouteKeys(), after.RouteKeys())
}
