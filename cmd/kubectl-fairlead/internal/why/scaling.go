// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// ReplicasContended reports whether another writer keeps changing how many pods the Deployment has.
func ReplicasContended(application *v1.Application) bool {
	ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
	if ready == nil || ready.Reason != v1.ReasonContended || application.Spec.Replicas == nil {
		return false
	}
	return slices.ContainsFunc(application.Status.Resources, isScaled)
}

// isScaled reports whether the child is a Deployment whose number of pods another writer changes. The message names the field.
func isScaled(resource v1.ResourceStatus) bool {
	return resource.Kind == child.Deployment.Kind && resource.State == v1.ResourceFailed && strings.Contains(resource.Message, ".spec.replicas")
}

// nameScalers names the autoscalers behind the other writer. They write the subresource scale, and managedFields may say no more than
// that the controller of all autoscalers did.
func (f facts) nameScalers(finding *Finding, resource v1.ResourceStatus) {
	if !isScaled(resource) {
		return
	}
	var next []string
	for _, name := range f.Scalers {
		finding.Evidence = append(finding.Evidence, Evidence{
			Object: child.HorizontalPodAutoscaler.Kind + "/" + name, Field: "spec.scaleTargetRef", Message: resource.Kind + " " + resource.Name,
		})
		next = append(next, fmt.Sprintf("%s %s scales this Deployment: remove spec.replicas, or delete it.", child.HorizontalPodAutoscaler.Kind, name))
	}
	finding.Next = append(next, finding.Next...)
}
