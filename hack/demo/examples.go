// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/hack/internal/objects"
	"fairlead.dev/fairlead/hack/internal/steps"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// applyExamples applies the examples that work, and waits until all of them do.
func (d *demo) applyExamples(ctx context.Context) error {
	manifests, err := d.readExamples()
	if err != nil {
		return err
	}
	if err := d.createNamespace(ctx); err != nil {
		return err
	}
	d.out.Printf("  %d objects into the namespace %s, %d of them Applications", len(manifests), namespace, len(applicationNames(manifests)))
	began := time.Now()
	applications, err := d.applyAndAwait(ctx, manifests, allWell)
	if err != nil {
		return err
	}
	d.seen.readyAfter = time.Since(began)
	for _, application := range applications {
		d.out.Print(describe(application)...)
		d.seen.children += len(application.Status.Resources)
	}
	d.seen.applications = len(applications)
	if slices.ContainsFunc(applications, lacksMetrics) {
		d.out.Busy("AutoscalingActive is False because nothing here serves metrics; until then autoscalers keep to minReplicas")
	}
	d.out.Good("%d Applications Ready, with %d children (%s)", d.seen.applications, d.seen.children, steps.Duration(d.seen.readyAfter))
	return nil
}

// readExamples reads the examples that can work in this cluster.
func (d *demo) readExamples() ([]*unstructured.Unstructured, error) {
	files := []string{d.options.artifacts("examples", "minimal.yaml")}
	if d.can.simulate {
		files = append(files, d.options.artifacts("examples", "full.yaml"))
	} else {
		d.out.Busy("full.yaml is left out: it wants a volume that several nodes can write to, which few clusters have")
	}
	single, err := objects.ReadFiles(files...)
	if err != nil {
		return nil, err
	}
	shop, err := objects.ReadDir(d.options.artifacts("examples", "shop"))
	manifests := slices.Concat(single, shop)
	if d.can.provision {
		manifests = slices.DeleteFunc(manifests, func(m *unstructured.Unstructured) bool { return m.GetKind() == "PersistentVolume" })
	}
	return manifests, err
}

// createNamespace creates the demo's namespace, which must be a new one.
func (d *demo) createNamespace(ctx context.Context) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	object.SetName(namespace)
	err := d.create(ctx, object)
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the namespace %s exists already, perhaps left behind by a demo that was killed; if you need nothing in it: kubectl delete namespace %s", namespace, namespace)
	}
	return err
}

// create creates an object that is in no namespace, and notes it for the end.
func (d *demo) create(ctx context.Context, object *unstructured.Unstructured) error {
	resource, err := d.objects.ResourceOf(object, "")
	if err != nil {
		return err
	}
	if _, err := resource.Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager}); err != nil {
		return fmt.Errorf("create %s: %w", objects.Name(object), err)
	}
	d.made = append(d.made, object)
	return nil
}

// apply applies the manifests in their order, to the demo's namespace.
func (d *demo) apply(ctx context.Context, manifests []*unstructured.Unstructured) error {
	for _, object := range manifests {
		if _, err := d.objects.ResourceOf(object, namespace); err != nil {
			return err
		}
		var err error
		if object.GetNamespace() == "" {
			// An object of others with this name is neither changed now nor deleted at the end.
			if err = d.create(ctx, object); apierrors.IsAlreadyExists(err) {
				err = nil
			}
		} else {
			err = d.objects.Apply(ctx, object)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// applyAndAwait applies the manifests and waits until each Application among them is as wanted.
func (d *demo) applyAndAwait(ctx context.Context, manifests []*unstructured.Unstructured, wanted func(*v1.Application) bool) ([]*v1.Application, error) {
	if err := d.apply(ctx, manifests); err != nil {
		return nil, err
	}
	return d.await(ctx, applicationNames(manifests), wanted)
}

func applicationNames(manifests []*unstructured.Unstructured) []string {
	var names []string
	for _, object := range manifests {
		if object.GroupVersionKind() == v1.SchemeGroupVersion.WithKind(v1.ApplicationKind) {
			names = append(names, object.GetName())
		}
	}
	return names
}

// repairDrift damages children of the shop, and measures how long that lasts.
func (d *demo) repairDrift(ctx context.Context) error {
	for _, damage := range damages() {
		d.out.Printf("  %s", damage.story)
		took, err := damage.repair(ctx, d.resourceOf(damage.kind))
		if err != nil {
			return err
		}
		d.seen.repairs = append(d.seen.repairs, fmt.Sprintf("%s %s %s", damage.kind, damage.name, steps.Duration(took)))
		d.out.Good("repaired after %s", steps.Duration(took))
		if err := d.awaitEvent(ctx, v1.EventDriftRepaired, damage.isAbout); err != nil {
			return fmt.Errorf("%s %s was repaired, but no Event was seen: %w", damage.kind, damage.name, err)
		}
	}
	// A Deployment at 0 may have lost pods before it was repaired.
	applications, err := d.list(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, application := range applications {
		names = append(names, application.Name)
	}
	if _, err := d.await(ctx, names, allWell); err != nil {
		return err
	}
	d.out.Good("All %d Applications are Ready", len(names))
	return nil
}

// refuseInvalid applies what breaks a rule that no schema can express. Where there is a webhook, the API server refuses it;
// where there is none, the API server stores it and the controller refuses it.
func (d *demo) refuseInvalid(ctx context.Context) error {
	manifests, err := objects.ReadFiles(d.options.artifacts("examples", "broken", "wrong-port.yaml"))
	if err != nil {
		return err
	}
	if d.cluster != nil {
		return d.refuseAtOnce(ctx, manifests)
	}
	applications, err := d.applyAndAwait(ctx, manifests, func(application *v1.Application) bool {
		stalled := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionStalled)
		return isCurrent(application) && stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason == v1.ReasonInvalid
	})
	if err != nil {
		return err
	}
	for _, application := range applications {
		if err := d.expectNone(ctx, child.Deployment, application.Name); err != nil {
			return err
		}
	}
	d.printStalled(applications)
	return nil
}

// expectNone fails if there is a child that should not be.
func (d *demo) expectNone(ctx context.Context, kind child.Kind, name string) error {
	_, err := d.resourceOf(kind).Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		return fmt.Errorf("there is a %s %s, which should not be", kind, name)
	}
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("get %s %s: %w", kind, name, err)
	}
	return nil
}

// webhooks is the name of the webhook configurations that the controller makes for itself.
const webhooks = "fairlead-out-of-cluster"

// refuseAtOnce wants the webhook to refuse the manifests, with the rule that they break.
func (d *demo) refuseAtOnce(ctx context.Context, manifests []*unstructured.Unstructured) error {
	configurations := d.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	err := steps.Await(ctx, d.out, "the controller to register its webhooks", func(ctx context.Context) (bool, string, error) {
		_, err := configurations.Get(ctx, webhooks, metav1.GetOptions{})
		return err == nil, "", err
	})
	if err != nil {
		return err
	}
	refusal := d.apply(ctx, manifests)
	if refusal == nil {
		return errors.New("the API server accepted it")
	}
	if !apierrors.IsInvalid(refusal) {
		return refusal
	}
	d.out.Good("Refused at once: %v", refusal)
	d.seen.stalled = append(d.seen.stalled, strings.Join(applicationNames(manifests), ", ")+": refused by the webhook")
	return nil
}

// exceedDeadline applies an Application whose pods never start.
func (d *demo) exceedDeadline(ctx context.Context) error {
	if !d.can.simulate {
		d.seen.leftOut = "no simulated nodes, so no image that cannot be pulled"
		d.out.Busy("Left out: this cluster has no simulated nodes, which alone do as the Application's annotation says")
		return nil
	}
	manifests, err := objects.ReadFiles(d.options.artifacts("examples", "broken", "wrong-image.yaml"))
	if err != nil {
		return err
	}
	applications, err := d.applyAndAwait(ctx, manifests, func(application *v1.Application) bool {
		progressing := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionProgressing)
		return isCurrent(application) && isTrue(application, v1.ConditionStalled) &&
			progressing != nil && progressing.Status == metav1.ConditionFalse && progressing.Reason == v1.ReasonProgressDeadlineExceeded
	})
	if err != nil {
		return err
	}
	d.printStalled(applications)
	return nil
}

// printStalled prints Applications that are stalled, and remembers why they are.
func (d *demo) printStalled(applications []*v1.Application) {
	for _, application := range applications {
		d.out.Print(describe(application)...)
		stalled := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionStalled)
		why := stalled.Reason
		if ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady); ready != nil && ready.Reason != why {
			why += ", because " + ready.Reason
		}
		d.seen.stalled = append(d.seen.stalled, application.Name+": "+why)
		d.out.Good("Stalled=True/%s, as it should be", stalled.Reason)
	}
}
