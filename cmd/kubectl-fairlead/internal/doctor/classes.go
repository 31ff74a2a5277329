// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/tree"
)

// classes finds classes that are meant as the default, and are not, and those that are not ready because of what they say. Which namespaces the selectors of two defaults have in common
// is not looked at.
func (in Installation) classes() Result {
	if in.Unreadable[Definitions] == nil && len(in.Classes) == 0 && !in.established(v1.ApplicationClassResource) {
		return Result{Classes, tree.Unknown, "not known: the cluster serves no ApplicationClasses", ""}
	}
	var defaults, problems, next []string
	for _, one := range in.Classes {
		value, annotated := one.Annotations[v1.AnnotationDefaultClass]
		switch {
		case annotated && value != "true" && value != "false" && value != "":
			problems = append(problems, fmt.Sprintf("%s is no default: its annotation is-default is %q, and only \"true\" has an effect", one.Name, value))
		case class.IsMarkedDefault(one):
			defaults = append(defaults, one.Name)
			if instead := class.InsteadOf(one, in.Classes); instead != one {
				problems = append(problems, fmt.Sprintf("%s is the default nowhere: %s is marked too, and %s", one.Name, instead.Name, class.Precedence(instead, one)))
			}
		}
	}
	if len(problems) > 0 {
		next = append(next, "Correct or remove the annotation "+v1.AnnotationDefaultClass+" of the class")
	}
	var invalid, refusing []string
	for _, one := range in.Classes {
		ready := meta.FindStatusCondition(one.Status.Conditions, v1.ConditionReady)
		if ready == nil || ready.Status != metav1.ConditionFalse || ready.ObservedGeneration != one.Generation || ready.Reason == v1.ReasonRollingOut {
			continue
		}
		problems = append(problems, fmt.Sprintf("%s is not ready: %s", one.Name, strings.TrimSuffix(ready.Message, ".")))
		if ready.Reason == v1.ReasonInvalid {
			invalid = append(invalid, one.Name)
		} else {
			refusing = append(refusing, one.Name)
		}
	}
	if len(invalid) > 0 {
		next = append(next, "Correct ApplicationClass "+strings.Join(invalid, ", "))
	}
	if len(refusing) > 0 {
		next = append(next, "See which Applications, and why: kubectl fairlead classes "+strings.Join(refusing, " "))
	}
	if len(problems) > 0 {
		return Result{Classes, tree.Progressing, strings.Join(problems, "; "), strings.Join(next, ". ")}
	}
	message := counted(len(in.Classes), "ApplicationClass", "ApplicationClasses")
	if len(defaults) > 0 {
		message += ", default " + strings.Join(defaults, ", ")
	}
	return Result{Classes, tree.Healthy, message, ""}
}
