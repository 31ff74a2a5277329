// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// applyExamples applies the examples that work, and watches until all of them do.
func (d *demo) applyExamples(ctx context.Context) error {
	manifests, err := d.loadExamples()
	if err != nil {
		return err
	}
	if err := d.openNamespace(ctx); err != nil {
		return err
	}
	names := applicationNames(manifests)
	d.screen.printf("  %d objects into the namespace %s, %d of them Applications", len(manifests), namespace, len(names))
	began := time.Now()
	if err := d.applyAndWait(ctx, manifests, allWell); err != nil {
		return err
	}
	took := time.Since(began)
	applications := d.observer.list(names...)
	d.screen.print(tree(applications, d.screen.style, 0)...)
	d.seen.sawReady(applications, took)
	if slices.ContainsFunc(applications, lacksMetrics) {
		d.screen.tell(busy, "AutoscalingActive is False because nothing here serves metrics; until then autoscalers keep to minReplicas")
	}
	d.screen.tell(good, "%d Applications Ready, with %d children (%s)", d.seen.applications, d.seen.children, duration(took))
	return nil
}

// loadExamples reads the examples that can work in this cluster.
func (d *demo) loadExamples() ([]manifest, error) {
	minimal, err := loadFile(d.options.artifacts("examples", "minimal.yaml"))
	if err != nil {
		return nil, err
	}
	full, err := loadFile(d.options.artifacts("examples", "full.yaml"))
	if err != nil {
		return nil, err
	}
	shop, err := loadDir(d.options.artifacts("examples", "shop"))
	if err != nil {
		return nil, err
	}
	manifests := slices.Concat(minimal, shop)
	if d.cluster.simulated {
		manifests = append(manifests, full...)
	} else {
		d.screen.tell(busy, "full.yaml is left out: it wants a volume that several nodes can write to, which few clusters have")
	}
	if d.cluster.provisions {
		manifests = withoutKind(manifests, "PersistentVolume")
	}
	return manifests, nil
}

// applyAndWait applies the manifests and waits until each Application among them is as wanted. Meanwhile it shows them.
func (d *demo) applyAndWait(ctx context.Context, manifests []manifest, wanted func(*v1.Application) bool) error {
	names := applicationNames(manifests)
	stop := d.show(names...)
	defer stop()
	if err := d.applier.apply(ctx, manifests); err != nil {
		return err
	}
	return d.waitFor(ctx, names, wanted)
}

// waitFor waits until there are Applications of all these names, and each is as wanted.
func (d *demo) waitFor(ctx context.Context, names []string, wanted func(*v1.Application) bool) error {
	d.awaited = awaited{names: names, wanted: wanted}
	return d.observer.wait(ctx, func() bool {
		applications := d.observer.list(names...)
		for _, application := range applications {
			if !wanted(application) {
				return false
			}
		}
		return len(applications) == len(names)
	})
}

// repairDrift damages children of the shop, and measures how long that lasts.
func (d *demo) repairDrift(ctx context.Context) error {
	for _, damage := range damages() {
		d.screen.printf("  %s", damage.story)
		took, err := damage.repair(ctx, d.resourceOf(damage.kind))
		if err != nil {
			return err
		}
		d.seen.repairs = append(d.seen.repairs, repair{child: fmt.Sprintf("%s %s", damage.kind, damage.name), took: took})
		d.screen.tell(good, "repaired after %s", duration(took))
		var event *eventsv1.Event
		err = d.observer.wait(ctx, func() bool {
			event = d.observer.event(damage.told)
			return event != nil
		})
		if err != nil {
			return fmt.Errorf("%s %s was repaired, but an Event %s about it was %w", damage.kind, damage.name, v1.EventDriftRepaired, err)
		}
		d.screen.tell(good, "Event %s of Application %s: %s", event.Reason, event.Regarding.Name, event.Note)
	}
	// A Deployment at 0 may have lost pods before it was repaired.
	stop := d.show()
	defer stop()
	var names []string
	for _, application := range d.observer.list() {
		names = append(names, application.Name)
	}
	if err := d.waitFor(ctx, names, allWell); err != nil {
		return err
	}
	stop()
	d.screen.tell(good, "All %d Applications are Ready", len(names))
	return nil
}

// refuseInvalid applies what breaks a rule that no schema can tell. Where there is a webhook, nobody gets that far; where
// there is none, the API server accepts it and the controller refuses.
func (d *demo) refuseInvalid(ctx context.Context) error {
	manifests, err := loadFile(d.options.artifacts("examples", "broken", "wrong-port.yaml"))
	if err != nil {
		return err
	}
	if d.cluster.own != nil {
		return d.refuseAtOnce(ctx, manifests)
	}
	err = d.applyAndWait(ctx, manifests, func(application *v1.Application) bool {
		stalled := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionStalled)
		return isCurrent(application) && stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason == v1.ReasonInvalid
	})
	if err != nil {
		return err
	}
	for _, name := range applicationNames(manifests) {
		_, err := d.clients.kube.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("the Application %s is refused, but there is a Deployment of its name", name)
		}
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("get Deployment %s: %w", name, err)
		}
	}
	d.tellStalled(manifests)
	return nil
}

// webhooks is the name of the webhook configurations that the controller makes for itself.
const webhooks = "fairlead-out-of-cluster"

// refuseAtOnce wants the webhook to refuse the manifests, with the rule that they break.
func (d *demo) refuseAtOnce(ctx context.Context, manifests []manifest) error {
	configurations := d.clients.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, err := configurations.Get(ctx, webhooks, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("the controller has not registered its webhooks: %w", err)
	}
	refusal := d.applier.apply(ctx, manifests)
	if refusal == nil {
		return errors.New("the API server accepted it")
	}
	if !apierrors.IsInvalid(refusal) {
		return refusal
	}
	d.screen.tell(good, "Refused at once: %v", refusal)
	for _, name := range applicationNames(manifests) {
		d.seen.stalled = append(d.seen.stalled, name+": refused by the webhook")
	}
	return nil
}

// exceedDeadline applies an Application whose pods never start.
func (d *demo) exceedDeadline(ctx context.Context) error {
	if !d.cluster.simulated {
		d.seen.leftOut = "no simulated nodes, so no image that cannot be pulled"
		d.screen.tell(busy, "Left out: this cluster has no simulated nodes, which alone do as the Application's annotation says")
		return nil
	}
	manifests, err := loadFile(d.options.artifacts("examples", "broken", "wrong-image.yaml"))
	if err != nil {
		return err
	}
	err = d.applyAndWait(ctx, manifests, func(application *v1.Application) bool {
		progressing := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionProgressing)
		return isCurrent(application) && isTrue(application, v1.ConditionStalled) &&
			progressing != nil && progressing.Status == metav1.ConditionFalse && progressing.Reason == v1.ReasonProgressDeadlineExceeded
	})
	if err != nil {
		return err
	}
	d.tellStalled(manifests)
	return nil
}

// tellStalled shows the Applications of the manifests, which are stalled, and remembers why they are.
func (d *demo) tellStalled(manifests []manifest) {
	applications := d.observer.list(applicationNames(manifests)...)
	d.screen.print(tree(applications, d.screen.style, 0)...)
	for _, application := range applications {
		stalled := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionStalled)
		why := stalled.Reason
		if ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady); ready != nil && ready.Reason != why {
			why += ", because " + ready.Reason
		}
		d.seen.stalled = append(d.seen.stalled, fmt.Sprintf("%s: %s", application.Name, why))
		d.screen.tell(good, "Stalled=True/%s, as it should be", stalled.Reason)
	}
}
