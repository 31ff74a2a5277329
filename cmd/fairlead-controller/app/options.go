// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"slices"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	podsecurity "k8s.io/pod-security-admission/api"
)

// Options are the flags.
type Options struct {
	Kubeconfig string
	Context    string
	Namespaces []string
	Workers    int
	// WorkersPerNamespace is how many of the workers one namespace may occupy.
	WorkersPerNamespace int
	ResyncPeriod        time.Duration
	SecurityProfile     string
	// Classes enables ApplicationClasses; RequireClass refuses Applications without one.
	Classes, RequireClass bool
	// AllowUnreviewedServiceAccounts is for a controller without webhooks that could review which users name a
	// ServiceAccount.
	AllowUnreviewedServiceAccounts bool
	RouteControllerNamespaces      []string
	MonitoringNamespaces           []string
	// ConfigHashKeySecret is namespace/name of the Secret that keeps the key for hashes of Secrets.
	ConfigHashKeySecret string
	// OperatorNamespace is the namespace of the controller's own Lease and Secret.
	OperatorNamespace string
	LeaderElection    LeaderElectionOptions
	Serving           ServingOptions
	Tracing           TracingOptions
	Logging           *logsapi.LoggingConfiguration
}

// NewOptions returns the default Options.
func NewOptions() *Options {
	return &Options{
		Workers:                   16,
		WorkersPerNamespace:       4,
		Classes:                   true,
		SecurityProfile:           string(podsecurity.LevelRestricted),
		RouteControllerNamespaces: []string{"ingress-nginx", "traefik"},
		MonitoringNamespaces:      []string{"monitoring"},
		LeaderElection:            newLeaderElectionOptions(),
		Serving:                   newServingOptions(),
		Tracing:                   newTracingOptions(),
		Logging:                   logs.NewOptions(),
	}
}

var securityProfiles = []string{string(podsecurity.LevelRestricted), string(podsecurity.LevelBaseline), string(podsecurity.LevelPrivileged)}

// AddFlags adds the flags, in sections.
func (o *Options) AddFlags(sections *cliflag.NamedFlagSets) {
	cluster := sections.FlagSet("cluster")
	cluster.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "Path to a kubeconfig file. Not needed in a cluster.")
	cluster.StringVar(&o.Context, "context", o.Context, "Context in the kubeconfig. Default: the current context.")
	cluster.StringArrayVar(&o.Namespaces, "namespace", o.Namespaces, "Namespace to watch; repeat the flag for more than one. Default: all.")

	controller := sections.FlagSet("controller")
	controller.IntVar(&o.Workers, "workers", o.Workers, "Number of Applications synced in parallel.")
	controller.IntVar(&o.WorkersPerNamespace, "workers-per-namespace", o.WorkersPerNamespace, "Number of Applications of one namespace synced in parallel, so that one tenant does not occupy all workers. With the value of --workers, it may.")
	controller.StringVar(&o.ConfigHashKeySecret, "config-hash-key-secret", o.ConfigHashKeySecret, "Namespace/name of the Secret with the key for the hashes of Secret contents. The controller creates it on first use. Default: "+hashKeySecretName+" in the controller's namespace, or in "+defaultNamespace+" outside of a cluster.")
	controller.DurationVar(&o.ResyncPeriod, "resync-period", o.ResyncPeriod, "Interval at which every Application is synced although nothing changed, e.g. 10h; 0 disables it. Drift repair does not need it.")

	platform := sections.FlagSet("platform")
	platform.StringVar(&o.SecurityProfile, "security-profile", o.SecurityProfile, fmt.Sprintf("Pod Security level that Applications must meet, one of %q.", securityProfiles))
	platform.BoolVar(&o.AllowUnreviewedServiceAccounts, "allow-unreviewed-service-accounts", o.AllowUnreviewedServiceAccounts, "Accept serviceAccount.name although no installed webhook reviews the requester: every user who may write Applications can then use every ServiceAccount in the namespace.")
	platform.BoolVar(&o.Classes, "classes", o.Classes, "Apply ApplicationClasses; requires permission to get, list and watch them. If false, the controller ignores them, and an Application that names one is Stalled.")
	platform.BoolVar(&o.RequireClass, "require-class", o.RequireClass, "Refuse Applications without an ApplicationClass: those that name none in a namespace that no default class selects.")
	platform.StringSliceVar(&o.RouteControllerNamespaces, "route-controller-namespaces", o.RouteControllerNamespaces, "Namespaces of Ingress and Gateway controllers. The NetworkPolicy of an Application with routes lets them connect to the routed ports. The namespaces of Gateways that a route names are always included.")
	platform.StringSliceVar(&o.MonitoringNamespaces, "monitoring-namespaces", o.MonitoringNamespaces, "Namespaces of Prometheus. The NetworkPolicy of an Application with monitoring lets them connect to the metrics port.")

	o.LeaderElection.addFlags(sections.FlagSet("leader election"))
	serving := sections.FlagSet("serving")
	serving.StringVar(&o.OperatorNamespace, "operator-namespace", o.OperatorNamespace, "Namespace of the controller's own Lease and Secret. Default: the namespace of its pod, from $POD_NAMESPACE or its ServiceAccount.")
	o.Serving.addFlags(serving)
	o.Tracing.addFlags(sections.FlagSet("tracing"))

	logsapi.AddFlags(o.Logging, sections.FlagSet("logs"))
}

// Validate returns all errors of the flags.
func (o *Options) Validate() error {
	var errs []error
	if o.Workers < 1 || o.Workers > 1000 {
		errs = append(errs, fmt.Errorf("--workers is %d, but must be between 1 and 1000", o.Workers))
	}
	if o.WorkersPerNamespace < 1 || o.WorkersPerNamespace > 1000 {
		errs = append(errs, fmt.Errorf("--workers-per-namespace is %d, but must be between 1 and 1000", o.WorkersPerNamespace))
	}
	if o.ResyncPeriod < 0 || (o.ResyncPeriod > 0 && o.ResyncPeriod < time.Second) {
		errs = append(errs, fmt.Errorf("--resync-period is %s, but must be 0 or at least 1s", o.ResyncPeriod))
	}
	if !slices.Contains(securityProfiles, o.SecurityProfile) {
		errs = append(errs, fmt.Errorf("--security-profile is %q, but must be one of %q", o.SecurityProfile, securityProfiles))
	}
	if o.RequireClass && !o.Classes {
		errs = append(errs, errors.New("--require-class needs --classes"))
	}
	errs = append(errs, validateNamespaces("--namespace", o.Namespaces)...)
	errs = append(errs, validateNamespaces("--route-controller-namespaces", o.RouteControllerNamespaces)...)
	errs = append(errs, validateNamespaces("--monitoring-namespaces", o.MonitoringNamespaces)...)
	if o.OperatorNamespace != "" {
		errs = append(errs, validateNamespaces("--operator-namespace", []string{o.OperatorNamespace})...)
	}
	errs = append(errs, o.validateHashKeySecret()...)
	errs = append(errs, o.LeaderElection.validate()...)
	errs = append(errs, o.Serving.validate()...)
	errs = append(errs, o.Tracing.validate()...)
	return utilerrors.NewAggregate(errs)
}

func validateNamespaces(flag string, namespaces []string) []error {
	var errs []error
	for i, namespace := range namespaces {
		for _, problem := range validation.IsDNS1123Label(namespace) {
			errs = append(errs, fmt.Errorf("%s %q: %s", flag, namespace, problem))
		}
		if slices.Contains(namespaces[:i], namespace) {
			errs = append(errs, fmt.Errorf("%s %q is given twice", flag, namespace))
		}
	}
	return errs
}
