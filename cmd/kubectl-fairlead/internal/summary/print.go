// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree"
)

// Print writes the summary as text; wide adds all conditions.
func (s Summary) Print(to *screen.Screen, now time.Time, wide bool) {
	to.Line(to.Paint(screen.Bold, s.Namespace+"/"+s.Name) + "  " + to.Health(s.Health, s.headline(now)))
	if s.Message != "" {
		to.Hanging("  ", s.Message)
	}
	to.Blank()
	to.Row("Image", s.imageText())
	if !s.observed {
		to.Row("Rollout", "not observed yet")
	} else {
		to.Row("Rollout", s.Rollout.text(to))
	}
	if s.observed && s.podsKnown() && s.orphaned == 0 {
		to.Row("Pods", podsText(to, s.Pods, s.Rollout.Desired))
	}
	for i, url := range s.URLs {
		label := ""
		if i == 0 {
			label = "URLs"
		}
		to.Row(label, url)
	}
	if s.Routes != "" {
		text := s.Routes
		if s.RoutesHint != "" {
			text += "; " + to.Paint(screen.Yellow, s.RoutesHint)
		}
		to.Row("Routes", text)
	}
	if a := s.Autoscaler; a != nil {
		pods := "pods"
		if a.Current == 1 {
			pods = "pod"
		}
		text := fmt.Sprintf("%d %s of %d to %d", a.Current, pods, a.Min, a.Max)
		if a.Desired != a.Current && a.Problem == "" {
			text += fmt.Sprintf(", on the way to %d", a.Desired)
		}
		if a.Problem != "" {
			text += "; " + to.Paint(screen.Red, a.Problem)
		}
		to.Row("Autoscaler", text)
	}
	if s.Class != nil {
		to.Row("Class", fmt.Sprintf("%s (generation %d)", s.Class.Name, s.Class.Generation))
	}
	for _, note := range slices.Concat(s.Policies, s.Notes) {
		to.Row("Note", to.Paint(screen.Yellow, note))
	}
	if wide {
		for _, condition := range s.Conditions {
			to.Row("Condition", strings.TrimSpace(fmt.Sprintf("%s=%s %s  %s", condition.Type, condition.Status, condition.Reason, condition.Message)))
		}
	}
	if len(s.Unreadable) > 0 {
		to.Row("Not shown", "you may not list "+strings.Join(s.Unreadable, ", "))
	}
	s.printEvents(to, now)
}

func (s Summary) headline(now time.Time) string {
	word := "Not ready"
	switch {
	case s.Health == tree.Suspended:
		return "Suspended"
	case s.Ready:
		word = "Ready"
	}
	age := func(since time.Time) string { return duration.HumanDuration(now.Sub(since)) }
	if s.Since != nil && !s.Ready && s.reasonSince == nil {
		word += " for " + age(*s.Since) // Perhaps with another reason at first.
	}
	if s.Reason != "" && s.Reason != word {
		word += ": " + s.Reason
	}
	if s.Stalled {
		word += " (stalled)"
	}
	switch {
	case s.Ready && s.Since != nil:
		word += ", for " + age(*s.Since)
	case s.reasonSince != nil:
		word += ", for " + age(*s.reasonSince)
	}
	return word
}

// podsKnown reports whether the user may list the pods, and what shows that they are the Application's.
func (s Summary) podsKnown() bool {
	return !slices.ContainsFunc([]string{child.Deployment.Resource, "replicasets", "pods"}, func(resource string) bool { return slices.Contains(s.Unreadable, resource) })
}

// imageText has both images where the spec does not run, or not yet.
func (s Summary) imageText() string {
	// No revision names the image of adopted pods.
	adopted := s.RunningImage == "" && (s.Rollout.Updated > 0 || s.Rollout.Available > 0)
	switch {
	case s.RunningImage == s.Image, adopted:
		return s.Image
	case s.RunningImage == "" || s.orphaned == 0 && len(s.Pods) == 0 && s.podsKnown():
		return s.Image + ", which no pod of the Application runs"
	}
	return fmt.Sprintf("%s runs; the spec says %s", s.RunningImage, s.Image)
}

func (r Rollout) text(to *screen.Screen) string {
	parts := []string{fmt.Sprintf("%d of %d pods updated, %d available", r.Updated, r.Desired, r.Available)}
	if r.Desired == 0 && r.Updated == 0 && r.Available == 0 {
		parts[0] = "no pods to update" // There is no Deployment of the Application, or it asks for none.
	}
	if r.withoutDeployment {
		parts[0] = "no Deployment"
	}
	if r.Revision > 0 {
		revision := fmt.Sprintf("revision %d", r.Revision)
		switch {
		case r.RolledBackFrom > 0:
			revision += fmt.Sprintf(", rolled back from %d", r.RolledBackFrom)
		case r.LastHealthy > 0 && r.LastHealthy != r.Revision:
			revision += fmt.Sprintf(", last healthy %d", r.LastHealthy)
		}
		parts = append(parts, revision)
	}
	if r.Outdated {
		parts = append(parts, "the spec asks for other pods")
	}
	if bar := r.bar(); !r.withoutDeployment && bar != "" && to.Terminal() {
		parts = append([]string{bar}, parts...)
	}
	return strings.Join(parts, "; ")
}

// bar draws how many of the desired pods are updated and available.
func (r Rollout) bar() string {
	const cells = 10
	if r.Desired <= 0 {
		return ""
	}
	done := min(cells, cells*int(min(r.Updated, r.Available))/int(r.Desired))
	return strings.Repeat("█", done) + strings.Repeat("░", cells-done)
}

func podsText(to *screen.Screen, groups []PodGroup, desired int32) string {
	if len(groups) == 0 && desired == 0 {
		return "none"
	}
	if len(groups) == 0 {
		return fmt.Sprintf("none of %d", desired)
	}
	parts := make([]string, 0, len(groups))
	for _, group := range groups {
		part := fmt.Sprintf("%d %s", group.Count, group.Reason)
		switch group.Health {
		case tree.Healthy:
			part = to.Paint(screen.Green, part)
		case tree.Degraded, tree.Missing:
			part = to.Paint(screen.Red, part)
		case tree.Progressing, tree.Suspended, tree.Unknown:
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func (s Summary) printEvents(to *screen.Screen, now time.Time) {
	if len(s.Events) == 0 {
		return
	}
	to.Blank()
	to.Line("Events")
	for _, event := range s.Events {
		reason := event.Reason
		if event.Type == corev1.EventTypeWarning {
			reason = to.Paint(screen.Yellow, reason)
		}
		to.Hanging(fmt.Sprintf("  %-5s ", duration.HumanDuration(now.Sub(event.Time))), reason+"  "+event.Message)
	}
}
