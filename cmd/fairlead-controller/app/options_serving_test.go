// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestValidateServing(t *testing.T) {
	for _, test := range []struct {
		name string
		o    ServingOptions
		want string
	}{
		{"nothing is served", ServingOptions{}, ""},
		{"health alone", ServingOptions{HealthBindAddress: ":8081"}, ""},
		{"a port of our choice, twice", ServingOptions{HealthBindAddress: "127.0.0.1:0", MetricsBindAddress: "127.0.0.1:0"}, ""},
		{"IPv6", ServingOptions{MetricsBindAddress: "[::1]:8080"}, ""},
		{"no port", ServingOptions{HealthBindAddress: "127.0.0.1"}, `--health-bind-address is "127.0.0.1", but must be host:port or :port, with an IP address as host: address 127.0.0.1: missing port in address`},
		{"a name", ServingOptions{HealthBindAddress: "example.com:80"}, `--health-bind-address is "example.com:80", but must be host:port or :port, with an IP address as host: "example.com" is not an IP address`},
		{"a port too high", ServingOptions{HealthBindAddress: ":65536"}, `--health-bind-address is ":65536", but must be host:port or :port, with an IP address as host: port "65536" is not between 0 and 65535`},
		{
			"one port for two", ServingOptions{HealthBindAddress: ":8081", MetricsBindAddress: "127.0.0.1:8081"},
			"--health-bind-address and --metrics-bind-address use the same port 8081",
		},
		{"metrics on this machine", ServingOptions{MetricsBindAddress: "localhost:8080"}, ""},
		{
			"metrics for all, without a certificate", ServingOptions{MetricsBindAddress: ":8443"},
			"--metrics-bind-address :8443 needs a certificate, --cert-secret or --cert-dir, unless it is a loopback address",
		},
		{"metrics for all", ServingOptions{MetricsBindAddress: ":8443", CertDir: "/certs"}, ""},
		{"the pipeline on this machine", ServingOptions{DebugBindAddress: "127.0.0.1:0"}, ""},
		{
			"the pipeline for all", ServingOptions{DebugBindAddress: ":6060"},
			`--debug-bind-address is ":6060", but must be a loopback address, because it is unauthenticated; use --debug-pipeline to serve the same at the metrics address`,
		},
		{"the pipeline beside the metrics", ServingOptions{MetricsBindAddress: "127.0.0.1:0", DebugPipeline: true}, ""},
		{"the pipeline beside nothing", ServingOptions{DebugPipeline: true}, "--debug-pipeline needs --metrics-bind-address"},
		{"profiling of nothing", ServingOptions{Profiling: true}, "--profiling needs --metrics-bind-address"},
		{
			"webhooks without a certificate", ServingOptions{WebhookBindAddress: ":9443"},
			"--webhook-bind-address needs a certificate: --cert-secret or --cert-dir, or --webhook-url outside of the cluster",
		},
		{"clients of nothing", ServingOptions{WebhookClientCA: "ca.crt"}, "--webhook-client-ca-file needs --webhook-bind-address"},
		{
			"names without a CA", ServingOptions{WebhookBindAddress: ":9443", CertDir: "/certs", WebhookClientNames: []string{"kube-apiserver"}},
			"--webhook-client-name needs --webhook-client-ca-file: without it no certificate is verified",
		},
		{"webhooks by URL", ServingOptions{WebhookBindAddress: "127.0.0.1:0", WebhookURL: "https://127.0.0.1:0"}, ""},
		{"an aggregated API without a certificate of ours", ServingOptions{AggregatedAPIService: "api"}, "--aggregated-api-service needs a certificate, --cert-secret or --cert-dir: its CAs go into the APIService"},
		{"webhooks by Service", ServingOptions{WebhookBindAddress: ":9443", CertSecret: "certs", CertServices: []string{"fairlead-webhook"}}, ""},
		{"a URL and nothing there", ServingOptions{WebhookURL: "https://127.0.0.1:9443"}, "--webhook-url needs --webhook-bind-address"},
		{
			"a URL without TLS", ServingOptions{WebhookBindAddress: ":9443", WebhookURL: "http://127.0.0.1:9443"},
			`--webhook-url is "http://127.0.0.1:9443", but must be an https URL without user, query and fragment`,
		},
		{
			"a URL and a certificate", ServingOptions{WebhookBindAddress: ":9443", WebhookURL: "https://127.0.0.1:9443", CertDir: "/certs"},
			"--webhook-url creates its own certificate, and excludes --cert-dir and --cert-secret",
		},
		{
			"two certificates", ServingOptions{CertDir: "/certs", CertSecret: "certs", CertServices: []string{"fairlead-webhook"}},
			"--cert-dir and --cert-secret are mutually exclusive",
		},
		{"a certificate for nobody", ServingOptions{CertSecret: "certs"}, "--cert-secret needs at least one --cert-service"},
		{"a negative delay", ServingOptions{ShutdownDelay: -time.Second}, "--shutdown-delay is -1s, but must not be negative"},
	} {
		t.Run(test.name, func(t *testing.T) {
			options := NewOptions()
			options.Serving = test.o
			if diff := cmp.Diff(test.want, message(options.Validate())); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateLeaderElection(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*LeaderElectionOptions)
		want   string
	}{
		{"the defaults", func(*LeaderElectionOptions) {}, ""},
		{"off, so it does not matter", func(o *LeaderElectionOptions) { *o = LeaderElectionOptions{} }, ""},
		{"no name", func(o *LeaderElectionOptions) { o.LeaseName = "Mine" }, `--leader-elect-lease-name "Mine": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
		{"no namespace", func(o *LeaderElectionOptions) { o.Namespace = "Ops" }, `--leader-elect-namespace "Ops": ` + noLabel},
		{
			"a lease of parts of seconds", func(o *LeaderElectionOptions) { o.LeaseDuration = 10500 * time.Millisecond },
			"--leader-elect-lease-duration is 10.5s, but must be at least 3s and whole seconds",
		},
		{
			"a leader that outlives its lease", func(o *LeaderElectionOptions) { o.RenewDeadline = 15 * time.Second },
			"--leader-elect-renew-deadline is 15s, but must be less than the lease duration of 15s",
		},
		{
			"no second try", func(o *LeaderElectionOptions) { o.RetryPeriod = 9 * time.Second },
			"--leader-elect-retry-period is 9s, but must be positive, and 1.2 times it must be less than the renew deadline of 10s",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			options := NewOptions()
			options.LeaderElection.Enabled = true
			test.change(&options.LeaderElection)
			if diff := cmp.Diff(test.want, message(options.Validate())); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
