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

// shortestLease is far above what a request to a busy API server takes. A Lease counts in whole
// seconds.
const shortestLease = 3 * time.Second

// LeaderElectionOptions are the flags about which of several replicas works.
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
		// Half of what Kubernetes' components take: it is most of what a takeover costs.
		RetryPeriod: time.Second,
	}
}

func (o *LeaderElectionOptions) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.Enabled, "leader-elect", o.Enabled, "Work only while holding a Lease, so that several replicas may run. The others keep their caches warm.")
	flags.StringVar(&o.Namespace, "leader-elect-namespace", o.Namespace, "Namespace of the Lease. Default: that of --operator-namespace.")
	flags.StringVar(&o.LeaseName, "leader-elect-lease-name", o.LeaseName, "Name of the Lease.")
	flags.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", o.LeaseDuration, "How long the others wait for a leader that does not answer. Whole seconds.")
	flags.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", o.RenewDeadline, "How long a leader goes on that cannot renew its Lease. It must stop before the others start, so this is less than the lease duration.")
	flags.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", o.RetryPeriod, "How often the leader renews the Lease, and the others look at it.")
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
	if o.LeaseDuration < shortestLease || o.LeaseDuration%time.Second != 0 {
		errs = append(errs, fmt.Errorf("--leader-elect-lease-duration is %s, but must be at least %s and whole seconds", o.LeaseDuration, shortestLease))
	}
	if o.RenewDeadline >= o.LeaseDuration {
		errs = append(errs, fmt.Errorf("--leader-elect-renew-deadline is %s, but must be less than the lease duration of %s", o.RenewDeadline, o.LeaseDuration))
	}
	if o.RetryPeriod <= 0 || o.RenewDeadline <= time.Duration(leaderelection.JitterFactor*float64(o.RetryPeriod)) {
		errs = append(errs, fmt.Errorf("--leader-elect-retry-period is %s, but must be positive and %g times of it less than the renew deadline of %s", o.RetryPeriod, leaderelection.JitterFactor, o.RenewDeadline))
	}
	return errs
}
