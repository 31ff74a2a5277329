// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"fairlead.dev/fairlead/hack/internal/steps"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// awaited are Applications that the demo waits for, and how they should be.
type awaited struct {
	names  []string
	wanted func(*v1.Application) bool
}

// list returns the Applications of these names, or all for none, by name.
func (d *demo) list(ctx context.Context, names ...string) ([]*v1.Application, error) {
	all, err := d.fairlead.AppsV1().Applications(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list Applications: %w", err)
	}
	var list []*v1.Application
	for i := range all.Items {
		if len(names) == 0 || slices.Contains(names, all.Items[i].Name) {
			list = append(list, &all.Items[i])
		}
	}
	return list, nil
}

// await waits until there are Applications of all these names, and each is as wanted. Meanwhile it prints what changes. It
// returns them.
func (d *demo) await(ctx context.Context, names []string, wanted func(*v1.Application) bool) (list []*v1.Application, err error) {
	d.awaited = awaited{names, wanted}
	printed := d.newChanges()
	err = steps.Await(ctx, d.out, "Applications", func(ctx context.Context) (bool, string, error) {
		if list, err = d.list(ctx, names...); err != nil {
			return false, "", err
		}
		reached := 0
		for _, application := range list {
			if wanted(application) {
				reached++
			}
		}
		printed.print(list)
		return reached == len(names), fmt.Sprintf("%d of %d are as expected", reached, len(names)), nil
	})
	return list, err
}

// showChanges prints what becomes of all Applications, until ctx ends.
func (d *demo) showChanges(ctx context.Context) error {
	printed := d.newChanges()
	return steps.Await(ctx, d.out, "Ctrl-C", func(ctx context.Context) (bool, string, error) {
		list, err := d.list(ctx)
		printed.print(list)
		return false, "", err
	})
}

// changes prints Applications each time that their headline has changed. One that is well from the start is no news.
type changes struct {
	out       *steps.Printer
	began     time.Time
	headlines map[string]string
}

func (d *demo) newChanges() *changes {
	return &changes{out: d.out, began: time.Now(), headlines: map[string]string{}}
}

func (c *changes) print(list []*v1.Application) {
	for _, application := range list {
		headline := headline(application)
		if ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady); ready != nil && ready.Status != metav1.ConditionTrue {
			headline = append(headline, steps.Plain.Textf("  %s", ready.Message))
		}
		before, known := c.headlines[application.Name]
		text := headline.String()
		c.headlines[application.Name] = text
		if before != text && (known || !allWell(application)) {
			c.out.Print(append(steps.Line{steps.Faint.Textf("  %5.1fs  ", time.Since(c.began).Seconds())}, headline...))
		}
	}
}

// printAwaited prints the Applications that were waited for last and are not as wanted.
func (d *demo) printAwaited(ctx context.Context, _ steps.Step) {
	if d.awaited.wanted == nil {
		return
	}
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, err := d.list(ctx, d.awaited.names...)
	if err != nil {
		return // The API server is gone, which has been printed.
	}
	for _, application := range list {
		if !d.awaited.wanted(application) {
			d.out.Print(describe(application)...)
		}
	}
}

// awaitEvent waits for an Event that fits, and prints it.
func (d *demo) awaitEvent(ctx context.Context, reason string, fits func(*eventsv1.Event) bool) error {
	selector := fields.OneTermEqualSelector("reason", reason).String()
	return steps.Await(ctx, d.out, "an Event "+reason, func(ctx context.Context) (bool, string, error) {
		events, err := d.kube.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: selector})
		if err != nil {
			return false, "", err
		}
		for i := range events.Items {
			if event := &events.Items[i]; fits(event) {
				d.out.Good("Event %s of Application %s: %s", event.Reason, event.Regarding.Name, event.Note)
				return true, "", nil
			}
		}
		return false, fmt.Sprintf("%d others", len(events.Items)), nil
	})
}

// headline is an Application in one line.
func headline(application *v1.Application) steps.Line {
	status := &application.Status
	mark, reason := steps.Busy, "not seen by the controller yet"
	ready := meta.FindStatusCondition(status.Conditions, v1.ConditionReady)
	if ready != nil {
		mark, reason = conditionTone(application, ready), ready.Reason
	}
	line := steps.Line{steps.Mark(mark), steps.Strong.Textf(" %-11s", application.Name), mark.Textf("  %s", reason)}
	if ready != nil && len(status.Resources) > 0 {
		line = append(line, steps.Plain.Textf("  %d/%d pods", status.AvailableReplicas, status.DesiredReplicas))
	}
	if len(status.URLs) > 0 {
		line = append(line, steps.Faint.Textf("  %s", status.URLs[0]))
	}
	return line
}

// describe is an Application with its conditions, problems and children.
func describe(application *v1.Application) []steps.Line {
	lines := []steps.Line{headline(application)}
	indent := steps.Plain.Textf("    ")
	conditions := steps.Line{indent}
	message := ""
	for i := range application.Status.Conditions {
		condition := &application.Status.Conditions[i]
		mark := conditionTone(application, condition)
		conditions = append(conditions, steps.Mark(mark), steps.Plain.Textf(" %s  ", condition.Type))
		// What is wrong, once: several conditions may have the same message.
		if mark != steps.Good && condition.Message != "" && condition.Message != message {
			message = condition.Message
			lines = append(lines, steps.Line{indent, mark.Textf("%s: %s: %s", condition.Type, condition.Reason, message)})
		}
	}
	if len(application.Status.Conditions) > 0 {
		lines = slices.Insert(lines, 1, conditions)
	}
	for _, problem := range application.Status.Problems {
		if !strings.Contains(message, strings.TrimSuffix(problem.Message, ".")) {
			lines = append(lines, steps.Line{indent, steps.Bad.Textf("%s on %d pods: %s", problem.Reason, problem.Pods, problem.Message)})
		}
	}
	return append(lines, describeChildren(application.Status.Resources, indent)...)
}

// describeChildren puts children of the same state on one line.
func describeChildren(children []v1.ResourceStatus, indent steps.Text) []steps.Line {
	var states []string
	names := map[string][]string{}
	tones := map[string]steps.Tone{}
	for _, child := range children {
		state := string(child.State)
		if child.Message != "" {
			state += ": " + child.Message
		}
		if names[state] == nil {
			states = append(states, state)
			tones[state] = childTone(child.State)
		}
		names[state] = append(names[state], child.Kind+" "+child.Name)
	}
	var lines []steps.Line
	for _, state := range states {
		lines = append(lines, steps.Line{
			indent, steps.Mark(tones[state]), steps.Plain.Textf(" %s: ", strings.Join(names[state], ", ")), tones[state].Textf("%s", state),
		})
	}
	return lines
}

func childTone(state v1.ResourceState) steps.Tone {
	switch state {
	case v1.ResourceSynced:
		return steps.Good
	case v1.ResourcePending:
		return steps.Busy
	default:
		return steps.Bad
	}
}
