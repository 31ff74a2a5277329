// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"fairlead.dev/fairlead/hack/internal/objects"
	"fairlead.dev/fairlead/hack/internal/steps"
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

func (d *demo) tourSteps() []steps.Step {
	return []steps.Step{{
		Title:    "Apply an ApplicationClass, a Secret and an Application that uses both",
		Expected: "the Application with Ready=True for its current generation, and every child Synced",
		Timeout:  time.Minute,
		Run:      d.applyTour,
	}, {
		Title:    "Ship an image that cannot be pulled",
		Expected: "RolledBack=True after the deadline of 10 seconds, with pods of the former revision available",
		Timeout:  time.Minute,
		Run:      d.shipBadImage,
	}, {
		Title:    "Ship one that can",
		Expected: "Ready=True with the new image, and no condition RolledBack",
		Timeout:  time.Minute,
		Run:      d.shipGoodImage,
	}, {
		Title:    "Edit the Secret that the pods use",
		Expected: "an Event ConfigChanged, a new revision, and Ready=True with it",
		Timeout:  time.Minute,
		Run:      d.editSecret,
	}, {
		Title:    "Edit the class",
		Expected: "the new grace period on the Deployment, and Ready=True",
		Timeout:  time.Minute,
		Run:      d.editClass,
	}, {
		Title:    "Install the Gateway API, and turn the Ingress into an HTTPRoute",
		Expected: "an HTTPRoute, RoutesReady as the gateway says, and soon no Ingress",
		Timeout:  time.Minute,
		Run:      d.turnIntoHTTPRoute,
	}}
}

func (d *demo) applyTour(ctx context.Context) error {
	manifests, err := objects.ReadDir(d.options.artifacts("examples", "tour"))
	if err != nil {
		return err
	}
	if err := d.createNamespace(ctx); err != nil {
		return err
	}
	applications, err := d.applyAndAwait(ctx, manifests, allWell)
	if err != nil {
		return err
	}
	d.printConditions(applications)
	return nil
}

// shipBadImage makes the simulated nodes fail to pull the image, by an annotation.
func (d *demo) shipBadImage(ctx context.Context) error {
	return d.editAndAwait(ctx, `{"spec": {
		"image": "ghcr.io/stefanprodan/podinfo:no-such-tag",
		"podMetadata": {"annotations": {"simulate.fairlead.dev/behavior": "image-pull-error"}}}}`,
		func(application *v1.Application) bool {
			return isCurrent(application) && isTrue(application, v1.ConditionRolledBack) && isTrue(application, v1.ConditionAvailable) &&
				application.Status.AvailableReplicas == *application.Spec.Replicas
		})
}

func (d *demo) shipGoodImage(ctx context.Context) error {
	return d.editAndAwait(ctx, `{"spec": {"image": "ghcr.io/stefanprodan/podinfo:6.7.1", "podMetadata": null}}`,
		func(application *v1.Application) bool {
			return allWell(application) && application.Status.Image == application.Spec.Image &&
				meta.FindStatusCondition(application.Status.Conditions, v1.ConditionRolledBack) == nil
		})
}

func (d *demo) editSecret(ctx context.Context) error {
	return d.awaitRevision(ctx, func() error {
		_, err := d.kube.CoreV1().Secrets(namespace).Patch(ctx, tourSecret, types.MergePatchType,
			[]byte(`{"stringData": {"PASSWORD": "spring-tide"}}`), metav1.PatchOptions{FieldManager: fieldManager})
		if err != nil {
			return fmt.Errorf("edit Secret %s: %w", tourSecret, err)
		}
		return d.awaitEvent(ctx, v1.EventConfigChanged, func(event *eventsv1.Event) bool { return event.Regarding.Name == toured })
	})
}

func (d *demo) editClass(ctx context.Context) error {
	const seconds = 40
	err := d.awaitRevision(ctx, func() error {
		_, err := d.fairlead.AppsV1().ApplicationClasses().Patch(ctx, tourClass, types.MergePatchType,
			fmt.Appendf(nil, `{"spec": {"defaults": {"terminationGracePeriodSeconds": %d}}}`, seconds), metav1.PatchOptions{FieldManager: fieldManager})
		if err != nil {
			return fmt.Errorf("edit ApplicationClass %s: %w", tourClass, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	deployment, err := d.kube.AppsV1().Deployments(namespace).Get(ctx, toured, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get Deployment %s: %w", toured, err)
	}
	if got := ptr.Deref(deployment.Spec.Template.Spec.TerminationGracePeriodSeconds, 0); got != seconds {
		return fmt.Errorf("the grace period of Deployment %s is %d s, but the class says %d", toured, got, seconds)
	}
	d.out.Good("The pods have a grace period of %d s now; the spec says nothing about it, status.class.defaults does", seconds)
	return nil
}

// awaitRevision makes an edit that gives the pods a new revision, and waits until the Application is well with it.
func (d *demo) awaitRevision(ctx context.Context, edit func() error) error {
	before, err := d.fairlead.AppsV1().Applications(namespace).Get(ctx, toured, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := edit(); err != nil {
		return err
	}
	return d.awaitToured(ctx, func(application *v1.Application) bool {
		return allWell(application) && currentRevision(application) > currentRevision(before)
	})
}

// currentRevision is 0 before there is one.
func currentRevision(application *v1.Application) int64 {
	if application.Status.Revision == nil {
		return 0
	}
	return application.Status.Revision.Current
}

// editAndAwait edits the Application as kubectl patch would, and waits until it is as wanted.
func (d *demo) editAndAwait(ctx context.Context, patch string, wanted func(*v1.Application) bool) error {
	edited, err := d.fairlead.AppsV1().Applications(namespace).Patch(ctx, toured, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: fieldManager})
	if err != nil {
		return fmt.Errorf("edit Application %s: %w", toured, err)
	}
	return d.awaitToured(ctx, func(application *v1.Application) bool {
		// Not as it was before the edit.
		return application.Generation >= edited.Generation && wanted(application)
	})
}

// awaitToured waits until the Application is as wanted, and prints its conditions.
func (d *demo) awaitToured(ctx context.Context, wanted func(*v1.Application) bool) error {
	applications, err := d.await(ctx, []string{toured}, wanted)
	if err != nil {
		return err
	}
	d.printConditions(applications)
	return nil
}

// printConditions prints Applications with each of their conditions in full.
func (d *demo) printConditions(applications []*v1.Application) {
	for _, application := range applications {
		indent := steps.Plain.Textf("    ")
		d.out.Print(headline(application))
		for i := range application.Status.Conditions {
			condition := &application.Status.Conditions[i]
			d.out.Print(steps.Line{
				indent, steps.Mark(conditionTone(application, condition)),
				steps.Plain.Textf(" %s=%s/%s: %s", condition.Type, condition.Status, condition.Reason, condition.Message),
			})
		}
		d.out.Print(describeChildren(application.Status.Resources, indent)...)
		if revision := application.Status.Revision; revision != nil {
			d.out.Printf("    revision %d, the last healthy one is %d", revision.Current, revision.LastHealthy)
		}
	}
}
