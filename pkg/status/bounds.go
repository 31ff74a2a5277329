// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"encoding/json"
	"slices"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

// Users control the size of most parts of a status: host names, paths, messages of other controllers, defaults of a
// class. The API server refuses an object that is too large, and the retries of a refused status would never end. So
// each part has a limit in bytes of JSON, and MaxBytes is more than their sum.
const (
	// MaxBytes is more than any status takes.
	MaxBytes = 64 << 10

	// maxMessage is the limit of a condition's message, which is that of an Event.
	maxMessage = 1024
	// maxBlocked limits what a condition quotes of a blocked child, so that the children that wait for it are named too.
	maxBlocked = 512
	// maxSummary is the limit of the schema. A row of kubectl get then fits 120 columns, if the name has up to 15
	// characters.
	maxSummary = 52
	// maxReason is the limit of a reason of another API.
	maxReason = 128
	// maxURLs and maxURLBytes limit status.urls: the first ones, as many as fit.
	maxURLs     = 32
	maxURLBytes = 4 << 10
	// maxResourceBytes limits status.resources without its messages. It fits twice the children that an
	// Application can have, so that no child is lost while all of its routes are replaced.
	maxResourceBytes = 20 << 10
	// maxResourceMessage limits a message of a resource, and maxResourceMessages all of them.
	maxResourceMessage  = 512
	maxResourceMessages = 6 << 10
	// maxDefaults limits what status.class repeats of the class.
	maxDefaults = 4 << 10
	// maxImage is the limit of the schema.
	maxImage = 1024
)

// boundedURLs returns the first ones that fit.
func boundedURLs(urls []string) []string {
	var kept []string
	left := maxURLBytes
	for _, url := range urls {
		left -= text.JSONSize(url) + len(`"",`)
		if left < 0 || len(kept) == maxURLs {
			break
		}
		kept = append(kept, url)
	}
	return kept
}

// boundedResources returns those that fit. rendered reports which ones the spec asks for. The plan needs their UIDs, so
// they come before children that are only waiting for deletion.
func boundedResources(resources []v1.ResourceStatus, rendered func(i int) bool) []v1.ResourceStatus {
	order := make([]int, len(resources))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return trueFirst(rendered(a), rendered(b)) })
	kept := make([]int, 0, len(order))
	left := maxResourceBytes
	for _, i := range order {
		r := &resources[i]
		if left -= text.JSONSize(r.Group, r.Kind, r.Name, string(r.UID), string(r.State)) + len(`{"group":"","kind":"","name":"","uid":"","state":"","message":""},`); left < 0 {
			break
		}
		kept = append(kept, i)
	}
	slices.Sort(kept)
	var list []v1.ResourceStatus
	messages := maxResourceMessages
	for _, i := range kept {
		resource := resources[i]
		resource.Message = text.Truncate(resource.Message, min(maxResourceMessage, messages))
		messages -= text.JSONSize(resource.Message)
		list = append(list, resource)
	}
	return list
}

// trueFirst orders true before false.
func trueFirst(a, b bool) int {
	rank := map[bool]int{true: 0, false: 1}
	return cmp.Compare(rank[a], rank[b])
}

// boundedClass omits defaults that are too long; the class has them. It keeps one parentRef, by which an index finds the
// Applications that HTTPRoutes concern.
func boundedClass(class *v1.AppliedClass) *v1.AppliedClass {
	if class == nil || class.Defaults == nil {
		return class
	}
	if encoded, err := json.Marshal(class.Defaults); err != nil || len(encoded) > maxDefaults {
		routes := class.Defaults.Routes
		class.Defaults, class.DefaultsOmitted = nil, true
		if routes != nil && len(routes.ParentRefs) > 0 {
			class.Defaults = &v1.ApplicationDefaults{Routes: &v1.RouteDefaults{ParentRefs: routes.ParentRefs[:1]}}
		}
	}
	return class
}
