// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crd defines a resource, and tries which objects the API server accepts.
package crd

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

//go:embed ships.yaml
var definition string

// group is that of the labs.
const group = "labs.fairlead.dev"

// yard builds ships, of each version.
type yard struct {
	lab    *lab.Lab
	client dynamic.Interface
}

// Lab goes through the checks that an object passes, one after the other.
func Lab(ctx context.Context, l *lab.Lab) (err error) {
	webhooks := lab.Serve(handler())
	defer webhooks.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: webhooks.Certificate().Raw})
	manifest := strings.NewReplacer("$URL", webhooks.URL, "$CA", base64.StdEncoding.EncodeToString(ca)).Replace(definition)
	remove, err := l.WithCRD(ctx, []byte(manifest), ships("v1"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	client, err := dynamic.NewForConfig(l.Config)
	if err != nil {
		return err
	}
	y := yard{lab: l, client: client}
	for _, part := range []func(context.Context) error{y.schema, y.rules, y.conversion} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return y.admission(ctx, webhooks.URL, ca)
}

func ships(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: "ships"}
}

func ship(version, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + version,
		"kind":       "Ship",
		"metadata":   map[string]any{"name": name},
		"spec":       spec,
	}}
}

// schema shows what the server defaults, prunes and refuses.
func (y yard) schema(ctx context.Context) error {
	y.lab.Step("schema: defaults, pruning, types")
	spec := map[string]any{"length": int64(30), "width": int64(8), "cannons": int64(12)}
	made, err := y.client.Resource(ships("v1")).Namespace(y.lab.Namespace).Create(ctx, ship("v1", "ida", spec), metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore})
	if err != nil {
		return err
	}
	y.lab.Say("sent length, width, cannons; stored %v", made.Object["spec"])
	y.try(ctx, "cannons, strictly", spec)
	y.try(ctx, "length as a text", map[string]any{"length": "30", "width": int64(8)})
	y.try(ctx, "no width", map[string]any{"length": int64(30)})
	return nil
}

// rules shows CEL, of an object and of a change.
func (y yard) rules(ctx context.Context) error {
	y.lab.Step("CEL: between fields, and between before and after")
	y.try(ctx, "a raft", map[string]any{"length": int64(3), "width": int64(8)})
	ships := y.client.Resource(ships("v1")).Namespace(y.lab.Namespace)
	ida, err := ships.Get(ctx, "ida", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := unstructured.SetNestedField(ida.Object, int64(31), "spec", "length"); err != nil {
		return err
	}
	_, err = ships.Update(ctx, ida, metav1.UpdateOptions{})
	y.say("ida, longer", err)
	return nil
}

// conversion writes in one version and reads in the other.
func (y yard) conversion(ctx context.Context) error {
	y.lab.Step("conversion: one object, two versions")
	old := y.client.Resource(ships("v1alpha1")).Namespace(y.lab.Namespace)
	if _, err := old.Create(ctx, ship("v1alpha1", "moby", map[string]any{"size": "20x5"}), metav1.CreateOptions{}); err != nil {
		return err
	}
	moby, err := y.client.Resource(ships("v1")).Namespace(y.lab.Namespace).Get(ctx, "moby", metav1.GetOptions{})
	if err != nil {
		return err
	}
	y.lab.Say("written as v1alpha1 with size 20x5, read as v1: %v", moby.Object["spec"])
	ida, err := old.Get(ctx, "ida", metav1.GetOptions{})
	if err != nil {
		return err
	}
	y.lab.Say("written as v1, read as v1alpha1: %v", ida.Object["spec"])
	_, err = old.Create(ctx, ship("v1alpha1", "raft", map[string]any{"size": "3x8"}), metav1.CreateOptions{})
	y.say("a raft as v1alpha1, which has no such rule", err)
	return nil
}

// admission registers a webhook and asks it.
func (y yard) admission(ctx context.Context, url string, ca []byte) (err error) {
	y.lab.Step("a validating webhook, for what the schema cannot know")
	name := y.lab.Namespace + ".labs.fairlead.dev"
	address, none := url+"/validate", admissionregistrationv1.SideEffectClassNone
	configurations := y.lab.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err = configurations.Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:                    name,
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: &address, CABundle: ca},
			Rules:                   []admissionregistrationv1.RuleWithOperations{rule()},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: y.lab.Namespace}},
			SideEffects:             &none,
			AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, configurations.Delete(context.WithoutCancel(ctx), name, metav1.DeleteOptions{}))
	}()
	pirate := map[string]any{"length": int64(30), "width": int64(8), "flag": "black"}
	// The API server learns of webhooks by an informer too, so it takes a moment.
	err = lab.Eventually(ctx, "the webhook to be asked", func(ctx context.Context) (bool, error) {
		return apierrors.IsForbidden(y.create(ctx, pirate)), nil
	})
	if err != nil {
		return err
	}
	y.try(ctx, "a pirate", pirate)
	y.try(ctx, "an honest ship", map[string]any{"length": int64(30), "width": int64(8)})
	return nil
}

func rule() admissionregistrationv1.RuleWithOperations {
	return admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{"ships"}},
	}
}

// create dry-runs the creation of a ship.
func (y yard) create(ctx context.Context, spec map[string]any) error {
	_, err := y.client.Resource(ships("v1")).Namespace(y.lab.Namespace).Create(ctx, ship("v1", "nemo", spec), metav1.CreateOptions{
		DryRun:          []string{metav1.DryRunAll},
		FieldValidation: metav1.FieldValidationStrict,
	})
	return err
}

func (y yard) try(ctx context.Context, what string, spec map[string]any) {
	y.say(what, y.create(ctx, spec))
}

// say prints the reasons of a refusal.
func (y yard) say(what string, err error) {
	if err == nil {
		y.lab.Say("%s: accepted", what)
		return
	}
	status := apierrors.APIStatus(nil)
	if errors.As(err, &status) && status.Status().Details != nil && len(status.Status().Details.Causes) > 0 {
		for _, cause := range status.Status().Details.Causes {
			if cause.Field != "<nil>" { // A remark that further rules were not looked at.
				y.lab.Say("%s: %s: %s", what, cause.Field, cause.Message)
			}
		}
		return
	}
	y.lab.Say("%s: %v", what, err)
}
