// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

const (
	// patience is how long anything may take. It is far more than it does take, because the
	// machine may be busy with other tests.
	patience = 90 * time.Second
	// period is how often a test looks.
	period = 50 * time.Millisecond
)

// lessOften is how a test waits for what may take long: looking costs the API server and the test more than what they wait for.
var lessOften = wait.Backoff{Duration: period / 2, Factor: 1.5, Steps: 7}

// eventually waits until done, and fails the test if that takes longer than patience. saw is
// what was seen last, for the message.
func (e *env) eventually(what string, look func() (done bool, saw string)) {
	e.Helper()
	e.within(patience, what, look)
}

// within is eventually with another limit.
func (e *env) within(limit time.Duration, what string, look func() (done bool, saw string)) {
	e.Helper()
	var saw string
	limited, cancel := context.WithTimeout(e.Context(), limit)
	defer cancel()
	err := lessOften.DelayFunc().Until(limited, true, true, func(context.Context) (bool, error) {
		if err := e.died(); err != nil {
			return false, err
		}
		var done bool
		done, saw = look()
		return done, nil
	})
	if err != nil {
		e.Fatalf("waited for: %s\nlast saw:   %s\n%v\n%s", what, saw, err, e.diagnosis())
	}
}

// diagnosis is what one wants to see of a failed test: its Applications, and the log.
func (e *env) diagnosis() string {
	var b strings.Builder
	list, err := e.fairlead.AppsV1().Applications(e.namespace).List(context.WithoutCancel(e.Context()), metav1.ListOptions{})
	if err != nil {
		fmt.Fprintf(&b, "--- list Applications: %v\n", err)
		list = &v1.ApplicationList{}
	}
	for i := range list.Items {
		application := &list.Items[i]
		if !slices.Contains(e.mine, application.Name) {
			continue
		}
		application.ManagedFields = nil
		text, err := yaml.Marshal(application)
		if err != nil {
			text = []byte(err.Error())
		}
		fmt.Fprintf(&b, "--- Application %s\n%s", application.Name, text)
	}
	fmt.Fprintf(&b, "--- the controller's log, last entries\n%s\n", e.log.last(logLines, e.mine...))
	return b.String()
}

// application reads an Application that must be there.
func (e *env) application(name string) *v1.Application {
	e.Helper()
	return get[v1.Application](e, name)
}

// waitReady waits until the Application is Ready, and says so of its present generation.
func (e *env) waitReady(name string) *v1.Application {
	e.Helper()
	return e.waitCondition(name, v1.ConditionReady, metav1.ConditionTrue, "")
}

// waitCondition waits until the status is about the present generation and has the condition.
// An empty status means that the condition is gone; an empty reason, that any will do.
func (e *env) waitCondition(name, kind string, status metav1.ConditionStatus, reason string) *v1.Application {
	e.Helper()
	return e.waitApplication(name, fmt.Sprintf("%s=%s %s", kind, status, reason), func(application *v1.Application) bool {
		condition := meta.FindStatusCondition(application.Status.Conditions, kind)
		if condition == nil {
			return status == ""
		}
		return condition.Status == status && (reason == "" || condition.Reason == reason)
	})
}

// waitObserved waits until a sync of the present generation has ended.
func (e *env) waitObserved(name string) *v1.Application {
	e.Helper()
	return e.waitApplication(name, "status is about the present generation", func(*v1.Application) bool { return true })
}

// waitApplication waits until the status is about the present generation and is as wanted.
func (e *env) waitApplication(name, what string, wanted func(*v1.Application) bool) *v1.Application {
	e.Helper()
	var application *v1.Application
	e.eventually(fmt.Sprintf("Application %s: %s", name, what), func() (bool, string) {
		application = find[v1.Application](e, name)
		if application == nil {
			return false, "no Application"
		}
		observed := application.Status.ObservedGeneration == application.Generation
		return observed && wanted(application), describe(application)
	})
	return application
}

// waitGone waits until there is no such object any more.
func waitGone[T any, P object[T]](e *env, name string) {
	e.Helper()
	e.eventually(fmt.Sprintf("%T %s is gone", *new(T), name), func() (bool, string) {
		o := find[T, P](e, name)
		if o == nil {
			return true, ""
		}
		return false, fmt.Sprintf("UID %s, deletionTimestamp %v, finalizers %v", o.GetUID(), o.GetDeletionTimestamp(), o.GetFinalizers())
	})
}

// describe says in a few words what an Application's status says.
func describe(application *v1.Application) string {
	var b strings.Builder
	fmt.Fprintf(&b, "generation %d, observed %d;", application.Generation, application.Status.ObservedGeneration)
	for _, condition := range application.Status.Conditions {
		fmt.Fprintf(&b, " %s=%s/%s (%s);", condition.Type, condition.Status, condition.Reason, condition.Message)
	}
	for _, resource := range application.Status.Resources {
		if resource.State != v1.ResourceSynced {
			fmt.Fprintf(&b, " %s %s is %s (%s);", resource.Kind, resource.Name, resource.State, resource.Message)
		}
	}
	return b.String()
}

// resourceStatus returns what status says about a child, or a zero value.
func resourceStatus(application *v1.Application, kind child.Kind, name string) v1.ResourceStatus {
	for _, resource := range application.Status.Resources {
		if resource.Group == kind.Group && resource.Kind == kind.Kind && resource.Name == name {
			return resource
		}
	}
	return v1.ResourceStatus{}
}

// events returns the Events of the namespace about an Application, of one reason.
func (e *env) events(application, reason string) []eventsv1.Event {
	e.Helper()
	list, err := e.kube.EventsV1().Events(e.namespace).List(e.Context(), metav1.ListOptions{})
	if err != nil {
		e.Fatalf("list Events: %v", err)
	}
	var found []eventsv1.Event
	for _, event := range list.Items {
		if event.Regarding.Kind == v1.ApplicationKind && event.Regarding.Name == application && event.Reason == reason {
			found = append(found, event)
		}
	}
	return found
}

// waitEvent waits for an Event about an Application, and a child of it if kind is not "".
func (e *env) waitEvent(application, reason, kind, name string) eventsv1.Event {
	e.Helper()
	var found eventsv1.Event
	e.eventually(fmt.Sprintf("an Event %s about Application %s and %s %s", reason, application, kind, name), func() (bool, string) {
		events := e.events(application, reason)
		for _, event := range events {
			related := event.Related
			if kind == "" || related != nil && related.Kind == kind && related.Name == name {
				found = event
				return true, ""
			}
		}
		return false, fmt.Sprint(events)
	})
	return found
}
