// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	tracingapi "k8s.io/component-base/tracing/api/v1"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
	podsecurity "k8s.io/pod-security-admission/api"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/render"
)

// reachTimeout bounds the first requests, so that a wrong address fails soon.
const reachTimeout = 10 * time.Second

// Config is the configuration that the flags describe. Complete it before Run.
type Config struct {
	Client     *rest.Config
	Namespaces []string
	// Workers is how many syncs run at once, and WorkersPerNamespace how many of them for one namespace.
	Workers, WorkersPerNamespace int
	ResyncPeriod                 time.Duration
	Facts                        render.Facts
	Validation                   validation.Options
	// Classes enables ApplicationClasses; RequireClass refuses Applications without one.
	Classes, RequireClass bool
	// HashKeySecret has the key for the hashes of Secrets.
	HashKeySecret cache.ObjectName
	// OperatorNamespace has the Secret of the certificates.
	OperatorNamespace string
	// LeaderElection is nil if this is the only replica.
	LeaderElection *LeaderElection
	Serving        ServingOptions
	// Tracing is nil if there are no traces.
	Tracing *tracingapi.TracingConfiguration
	// Now reads the clock of the machine; nil is time.Now. Only tests set it.
	Now func() time.Time
}

type completedConfig struct {
	*Config
}

// CompletedConfig is a Config that was checked against the cluster. Only Complete returns one.
type CompletedConfig struct {
	completedConfig
}

// Config turns the flags into a Config.
func (o *Options) Config() (*Config, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	client, err := o.clientConfig()
	if err != nil {
		return nil, err
	}
	client.UserAgent = "fairlead-controller/" + version.Get().GitVersion
	// No limit in the client: the API server knows its load, and applies API Priority and Fairness.
	client.QPS = -1
	config := &Config{
		Client:              client,
		Namespaces:          o.Namespaces,
		Workers:             o.Workers,
		WorkersPerNamespace: o.WorkersPerNamespace,
		ResyncPeriod:        o.ResyncPeriod,
		Facts:               render.Facts{RouteControllerNamespaces: o.RouteControllerNamespaces, MonitoringNamespaces: o.MonitoringNamespaces},
		Validation: validation.Options{
			SecurityProfile:        podsecurity.Level(o.SecurityProfile),
			ForeignServiceAccounts: o.AllowUnreviewedServiceAccounts || o.Serving.reviewsRequesters(),
			TemporaryWebhooks:      o.Serving.WebhookURL != "",
		},
		Classes:      o.Classes,
		RequireClass: o.RequireClass,
		Serving:      o.Serving,
		Tracing:      o.Tracing.config(),
	}
	return config, o.configureReplicas(config)
}

// serviceAccountNamespace is the file with the namespace of a pod.
const serviceAccountNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// configureReplicas finds the namespace of this controller, if it needs one, and its identity among the replicas.
func (o *Options) configureReplicas(config *Config) error {
	namespace, err := o.operatorNamespace(os.Getenv("POD_NAMESPACE"), serviceAccountNamespace)
	if err != nil {
		return err
	}
	config.OperatorNamespace = namespace
	config.HashKeySecret = o.hashKeySecret(namespace)
	if namespace == "" && o.Serving.CertSecret != "" {
		return errors.New("--cert-secret needs --operator-namespace outside of a pod")
	}
	if !o.LeaderElection.Enabled {
		return nil
	}
	if o.LeaderElection.Namespace != "" {
		namespace = o.LeaderElection.Namespace
	}
	if namespace == "" {
		return errors.New("--leader-elect needs --leader-elect-namespace or --operator-namespace outside of a pod")
	}
	identity, err := newIdentity()
	if err != nil {
		return err
	}
	config.LeaderElection = &LeaderElection{
		Namespace:     namespace,
		LeaseName:     o.LeaderElection.LeaseName,
		Identity:      identity,
		LeaseDuration: o.LeaderElection.LeaseDuration,
		RenewDeadline: o.LeaderElection.RenewDeadline,
		RetryPeriod:   o.LeaderElection.RetryPeriod,
	}
	return nil
}

// operatorNamespace returns the flag, or else the environment variable or the ServiceAccount file of the pod. It is
// empty outside of a pod.
func (o *Options) operatorNamespace(variable, file string) (string, error) {
	if o.OperatorNamespace != "" {
		return o.OperatorNamespace, nil
	}
	if variable != "" {
		return variable, nil
	}
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the namespace of this pod: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// clientConfig finds the cluster: the one in which the controller runs, unless a flag names a kubeconfig or context.
// Outside a cluster it finds the same one as kubectl.
func (o *Options) clientConfig() (*rest.Config, error) {
	if o.Kubeconfig == "" && o.Context == "" {
		config, err := rest.InClusterConfig()
		if err == nil {
			// As in kube-scheduler and kube-controller-manager: on a fast network compression only costs CPU time.
			config.DisableCompression = true
			return config, nil
		}
		if !errors.Is(err, rest.ErrNotInCluster) {
			return nil, fmt.Errorf("read the cluster's credentials: %w", err)
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context}).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("no cluster found: not running in a pod, and without --kubeconfig, $KUBECONFIG and ~/.kube/config")
	}
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	if server, err := url.Parse(config.Host); err == nil && isLoopback(server.Hostname()) {
		config.DisableCompression = true // As in a cluster. Otherwise the kubeconfig decides.
	}
	return config, nil
}

// Complete checks that the cluster is reachable and serves Applications.
func (c *Config) Complete(ctx context.Context) (CompletedConfig, error) {
	probe := rest.CopyConfig(c.Client)
	probe.Timeout = reachTimeout
	client, err := discovery.NewDiscoveryClientForConfig(probe)
	if err != nil {
		return CompletedConfig{}, fmt.Errorf("create discovery client: %w", err)
	}
	server, err := client.ServerVersionWithContext(ctx)
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return CompletedConfig{}, fmt.Errorf("the cluster at %s rejected the credentials (check --kubeconfig and --context): %w", c.Client.Host, err)
	}
	if err != nil {
		return CompletedConfig{}, fmt.Errorf("cannot reach the cluster at %s (check --kubeconfig and --context): %w", c.Client.Host, err)
	}
	klog.FromContext(ctx).Info("Connected", "server", c.Client.Host, "kubernetes", server.GitVersion, "fairlead", version.Get().GitVersion)
	_, err = client.ServerResourcesForGroupVersionWithContext(ctx, v1.SchemeGroupVersion.String())
	switch {
	case apierrors.IsNotFound(err):
		return CompletedConfig{}, fmt.Errorf("the cluster at %s does not serve %s: run 'make install' in a checkout of Fairlead to install the CRDs", c.Client.Host, v1.SchemeGroupVersion)
	case apierrors.IsForbidden(err):
		return CompletedConfig{}, fmt.Errorf("no permission to read the API of the cluster at %s: %w", c.Client.Host, err)
	case err != nil:
		return CompletedConfig{}, fmt.Errorf("discover %s at %s: %w", v1.SchemeGroupVersion, c.Client.Host, err)
	}
	return CompletedConfig{completedConfig{c}}, nil
}
