// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	admissionregistrationclient "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	appsclient "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/apps/v1"
)

const (
	// fieldManager is who registers.
	fieldManager = "fairlead"
	// The API server needs about a second until it knows a new configuration; a busy one, longer.
	probeTimeout = 30 * time.Second
	probePeriod  = 250 * time.Millisecond
	// probeFailures is how often it may fail to call the webhook before that is taken for the truth.
	probeFailures = 3
	// cleanUpTimeout is for removing a configuration after the caller's context has ended.
	cleanUpTimeout = 5 * time.Second
)

// Registrar registers the webhooks of a controller outside of the cluster, by URL, and takes the
// registration back. All fields are required, but OperatorNamespace.
type Registrar struct {
	// Configurations needs get, create, patch and delete on both kinds.
	Configurations admissionregistrationclient.AdmissionregistrationV1Interface
	// Applications needs create in ProbeNamespace; nothing is stored.
	Applications appsclient.ApplicationsGetter
	// Handler is served at URL already, with a certificate that CABundle vouches for.
	Handler  *Handler
	URL      string
	CABundle []byte
	// ProbeNamespace is any that exists and is not OperatorNamespace, e.g. default.
	ProbeNamespace    string
	OperatorNamespace string
}

// UnreachableError says that the API server cannot call the webhooks.
type UnreachableError struct {
	URL string
	// Err is what the API server says, if it says something.
	Err error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("the API server cannot reach the webhooks at %s: %v; without them only the sync validates and defaults Applications", e.URL, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// Register makes the API server call the webhooks, if it can reach them: with an UnreachableError
// nothing stays registered, since a registration that leads nowhere would refuse every Application.
// It also replaces what an earlier run left behind. Call it again after URL or CABundle changed.
func (r *Registrar) Register(ctx context.Context) error {
	// What a killed run left leads nowhere, and would refuse the probe.
	if err := r.remove(ctx, OutOfClusterConfigurationName); err != nil {
		return err
	}
	if err := r.probe(ctx); err != nil {
		return err
	}
	mutating, validating := Configurations(OutOfClusterConfigurationName, Endpoint{URL: r.URL, CABundle: r.CABundle}, r.OperatorNamespace)
	if err := r.apply(ctx, mutating.Name, mutating, validating); err != nil {
		return errors.Join(err, r.Unregister(context.WithoutCancel(ctx)))
	}
	return nil
}

// Unregister takes the registration back. Call it before the server stops, with a context that is
// still alive. What is not registered any more is no error. The registration of another controller,
// which has replaced this one, stays.
func (r *Registrar) Unregister(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanUpTimeout)
	defer cancel()
	const name = OutOfClusterConfigurationName
	mutating, validating, err := r.registered(ctx, name)
	// Also after an error: one that leads nowhere would refuse every Application.
	var failed []error
	if err != nil || mutating == nil || r.isOwn(*mutating) {
		failed = append(failed, r.removeMutating(ctx, name))
	}
	if err != nil || validating == nil || r.isOwn(*validating) {
		failed = append(failed, r.removeValidating(ctx, name))
	}
	return errors.Join(failed...)
}

// Missing reports whether a registration is missing: there is none, or only half of this controller's own. The registration of
// another controller counts, and half of it too, because that controller may be writing or deleting the other half; so does its
// probe. So two controllers do not keep replacing each other's registration.
func (r *Registrar) Missing(ctx context.Context) (bool, error) {
	probe, err := r.Configurations.ValidatingWebhookConfigurations().Get(ctx, probeConfigurationName, metav1.GetOptions{})
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return false, fmt.Errorf("get ValidatingWebhookConfiguration: %w", err)
	case err == nil && time.Since(probe.CreationTimestamp.Time) < 2*probeTimeout: // A controller that was killed leaves an older one.
		return false, nil
	}
	mutating, validating, err := r.registered(ctx, OutOfClusterConfigurationName)
	isOthers := func(config *admissionregistrationv1.WebhookClientConfig) bool {
		return config != nil && !r.isOwn(*config)
	}
	return err == nil && (mutating == nil || validating == nil) && !isOthers(mutating) && !isOthers(validating), err
}

// registered returns whom the API server calls by the configurations of the name; nil where there is none.
func (r *Registrar) registered(ctx context.Context, name string) (mutating, validating *admissionregistrationv1.WebhookClientConfig, err error) {
	mutatingConfiguration, err := r.Configurations.MutatingWebhookConfigurations().Get(ctx, name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, nil, fmt.Errorf("get MutatingWebhookConfiguration: %w", err)
	}
	if err == nil && len(mutatingConfiguration.Webhooks) > 0 {
		mutating = &mutatingConfiguration.Webhooks[0].ClientConfig
	}
	validatingConfiguration, err := r.Configurations.ValidatingWebhookConfigurations().Get(ctx, name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, nil, fmt.Errorf("get ValidatingWebhookConfiguration: %w", err)
	}
	if err == nil && len(validatingConfiguration.Webhooks) > 0 {
		validating = &validatingConfiguration.Webhooks[0].ClientConfig
	}
	return mutating, validating, nil
}

// isOwn reports whether the API server calls this controller. The next run may serve at the same URL, with a certificate of its own.
func (r *Registrar) isOwn(config admissionregistrationv1.WebhookClientConfig) bool {
	return config.URL != nil && strings.HasPrefix(*config.URL, r.URL) && bytes.Equal(config.CABundle, r.CABundle)
}

// probe finds out whether the API server reaches the Handler. It registers the validating webhook for
// one label only and lets an Application with that label be created, without storing it, until the
// Handler has seen it.
func (r *Registrar) probe(ctx context.Context) (err error) {
	token := string(uuid.NewUUID())
	seen, stop := r.Handler.probes.await(token)
	defer stop()
	const name = probeConfigurationName
	_, configuration := Configurations(name, Endpoint{URL: r.URL, CABundle: r.CABundle}, "")
	configuration.Webhooks = configuration.Webhooks[:1]
	webhook := &configuration.Webhooks[0]
	webhook.Name = "probe." + webhook.Name
	webhook.TimeoutSeconds = new(int32(2))
	webhook.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{LabelProbe: token}}
	if err := r.apply(ctx, name, nil, configuration); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
		defer cancel()
		err = errors.Join(err, r.remove(ctx, name))
	}()
	last, failures := errors.New("it accepted an Application without calling them"), 0
	err = wait.PollUntilContextTimeout(ctx, probePeriod, probeTimeout, true, func(ctx context.Context) (bool, error) {
		err := r.ask(ctx, token)
		select {
		case <-seen:
			return true, nil
		default:
		}
		switch {
		case err == nil || ctx.Err() != nil: // not known yet, or the time is over
		case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
			return false, fmt.Errorf("create an Application to probe the webhooks, without storing it: %w", err)
		case strings.Contains(err.Error(), webhook.Name): // there is no other sign of who failed
			if last, failures = err, failures+1; failures == probeFailures {
				return false, &UnreachableError{URL: r.URL, Err: err}
			}
		default:
			last = err
		}
		return false, nil //nolint:nilerr // It is kept in last; the next try may do better.
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return &UnreachableError{URL: r.URL, Err: last}
	}
	return err
}

// ask lets the API server create an Application, without storing it.
func (r *Registrar) ask(ctx context.Context, token string) error {
	_, err := r.Applications.Applications(r.ProbeNamespace).Create(ctx, &v1.Application{
		ObjectMeta: metav1.ObjectMeta{Name: "fairlead-webhook-probe", Labels: map[string]string{LabelProbe: token}},
		Spec:       v1.ApplicationSpec{Image: "probe.invalid/probe:1"},
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: fieldManager})
	return err
}

// apply writes the configurations; mutating may be nil.
func (r *Registrar) apply(ctx context.Context, name string, mutating *admissionregistrationv1.MutatingWebhookConfiguration, validating *admissionregistrationv1.ValidatingWebhookConfiguration) error {
	options := metav1.PatchOptions{FieldManager: fieldManager, Force: new(true)}
	if mutating != nil {
		data, err := json.Marshal(mutating)
		if err != nil {
			return fmt.Errorf("encode the webhook configuration: %w", err)
		}
		if _, err := r.Configurations.MutatingWebhookConfigurations().Patch(ctx, name, types.ApplyPatchType, data, options); err != nil {
			return fmt.Errorf("apply MutatingWebhookConfiguration: %w", err)
		}
	}
	data, err := json.Marshal(validating)
	if err != nil {
		return fmt.Errorf("encode the webhook configuration: %w", err)
	}
	if _, err := r.Configurations.ValidatingWebhookConfigurations().Patch(ctx, name, types.ApplyPatchType, data, options); err != nil {
		return fmt.Errorf("apply ValidatingWebhookConfiguration: %w", err)
	}
	return nil
}

func (r *Registrar) remove(ctx context.Context, name string) error {
	return errors.Join(r.removeMutating(ctx, name), r.removeValidating(ctx, name))
}

func (r *Registrar) removeMutating(ctx context.Context, name string) error {
	return ignoreNotFound("delete MutatingWebhookConfiguration", r.Configurations.MutatingWebhookConfigurations().Delete(ctx, name, metav1.DeleteOptions{}))
}

func (r *Registrar) removeValidating(ctx context.Context, name string) error {
	return ignoreNotFound("delete ValidatingWebhookConfiguration", r.Configurations.ValidatingWebhookConfigurations().Delete(ctx, name, metav1.DeleteOptions{}))
}

func ignoreNotFound(what string, err error) error {
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
