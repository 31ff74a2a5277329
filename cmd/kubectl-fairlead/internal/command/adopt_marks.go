// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/helm"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// checkMarks refuses the objects of deployment tools, but for those that the release gives up.
func (a *adopting) checkMarks() (refused []error) {
	objects := map[child.Kind]metav1.Object{child.Deployment: a.deployment.DeepCopy()}
	if a.service != nil {
		objects[child.Service] = a.service.DeepCopy()
	}
	for _, kind := range []child.Kind{child.Deployment, child.Service} {
		object, exists := objects[kind]
		if !exists {
			continue
		}
		if of, marked := helm.ReleaseOf(object); marked && a.release != nil && of.Name == a.release.saved.Name && of.Namespace == a.release.saved.Namespace {
			helm.Unmark(object)
		}
		if path, why := plan.RefuseMetadata(object); path != "" {
			refused = append(refused, fmt.Errorf("%s %s cannot be adopted because of %s: %s", kind.Kind, object.GetName(), path, why))
		}
	}
	return refused
}

// mustStay reports whether the adoption is refused without the label of the pods, so that no user can accept its loss.
func mustStay(path string, refused []error) bool {
	label, isLabel := strings.CutPrefix(path, ".metadata.labels")
	key := "[" + strings.Trim(label, ".[]") + "]: "
	return isLabel && slices.ContainsFunc(refused, func(err error) bool {
		return slices.ContainsFunc([]string{"spec.template.metadata.labels", "spec.selector.matchLabels", "spec.selector"}, func(of string) bool {
			return strings.Contains(err.Error(), of+key)
		})
	})
}
