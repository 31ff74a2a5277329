// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/tree"
)

const install = "'make install' in a checkout of Fairlead to install the CRDs"

// definitions finds CRDs that are missing, or about to be. One that is being deleted is still established, but takes no new object.
func (in Installation) definitions(now time.Time) Result {
	var missing, deleted []string
	for _, resource := range []string{v1.ApplicationResource, v1.ApplicationClassResource} {
		name := resource + "." + v1.SchemeGroupVersion.Group
		i := slices.IndexFunc(in.Definitions, func(d apiextensionsv1.CustomResourceDefinition) bool { return d.Name == name })
		switch {
		case i >= 0 && in.Definitions[i].DeletionTimestamp != nil:
			deleted = append(deleted, in.deletionOf(&in.Definitions[i], now))
		case i < 0 || !isTrue(&in.Definitions[i], apiextensionsv1.Established):
			missing = append(missing, name)
		}
	}
	switch {
	case len(deleted) > 0:
		if len(missing) > 0 {
			deleted = append(deleted, strings.Join(missing, " and ")+" not established")
		}
		return Result{Definitions, tree.Degraded, strings.Join(deleted, "; "), "The deletion cannot be undone, and ends when nothing holds the objects of the CRD any more. Then run " + install}
	case len(missing) > 0:
		return Result{Definitions, tree.Missing, strings.Join(missing, " and ") + " not established", "Run " + install}
	default:
		return Result{Definitions, tree.Healthy, "established, on " + in.Server, ""}
	}
}

// established reports whether the cluster serves the resource.
func (in Installation) established(resource string) bool {
	return slices.ContainsFunc(in.Definitions, func(d apiextensionsv1.CustomResourceDefinition) bool {
		return d.Name == resource+"."+v1.SchemeGroupVersion.Group && isTrue(&d, apiextensionsv1.Established)
	})
}

// deletionOf tells since when a CRD is being deleted, and what it waits for.
func (in Installation) deletionOf(definition *apiextensionsv1.CustomResourceDefinition, now time.Time) string {
	message := fmt.Sprintf("%s is being deleted, for %s", definition.Name, duration.HumanDuration(now.Sub(definition.DeletionTimestamp.Time)))
	if n := len(in.Applications); n > 0 && strings.HasPrefix(definition.Name, v1.ApplicationResource+".") {
		var names []string
		for i := range in.Applications[:min(n, examples)] {
			names = append(names, nameOf(&in.Applications[i]))
		}
		return fmt.Sprintf("%s, and waits until %s gone, such as %s", message, counted(n, "Application is", "Applications are"), strings.Join(names, ", "))
	}
	if terminating := condition(definition, apiextensionsv1.Terminating); terminating != nil {
		message += ": " + terminating.Message
	}
	return message
}

func isTrue(definition *apiextensionsv1.CustomResourceDefinition, kind apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	found := condition(definition, kind)
	return found != nil && found.Status == apiextensionsv1.ConditionTrue
}

func condition(definition *apiextensionsv1.CustomResourceDefinition, kind apiextensionsv1.CustomResourceDefinitionConditionType) *apiextensionsv1.CustomResourceDefinitionCondition {
	i := slices.IndexFunc(definition.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &definition.Status.Conditions[i]
}
