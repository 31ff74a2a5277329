// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// What must hold of the configurations, whatever else they say: S15 of the threat model.
func TestS15WebhooksCannotBlockOthers(t *testing.T) {
	mutating, validating := Configurations("any", Endpoint{URL: "https://127.0.0.1:1"}, "fairlead-system")
	type webhook struct {
		name       string
		rules      []admissionregistrationv1.RuleWithOperations
		namespaces *metav1.LabelSelector
		timeout    *int32
		effects    *admissionregistrationv1.SideEffectClass
	}
	var all []webhook
	for _, w := range mutating.Webhooks {
		all = append(all, webhook{w.Name, w.Rules, w.NamespaceSelector, w.TimeoutSeconds, w.SideEffects})
	}
	for _, w := range validating.Webhooks {
		if w.Name == ValidatingClassWebhookName || w.Name == ValidatingScaleWebhookName {
			continue // They are not about Applications: see TestClassWebhook and TestScaleWebhook.
		}
		all = append(all, webhook{w.Name, w.Rules, w.NamespaceSelector, w.TimeoutSeconds, w.SideEffects})
	}
	if len(all) != 2 {
		t.Fatalf("there are %d webhooks", len(all))
	}
	for _, w := range all {
		want := []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{"apps.fairlead.dev"}, APIVersions: []string{"v1"}, Resources: []string{"applications"},
				Scope: new(admissionregistrationv1.NamespacedScope),
			},
		}}
		if diff := cmp.Diff(want, w.rules); diff != "" {
			t.Errorf("%s matches (-want +got):\n%s", w.name, diff)
		}
		if *w.timeout > 5 || *w.effects != admissionregistrationv1.SideEffectClassNone {
			t.Errorf("%s waits %d seconds and has side effects %s", w.name, *w.timeout, *w.effects)
		}
		selector, err := metav1.LabelSelectorAsSelector(w.namespaces)
		if err != nil {
			t.Fatal(err)
		}
		for namespace, want := range map[string]bool{"fairlead-system": false, "shop": true} {
			if got := selector.Matches(labels.Set{corev1.LabelMetadataName: namespace}); got != want {
				t.Errorf("%s is called for %s: %t", w.name, namespace, got)
			}
		}
	}
	if Timeout.Seconds() >= TimeoutSeconds {
		t.Error("the answer may come after the API server has stopped waiting")
	}
}

func TestEndpoints(t *testing.T) {
	ca := []byte("ca")
	mutating, validating := Configurations("x", Endpoint{Service: &admissionregistrationv1.ServiceReference{Namespace: "fairlead-system", Name: "webhook"}, CABundle: ca}, "")
	for path, got := range map[string]admissionregistrationv1.WebhookClientConfig{MutatePath: mutating.Webhooks[0].ClientConfig, ValidatePath: validating.Webhooks[0].ClientConfig} {
		want := admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "fairlead-system", Name: "webhook", Path: &path}, CABundle: ca}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("through a Service (-want +got):\n%s", diff)
		}
	}
	_, validating = Configurations("x", Endpoint{URL: "https://192.0.2.1:9443", CABundle: ca}, "")
	want := admissionregistrationv1.WebhookClientConfig{URL: new("https://192.0.2.1:9443/validate/applications"), CABundle: ca}
	if diff := cmp.Diff(want, validating.Webhooks[0].ClientConfig); diff != "" {
		t.Errorf("by URL (-want +got):\n%s", diff)
	}
}

// The manifests say the same as Configurations.
func TestManifestsAreTheConfigurations(t *testing.T) {
	var found int
	for _, object := range manifests(t, filepath.Join("..", "..", "artifacts", "webhook")) {
		var got admissionregistrationv1.ValidatingWebhookConfiguration
		if !strings.HasSuffix(object.Kind, "WebhookConfiguration") {
			continue
		}
		found++
		if err := json.Unmarshal(object.raw, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Webhooks) == 0 || got.Webhooks[0].ClientConfig.Service == nil {
			t.Errorf("%s has %d webhooks, or one without a Service", object.Kind, len(got.Webhooks))
			continue
		}
		service := got.Webhooks[0].ClientConfig.Service
		namespaces := got.Webhooks[0].NamespaceSelector.MatchExpressions
		if len(namespaces) != 1 || len(namespaces[0].Values) != 1 || namespaces[0].Values[0] != service.Namespace {
			t.Errorf("%s does not leave out the namespace of its own Service, %s: %v", object.Kind, service.Namespace, namespaces)
			continue
		}
		mutating, validating := Configurations(ConfigurationName, Endpoint{Service: service}, service.Namespace)
		for kind, want := range map[string]any{"MutatingWebhookConfiguration": mutating, "ValidatingWebhookConfiguration": validating} {
			if kind == object.Kind {
				if diff := cmp.Diff(essence(t, want), essence(t, object.raw)); diff != "" {
					t.Errorf("%s (-Configurations +manifest):\n%s", kind, diff)
				}
			}
		}
	}
	if found != 2 {
		t.Errorf("artifacts/webhook has %d webhook configurations, want both kinds", found)
	}
}

// essence is an object without what only its installation is about: labels and annotations.
func essence(t *testing.T, object any) map[string]any {
	t.Helper()
	data, isRaw := object.(json.RawMessage)
	if !isRaw {
		var err error
		if data, err = json.Marshal(object); err != nil {
			t.Fatal(err)
		}
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	metadata, _ := tree["metadata"].(map[string]any)
	tree["metadata"] = map[string]any{"name": metadata["name"]}
	return tree
}

type manifest struct {
	Kind string `json:"kind"`
	raw  json.RawMessage
}

func manifests(t *testing.T, directory string) []manifest {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all []manifest
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4<<10)
		for {
			var object manifest
			err := decoder.Decode(&object.raw)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if len(object.raw) == 0 {
				continue // nothing but comments
			}
			if err := json.Unmarshal(object.raw, &object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			all = append(all, object)
		}
	}
	return all
}
