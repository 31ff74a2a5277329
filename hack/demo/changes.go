// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// changes says in lines what became of an Application between two sights of it. Where there is no terminal to draw a
// tree on, these lines are the progress. before is nil for the first sight.
func changes(before, after *v1.Application, s style) []line {
	if before == nil {
		before = &v1.Application{}
	}
	var lines []line
	tell := func(mark tone, format string, args ...any) {
		lines = append(lines, line{s.mark(mark), text(" %s: ", after.Name), text(format, args...)})
	}
	for _, group := range changedChildren(before.Status.Resources, after.Status.Resources) {
		tell(childTone(group.state), "%s", group)
	}
	var rest []string
	worst := good
	for _, condition := range after.Status.Conditions {
		was := meta.FindStatusCondition(before.Status.Conditions, condition.Type)
		same := was != nil && was.Status == condition.Status && was.Reason == condition.Reason
		mark := conditionTone(after, condition)
		switch {
		case condition.Type == v1.ConditionReady && (!same || was.Message != condition.Message):
			tell(mark, "%s: %s", conditionText(condition), condition.Message)
		case condition.Type != v1.ConditionReady && !same:
			rest = append(rest, conditionText(condition))
			worst = worse(worst, mark)
		}
	}
	for _, condition := range before.Status.Conditions {
		if meta.FindStatusCondition(after.Status.Conditions, condition.Type) == nil {
			rest = append(rest, condition.Type+" is over")
		}
	}
	if len(rest) > 0 {
		tell(worst, "%s", strings.Join(rest, ", "))
	}
	return lines
}

func conditionText(condition metav1.Condition) string {
	if condition.Type == condition.Reason {
		return fmt.Sprintf("%s=%s", condition.Type, condition.Status)
	}
	return fmt.Sprintf("%s=%s/%s", condition.Type, condition.Status, condition.Reason)
}

// worse returns the worse of two tones of conditions.
func worse(a, b tone) tone {
	if a == bad || b == bad {
		return bad
	}
	if a == busy || b == busy {
		return busy
	}
	return good
}

// childGroup are children that came into one state at the same time, for the same reason.
type childGroup struct {
	state   v1.ResourceState
	message string
	names   []string
}

func (g childGroup) String() string {
	shown := fmt.Sprintf("%s %s", strings.Join(g.names, ", "), g.state)
	if g.message != "" {
		shown += ": " + g.message
	}
	return shown
}

// gone is the state of a child that is not listed any more.
const gone v1.ResourceState = "gone"

func changedChildren(before, after []v1.ResourceStatus) []childGroup {
	var groups []childGroup
	add := func(child v1.ResourceStatus, state v1.ResourceState, message string) {
		for i := range groups {
			if groups[i].state == state && groups[i].message == message {
				groups[i].names = append(groups[i].names, child.Kind+" "+child.Name)
				return
			}
		}
		groups = append(groups, childGroup{state: state, message: message, names: []string{child.Kind + " " + child.Name}})
	}
	for _, child := range after {
		was := findChild(before, child)
		if was == nil || was.State != child.State || was.UID != child.UID {
			add(child, child.State, child.Message)
		}
	}
	for _, child := range before {
		if findChild(after, child) == nil {
			add(child, gone, "")
		}
	}
	return groups
}

func findChild(children []v1.ResourceStatus, like v1.ResourceStatus) *v1.ResourceStatus {
	for i := range children {
		if c := &children[i]; c.Group == like.Group && c.Kind == like.Kind && c.Name == like.Name {
			return c
		}
	}
	return nil
}
