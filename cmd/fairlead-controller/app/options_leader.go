// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/leaderelection"
)

// minLeaseDuration is far longer than a request to a busy API server. A Lease has whole seconds.
const minLeaseDuration = 3 * time.Second

// LeaderElectionOptions are the flags of the leader election.
type LeaderElectionOptions struct {
	Enabled       bool
	Namespace     string
	LeaseName     string
	LeaseDuration time.Duration
	RenewDeadline time.Duration
	RetryPeriod   time.Duration
}

func newLeaderElectionOptions() LeaderElectionOptions {
	return LeaderElectionOptions{
		LeaseName:     "fairlead-controller",
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		// Half of the default of Kubernetes' components, because it is most of the time of a takeover.
		RetryPeriod: time.Second,
	}
}

func (o *LeaderElectionOptions) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Enabled, "leader-elect", o.Enabled, "Enable leader election, so that several replicas can run. Only the leader syncs; the others keep their caches up to date.")
	flags.StringVar(&o.Namespace, "leader-elect-namespace", o.Namespace, "Namespace of the Lease. Default: the operator namespace.")
	flags.StringVar(&o.LeaseName, "leader-elect-lease-name", o.LeaseName, "Name of the Lease.")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", o.LeaseDuration, "How long the other replicas wait after the last renewal before one of them takes over. Whole seconds.")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", o.RenewDeadline, "How long the leader retries a renewal before it stops writing. Must be less than the lease duration.")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", o.RetryPeriod, "Interval at which the leader renews the Lease and the others read it.")
}

func (o *LeaderElectionOptions) validate() []error {
	if !o.Enabled {
		return nil
	}
	var errs []error
	for _, problem := range validation.IsDNS1123Subdomain(o.LeaseName) {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-name %q: %s", o.LeaseName, problem))
	}
	if o.Namespace != "" {
		errs = append(errs, validateNamespaces("--leader-elect-namespace", []string{o.Namespace})...)
	}
	if o.LeaseDuration < minLeaseDuration || o.LeaseDuration%time.Second != 0 {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-duration is %s, but must be at least %s and whole seconds", o.LeaseDuration, minLeaseDuration))
	}
	if o.RenewDeadline >= o.LeaseDuration {
		errs = append(errs, fmt.Errorf("--leader-elect-renew-deadline is %s, but must be less than the lease duration of %s", o.RenewDeadline, o.LeaseDuration))
	}
	if o.RetryPeriod <= 0 || o.RenewDeadline <= time.Duration(leaderelection.JitterFactor*float64(o.RetryPeriod)) {
		errs = append(errs, fmt.Errorf("--leader-elect-retry-period is %s, but must be positive, and %g times it must be less than the renew deadline of %s", o.RetryPeriod, leaderelection.JitterFactor, o.RenewDeadline))
	}
	return errs
}
