// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// ConfigurationClient is the part of a generated client that a [Configuration] uses. T is the type of the
// configuration, L the type of its list.
type ConfigurationClient[T, L runtime.Object] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
	Patch(ctx context.Context, name string, patchType types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (T, error)
}

// ValidatingClient is the part of clientset.AdmissionregistrationV1().ValidatingWebhookConfigurations() that a
// [Configuration] uses.
type ValidatingClient = ConfigurationClient[*admissionregistrationv1.ValidatingWebhookConfiguration, *admissionregistrationv1.ValidatingWebhookConfigurationList]

// MutatingClient is the part of clientset.AdmissionregistrationV1().MutatingWebhookConfigurations() that a
// [Configuration] uses.
type MutatingClient = ConfigurationClient[*admissionregistrationv1.MutatingWebhookConfiguration, *admissionregistrationv1.MutatingWebhookConfigurationList]

// Configuration is a webhook configuration whose caBundle a [Rotator] maintains.
type Configuration struct {
	kind, name string
	// watch calls wake when the configuration may have changed. It returns when ctx ends.
	watch func(ctx context.Context, wake func())
	// get returns the webhooks of the configuration.
	get func(ctx context.Context) ([]hook, error)
	// patch applies a JSON patch.
	patch func(ctx context.Context, patch []byte) error
}

// hook is the part of a webhook that this package reads.
type hook struct {
	name   string
	client admissionregistrationv1.WebhookClientConfig
}

// ValidatingConfiguration returns the ValidatingWebhookConfiguration of this name. It need not exist.
func ValidatingConfiguration(client ValidatingClient, name string) Configuration {
	return newConfiguration(client, "ValidatingWebhookConfiguration", name, &admissionregistrationv1.ValidatingWebhookConfiguration{},
		func(configuration *admissionregistrationv1.ValidatingWebhookConfiguration) []hook {
			hooks := make([]hook, len(configuration.Webhooks))
			for i, webhook := range configuration.Webhooks {
				hooks[i] = hook{webhook.Name, webhook.ClientConfig}
			}
			return hooks
		})
}

// MutatingConfiguration returns the MutatingWebhookConfiguration of this name. It need not exist.
func MutatingConfiguration(client MutatingClient, name string) Configuration {
	return newConfiguration(client, "MutatingWebhookConfiguration", name, &admissionregistrationv1.MutatingWebhookConfiguration{},
		func(configuration *admissionregistrationv1.MutatingWebhookConfiguration) []hook {
			hooks := make([]hook, len(configuration.Webhooks))
			for i, webhook := range configuration.Webhooks {
				hooks[i] = hook{webhook.Name, webhook.ClientConfig}
			}
			return hooks
		})
}

func newConfiguration[T, L runtime.Object](client ConfigurationClient[T, L], kind, name string, example T, hooks func(T) []hook) Configuration {
	return Configuration{
		kind: kind,
		name: name,
		watch: func(ctx context.Context, wake func()) {
			watchOne(ctx, name, example, client, func(runtime.Object) { wake() })
		},
		get: func(ctx context.Context) ([]hook, error) {
			configuration, err := client.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			return hooks(configuration), nil
		},
		patch: func(ctx context.Context, patch []byte) error {
			_, err := client.Patch(ctx, name, types.JSONPatchType, patch, metav1.PatchOptions{})
			return err
		},
	}
}

// inject writes the caBundle into every webhook of the configuration, and reports whether it changed one. A
// configuration that does not exist needs no change: the webhooks are not installed.
func (c Configuration) inject(ctx context.Context, caBundle []byte) (changed bool, err error) {
	hooks, err := c.get(ctx)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("get %s %s: %w", c.kind, c.name, err)
	}
	patch, err := caBundlePatch(hooks, caBundle)
	if err != nil || patch == nil {
		return false, err
	}
	if err := c.patch(ctx, patch); err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("patch %s %s: %w", c.kind, c.name, err)
	}
	return true, nil
}

// caBundlePatch returns a JSON patch that replaces only the caBundles that differ, or nil if none does. The patch
// also tests that each webhook is still at its place in the list; if one has moved, the API server refuses the patch.
func caBundlePatch(hooks []hook, caBundle []byte) ([]byte, error) {
	var operations []map[string]any
	for i, h := range hooks {
		if bytes.Equal(h.client.CABundle, caBundle) {
			continue
		}
		operations = append(operations,
			map[string]any{"op": "test", "path": fmt.Sprintf("/webhooks/%d/name", i), "value": h.name},
			map[string]any{"op": "add", "path": fmt.Sprintf("/webhooks/%d/clientConfig/caBundle", i), "value": caBundle})
	}
	if operations == nil {
		return nil, nil
	}
	return json.Marshal(operations)
}
