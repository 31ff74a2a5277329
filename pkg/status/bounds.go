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

// A status is a summary, and whatever it is made of may be as long as a user likes: host names, paths,
// messages of other controllers, defaults of a class. The API server refuses an object that is too large, and
// a status that is refused is retried for ever and tells nothing. So each part has a limit in bytes, as JSON
// has them: MaxBytes is more than their sum.
const (
	// MaxBytes is more than any status takes.
	MaxBytes = 64 << 10

	// maxMessage is the limit of a condition's message: what an Event takes, and more than people read.
	maxMessage = 1024
	// maxReason is the limit of a reason of another API.
	maxReason = 128
	// maxURLs and maxURLBytes limit status.urls: the first ones, as many as fit.
	maxURLs     = 32
	maxURLBytes = 4 << 10
	// maxResourceBytes limits status.resources without its messages. Twice the children that an
	// Application can ask for fit, so that nothing is forgotten while all of its routes are replaced.
	maxResourceBytes = 20 << 10
	// maxResourceMessage limits a message of a resource, and maxResourceMessages all of them.
	maxResourceMessage  = 512
	maxResourceMessages = 6 << 10
	// maxDefaults limits what status.class repeats of the class.
	maxDefaults = 4 << 10
	// maxImage is the limit of the schema.
	maxImage = 1024
)

// boundedURLs are the first ones.
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

// boundedResources are those that fit. rendered reports which ones the spec asks for: by their UIDs the
// plan knows them again, so they come before what is only still to be deleted.
func boundedResources(resources []v1.ResourceStatus, rendered func(i int) bool) []v1.ResourceStatus {
	order := make([]int, len(resources))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return first(rendered(a), rendered(b)) })
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

// first orders true before false.
func first(a, b bool) int {
	rank := map[bool]int{true: 0, false: 1}
	return cmp.Compare(rank[a], rank[b])
}

// boundedClass leaves the defaults out where they are too long. The class has them. That the Application
// takes a Gateway stays, since the index of those that an HTTPRoute concerns asks for it.
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
