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

// detail is how much of one Application is drawn.
type detail int

const (
	// headOnly is one line.
	headOnly detail = iota
	// brief adds what is wrong, and one line for all children.
	brief
	// full adds the conditions, and a line for each child.
	full
)

// tree draws Applications with their conditions and children. It needs no more than height lines, for which it leaves
// out details: first of those that are settled. A height of 0 means as many as it takes.
func tree(applications []*v1.Application, s style, height int) []line {
	details := make([]detail, len(applications))
	for i := range details {
		details[i] = full
	}
	layout := newLayout(applications)
	draw := func() []line {
		var lines []line
		for i, application := range applications {
			lines = append(lines, layout.application(application, s, details[i])...)
		}
		return lines
	}
	lines := draw()
	if height <= 0 {
		return lines
	}
	for _, less := range []struct {
		to      detail
		settled bool
	}{{brief, true}, {headOnly, true}, {brief, false}, {headOnly, false}} {
		for i, application := range applications {
			if len(lines) <= height {
				return lines
			}
			if settled(application) == less.settled {
				details[i] = less.to
				lines = draw()
			}
		}
	}
	if len(lines) > height {
		hidden := len(lines) - height + 1
		lines = append(lines[:height-1], line{toned(faint, "and %d more", hidden)})
	}
	return lines
}

// settled tells whether nothing is to be expected of the Application soon.
func settled(application *v1.Application) bool {
	ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
	return ready != nil && ready.ObservedGeneration == application.Generation &&
		(ready.Status == metav1.ConditionTrue || isTrue(application, v1.ConditionStalled))
}

// layout is the width of the columns, so that all Applications line up.
type layout struct {
	name, kind, child int
}

func newLayout(applications []*v1.Application) layout {
	var l layout
	for _, application := range applications {
		l.name = max(l.name, len(application.Name))
		for _, resource := range application.Status.Resources {
			l.kind = max(l.kind, len(resource.Kind))
			l.child = max(l.child, len(resource.Name))
		}
	}
	return l
}

func (l layout) application(application *v1.Application, s style, d detail) []line {
	lines := []line{l.head(application, s)}
	if d == headOnly {
		return lines
	}
	children := application.Status.Resources
	trunk := toned(faint, "%s ", s.choose("│", "|"))
	if len(children) == 0 {
		trunk = text("  ")
	}
	if ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady); ready != nil && ready.Status != metav1.ConditionTrue {
		lines = append(lines, line{trunk, text("  %s", ready.Message)})
		lines = append(lines, furtherProblems(application, *ready, trunk, s)...)
	}
	if d == brief {
		if len(children) > 0 {
			lines = append(lines, line{toned(faint, "%s ", s.choose("└─", "`-")), toned(faint, "%s", childrenInBrief(children))})
		}
		return lines
	}
	if conditions := conditionsInOneLine(application, s); len(conditions) > 0 {
		lines = append(lines, append(line{trunk, text("  ")}, conditions...))
	}
	for i, resource := range children {
		branch := s.choose("├─", "|-")
		if i == len(children)-1 {
			branch = s.choose("└─", "`-")
		}
		lines = append(lines, l.childLine(resource, branch, s))
	}
	return lines
}

// furtherProblems are those of the pods that Ready does not tell already.
func furtherProblems(application *v1.Application, ready metav1.Condition, trunk span, s style) []line {
	var lines []line
	for _, problem := range application.Status.Problems {
		if strings.Contains(ready.Message, strings.TrimSuffix(problem.Message, ".")) {
			continue
		}
		about := ""
		if problem.Pods > 0 {
			about += fmt.Sprintf(" on %d %s", problem.Pods, plural(int(problem.Pods), "pod"))
		}
		if problem.Container != "" {
			about += ", container " + problem.Container
		}
		lines = append(lines, line{trunk, text("  "), s.mark(bad), toned(bad, " %s", problem.Reason), text("%s: %s", about, problem.Message)})
	}
	return lines
}

func (l layout) head(application *v1.Application, s style) line {
	status := application.Status
	ready := meta.FindStatusCondition(status.Conditions, v1.ConditionReady)
	mark, reason := busy, "not seen by the controller yet"
	if ready != nil {
		mark, reason = conditionTone(application, *ready), ready.Reason
	}
	head := line{s.mark(mark), text(" "), toned(strong, "%s", pad(application.Name, l.name)), text("  "), toned(mark, "%s", reason)}
	if ready != nil && len(status.Resources) > 0 {
		head = append(head, text("  %d/%d %s", status.AvailableReplicas, status.DesiredReplicas, plural(int(status.DesiredReplicas), "pod")))
	}
	if len(status.URLs) > 0 {
		head = append(head, toned(faint, "  %s", status.URLs[0]))
	}
	return head
}

func (l layout) childLine(resource v1.ResourceStatus, branch string, s style) line {
	mark := childTone(resource.State)
	drawn := line{
		toned(faint, "%s ", branch),
		text("%s  %s  ", pad(resource.Kind, l.kind), pad(resource.Name, l.child)),
		s.mark(mark), toned(mark, " %s", resource.State),
	}
	if resource.Message != "" {
		drawn = append(drawn, text(": %s", resource.Message))
	}
	return drawn
}

func childTone(state v1.ResourceState) tone {
	switch state {
	case v1.ResourceSynced:
		return good
	case v1.ResourcePending, gone:
		return busy
	default:
		return bad
	}
}

// childrenInBrief counts the children by state, in the order in which the states appear.
func childrenInBrief(children []v1.ResourceStatus) string {
	var states []v1.ResourceState
	counts := map[v1.ResourceState]int{}
	for _, child := range children {
		if counts[child.State] == 0 {
			states = append(states, child.State)
		}
		counts[child.State]++
	}
	if len(states) == 1 {
		return fmt.Sprintf("%d %s %s", len(children), plural(len(children), "child"), states[0])
	}
	parts := make([]string, len(states))
	for i, state := range states {
		parts[i] = fmt.Sprintf("%d %s", counts[state], state)
	}
	return fmt.Sprintf("%d %s: %s", len(children), plural(len(children), "child"), strings.Join(parts, ", "))
}

func plural(count int, word string) string {
	switch {
	case count == 1:
		return word
	case word == "child":
		return "children"
	default:
		return word + "s"
	}
}
