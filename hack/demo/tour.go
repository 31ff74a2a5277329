// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// The tour follows one Application through what happens after its first day. It is the demo with other steps: what
// is shown is what the Application's conditions say.

// toured is the Application of the tour, and tourSecret and tourClass are what it uses.
const (
	toured     = "harbour"
	tourSecret = "harbour-login"
	tourClass  = "tour"
)

func (d *demo) tourSteps() []step {
	return []step{
		{
			title:    "Apply an ApplicationClass, a Secret and an Application that uses both",
			expected: "the Application with Ready=True for its current generation, and every child Synced",
			deadline: time.Minute,
			run:      d.applyTour,
		},
		{
			title:    "Ship an image that cannot be pulled",
			expected: "RolledBack=True after the deadline of 10 seconds, with pods of the former revision available",
			deadline: time.Minute,
			run:      d.shipBadImage,
		},
		{
			title:    "Ship one that can",
			expected: "Ready=True with the new image, and no condition RolledBack",
			deadline: time.Minute,
			run:      d.shipGoodImage,
		},
		{
			title:    "Edit the Secret that the pods use",
			expected: "an Event ConfigChanged, a new revision, and Ready=True with it",
			deadline: time.Minute,
			run:      d.editSecret,
		},
		{
			title:    "Edit the class",
			expected: "the new grace period on the Deployment, and Ready=True",
			deadline: time.Minute,
			run:      d.editClass,
		},
		{
			title:    "Install the Gateway API, and turn the Ingress into an HTTPRoute",
			expected: "an HTTPRoute and no Ingress, and RoutesReady as the gateway says",
			deadline: time.Minute,
			run:      d.turnIntoHTTPRoute,
		},
	}
}

func (d *demo) applyTour(ctx context.Context) error {
	manifests, err := loadDir(d.options.artifacts("examples", "tour"))
	if err != nil {
		return err
	}
	if err := d.openNamespace(ctx); err != nil {
		return err
	}
	if err := d.applyAndWait(ctx, manifests, allWell); err != nil {
		return err
	}
	d.tellConditions()
	return nil
}

// shipBadImage tells the simulated nodes that they cannot pull it. Real ones would find out.
func (d *demo) shipBadImage(ctx context.Context) error {
	return d.editAndWait(ctx, `{"spec": {
		"image": "ghcr.io/stefanprodan/podinfo:no-such-tag",
		"podMetadata": {"annotations": {"simulate.fairlead.dev/behavior": "image-pull-error"}}}}`,
		func(application *v1.Application) bool {
			return isCurrent(application) && isTrue(application, v1.ConditionRolledBack) && isTrue(application, v1.ConditionAvailable) &&
				application.Status.AvailableReplicas == *application.Spec.Replicas
		})
}

func (d *demo) shipGoodImage(ctx context.Context) error {
	return d.editAndWait(ctx, `{"spec": {"image": "ghcr.io/stefanprodan/podinfo:6.7.1", "podMetadata": null}}`,
		func(application *v1.Application) bool {
			return allWell(application) && application.Status.Image == application.Spec.Image &&
				meta.FindStatusCondition(application.Status.Conditions, v1.ConditionRolledBack) == nil
		})
}

func (d *demo) editSecret(ctx context.Context) error {
	err := d.awaitRevision(ctx, func() error {
		_, err := d.clients.kube.CoreV1().Secrets(namespace).Patch(ctx, tourSecret, types.MergePatchType,
			[]byte(`{"stringData": {"PASSWORD": "spring-tide"}}`), metav1.PatchOptions{FieldManager: fieldManager})
		return err
	})
	if err != nil {
		return fmt.Errorf("edit Secret %s: %w", tourSecret, err)
	}
	if err := d.tellEvent(ctx, v1.EventConfigChanged); err != nil {
		return err
	}
	d.tellConditions()
	return nil
}

func (d *demo) editClass(ctx context.Context) error {
	const seconds = 40
	err := d.awaitRevision(ctx, func() error {
		_, err := d.clients.fairlead.AppsV1().ApplicationClasses().Patch(ctx, tourClass, types.MergePatchType,
			fmt.Appendf(nil, `{"spec": {"defaults": {"terminationGracePeriodSeconds": %d}}}`, seconds), metav1.PatchOptions{FieldManager: fieldManager})
		return err
	})
	if err != nil {
		return fmt.Errorf("edit ApplicationClass %s: %w", tourClass, err)
	}
	deployment, err := d.clients.kube.AppsV1().Deployments(namespace).Get(ctx, toured, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get Deployment %s: %w", toured, err)
	}
	if got := gracePeriod(deployment); got != seconds {
		return fmt.Errorf("the grace period of Deployment %s is %d s, but the class says %d", toured, got, seconds)
	}
	d.screen.tell(good, "The pods have a grace period of %d s now; the spec says nothing about it, status.class.defaults does", seconds)
	d.tellConditions()
	return nil
}

// awaitRevision makes an edit that gives the pods a new revision, and waits until the Application is well with it.
func (d *demo) awaitRevision(ctx context.Context, edit func() error) error {
	before := int64(0)
	for _, application := range d.observer.list(toured) {
		before = currentRevision(application)
	}
	stop := d.show(toured)
	defer stop()
	if err := edit(); err != nil {
		return err
	}
	return d.waitFor(ctx, []string{toured}, func(application *v1.Application) bool {
		return allWell(application) && currentRevision(application) > before
	})
}

// currentRevision is 0 before there is one.
func currentRevision(application *v1.Application) int64 {
	if application.Status.Revision == nil {
		return 0
	}
	return application.Status.Revision.Current
}

func gracePeriod(deployment *appsv1.Deployment) int64 {
	if seconds := deployment.Spec.Template.Spec.TerminationGracePeriodSeconds; seconds != nil {
		return *seconds
	}
	return 0
}

// editAndWait edits the Application as kubectl patch would, waits until it is as wanted, and tells its conditions.
func (d *demo) editAndWait(ctx context.Context, patch string, wanted func(*v1.Application) bool) error {
	stop := d.show(toured)
	defer stop()
	edited, err := d.clients.fairlead.AppsV1().Applications(namespace).Patch(ctx, toured, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return fmt.Errorf("edit Application %s: %w", toured, err)
	}
	err = d.waitFor(ctx, []string{toured}, func(application *v1.Application) bool {
		// Not as it was before the edit.
		return application.Generation >= edited.Generation && wanted(application)
	})
	if err != nil {
		return err
	}
	stop()
	d.tellConditions()
	return nil
}

// tellConditions prints the Application with each of its conditions in full.
func (d *demo) tellConditions() {
	for _, application := range d.observer.list(toured) {
		d.screen.print(tree([]*v1.Application{application}, d.screen.style, 0)...)
		for _, condition := range application.Status.Conditions {
			d.screen.print(line{
				text("  "), d.screen.style.mark(conditionTone(application, condition)),
				text(" %s=%s/%s: %s", condition.Type, condition.Status, condition.Reason, condition.Message),
			})
		}
		if revision := application.Status.Revision; revision != nil {
			d.screen.printf("    revision %d, the last healthy one is %d", revision.Current, revision.LastHealthy)
		}
	}
}

// tellEvent waits for an Event of the Application and prints it.
func (d *demo) tellEvent(ctx context.Context, reason string) error {
	var event *eventsv1.Event
	err := d.observer.wait(ctx, func() bool {
		event = d.observer.event(func(e *eventsv1.Event) bool { return e.Reason == reason && e.Regarding.Name == toured })
		return event != nil
	})
	if err != nil {
		return fmt.Errorf("an Event %s of Application %s: %w", reason, toured, err)
	}
	d.screen.tell(good, "Event %s: %s", event.Reason, event.Note)
	return nil
}
