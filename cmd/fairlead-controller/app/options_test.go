// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

const noLabel = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character " +
	"(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"the defaults", func(*Options) {}, ""},
		{"one worker", func(o *Options) { o.Workers = 1 }, ""},
		{"as many workers as allowed", func(o *Options) { o.Workers = 1000 }, ""},
		{"no workers", func(o *Options) { o.Workers = 0 }, "--workers is 0, but must be between 1 and 1000"},
		{"too many workers", func(o *Options) { o.Workers = 1001 }, "--workers is 1001, but must be between 1 and 1000"},
		{"no workers for a namespace", func(o *Options) { o.WorkersPerNamespace = 0 }, "--workers-per-namespace is 0, but must be between 1 and 1000"},
		{"the shortest resync period", func(o *Options) { o.ResyncPeriod = time.Second }, ""},
		{"a resync period that is a load", func(o *Options) { o.ResyncPeriod = 999 * time.Millisecond }, "--resync-period is 999ms, but must be 0 or at least 1s"},
		{"a negative resync period", func(o *Options) { o.ResyncPeriod = -time.Hour }, "--resync-period is -1h0m0s, but must be 0 or at least 1s"},
		{"baseline", func(o *Options) { o.SecurityProfile = "baseline" }, ""},
		{"privileged", func(o *Options) { o.SecurityProfile = "privileged" }, ""},
		{"an unknown profile", func(o *Options) { o.SecurityProfile = "Restricted" }, `--security-profile is "Restricted", but must be one of ["restricted" "baseline" "privileged"]`},
		{"no profile", func(o *Options) { o.SecurityProfile = "" }, `--security-profile is "", but must be one of ["restricted" "baseline" "privileged"]`},
		{"a class for everyone", func(o *Options) { o.RequireClass = true }, ""},
		{"no classes", func(o *Options) { o.Classes = false }, ""},
		{"a class for everyone, and none", func(o *Options) { o.Classes, o.RequireClass = false, true }, "--require-class needs --classes"},
		{"two namespaces", func(o *Options) { o.Namespaces = []string{"shop", "team-a"} }, ""},
		// In the API it would mean all namespaces.
		{"the empty namespace", func(o *Options) { o.Namespaces = []string{""} }, `--namespace "": ` + noLabel},
		{"no namespace", func(o *Options) { o.Namespaces = []string{"a,b"} }, `--namespace "a,b": ` + noLabel},
		{
			"a namespace that is too long",
			func(o *Options) { o.Namespaces = []string{strings.Repeat("a", 64)} },
			`--namespace "` + strings.Repeat("a", 64) + `": must be no more than 63 characters`,
		},
		{"a namespace twice", func(o *Options) { o.Namespaces = []string{"shop", "team-a", "shop"} }, `--namespace "shop" is given twice`},
		{"a Secret for the key", func(o *Options) { o.ConfigHashKeySecret = "ops/key" }, ""},
		{
			"a Secret without a namespace", func(o *Options) { o.ConfigHashKeySecret = "key" },
			`--config-hash-key-secret is "key", but must be namespace/name of a Secret`,
		},
		{"no route controllers", func(o *Options) { o.RouteControllerNamespaces = nil }, ""},
		{"a route controller's namespace twice", func(o *Options) { o.RouteControllerNamespaces = []string{"traefik", "traefik"} }, `--route-controller-namespaces "traefik" is given twice`},
		{
			"everything that is wrong is said at once",
			func(o *Options) {
				o.Workers = -1
				o.SecurityProfile = "none"
				o.Namespaces = []string{"Shop", "Shop"}
				o.RouteControllerNamespaces = []string{"traefik", "traefik"}
			},
			`[--workers is -1, but must be between 1 and 1000, ` +
				`--security-profile is "none", but must be one of ["restricted" "baseline" "privileged"], ` +
				`--namespace "Shop": ` + noLabel + `, --namespace "Shop" is given twice, ` +
				`--route-controller-namespaces "traefik" is given twice]`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			options := NewOptions()
			test.change(options)
			if diff := cmp.Diff(test.want, message(options.Validate())); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestFlags(t *testing.T) {
	options := NewOptions()
	var sections cliflag.NamedFlagSets
	options.AddFlags(&sections)

	got := map[string][]string{}
	flags := pflag.NewFlagSet("all", pflag.ContinueOnError)
	for _, section := range sections.Order {
		sections.FlagSet(section).VisitAll(func(f *pflag.Flag) {
			if section != "logs" { // Those are Kubernetes'.
				got[section] = append(got[section], f.Name)
			}
			if f.Usage == "" {
				t.Errorf("--%s is not documented", f.Name)
			}
		})
		flags.AddFlagSet(sections.FlagSet(section))
	}
	want := map[string][]string{
		"cluster":    {"context", "kubeconfig", "namespace"},
		"controller": {"config-hash-key-secret", "resync-period", "workers", "workers-per-namespace"},
		"platform":   {"allow-unreviewed-service-accounts", "classes", "monitoring-namespaces", "require-class", "route-controller-namespaces", "security-profile"},
		"leader election": {
			"leader-elect", "leader-elect-lease-duration", "leader-elect-lease-name", "leader-elect-namespace",
			"leader-elect-renew-deadline", "leader-elect-retry-period",
		},
		"serving": {
			"aggregated-api-service", "cert-dir", "cert-secret", "cert-service", "debug-bind-address", "debug-pipeline", "health-bind-address", "metrics-bind-address", "operator-namespace",
			"profiling", "shutdown-delay", "webhook-bind-address", "webhook-client-ca-file", "webhook-client-name", "webhook-url",
		},
		"tracing": {"tracing-endpoint", "tracing-sampling-rate-per-million"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"cluster", "controller", "platform", "leader election", "serving", "tracing", "logs"}, sections.Order); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}

	err := flags.Parse([]string{
		"--kubeconfig=/config", "--context=dev", "--namespace=shop", "--namespace=team-a",
		"--workers=3", "--workers-per-namespace=2", "--resync-period=10h", "--security-profile=baseline", "--allow-unreviewed-service-accounts", "--require-class", "--classes", "--route-controller-namespaces=edge,gateway", "--monitoring-namespaces=observe",
		"--leader-elect", "--leader-elect-namespace=ops", "--leader-elect-lease-name=mine",
		"--leader-elect-lease-duration=30s", "--leader-elect-renew-deadline=20s", "--leader-elect-retry-period=5s",
		"--operator-namespace=fairlead", "--health-bind-address=:1", "--metrics-bind-address=:2", "--profiling", "--debug-bind-address=127.0.0.1:4", "--debug-pipeline", "--webhook-bind-address=:3",
		"--webhook-url=https://localhost:3", "--webhook-client-ca-file=/ca.crt", "--webhook-client-name=kube-apiserver", "--cert-dir=/certs", "--cert-secret=certs", "--cert-service=hooks,numbers", "--aggregated-api-service=api", "--shutdown-delay=5s", "--tracing-endpoint=localhost:4317", "--tracing-sampling-rate-per-million=5",
		"--config-hash-key-secret=ops/key", "--logging-format=json",
	})
	if err != nil {
		t.Fatal(err)
	}
	if options.Logging.Format != "json" {
		t.Errorf("the logging format is %q", options.Logging.Format)
	}
	options.Logging = nil
	parsed := &Options{
		Kubeconfig: "/config", Context: "dev", Namespaces: []string{"shop", "team-a"},
		Workers: 3, WorkersPerNamespace: 2, ResyncPeriod: 10 * time.Hour, SecurityProfile: "baseline", RouteControllerNamespaces: []string{"edge", "gateway"},
		AllowUnreviewedServiceAccounts: true, Classes: true, RequireClass: true, MonitoringNamespaces: []string{"observe"},
		ConfigHashKeySecret: "ops/key", OperatorNamespace: "fairlead",
		LeaderElection: LeaderElectionOptions{
			Enabled: true, Namespace: "ops", LeaseName: "mine",
			LeaseDuration: 30 * time.Second, RenewDeadline: 20 * time.Second, RetryPeriod: 5 * time.Second,
		},
		Serving: ServingOptions{
			HealthBindAddress: ":1", MetricsBindAddress: ":2", Profiling: true, DebugBindAddress: "127.0.0.1:4", DebugPipeline: true, WebhookBindAddress: ":3",
			WebhookURL: "https://localhost:3", WebhookClientCA: "/ca.crt", WebhookClientNames: []string{"kube-apiserver"}, CertDir: "/certs", CertSecret: "certs", CertServices: []string{"hooks", "numbers"},
			AggregatedAPIService: "api", ShutdownDelay: 5 * time.Second,
		},
		Tracing: TracingOptions{Endpoint: "localhost:4317", SamplingRate: 5},
	}
	if diff := cmp.Diff(parsed, options); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	// An option without a flag would have the zero value above, unnoticed.
	for _, options := range []any{*parsed, parsed.LeaderElection, parsed.Serving, parsed.Tracing} {
		for field, value := range reflect.ValueOf(options).Fields() {
			if field.Name != "Logging" && value.IsZero() {
				t.Errorf("no flag sets the option %s", field.Name)
			}
		}
	}
}

// The list of route controllers replaces the default, and may be empty.
func TestRouteControllerNamespaces(t *testing.T) {
	for argument, want := range map[string][]string{"": {}, "edge": {"edge"}} {
		options := NewOptions()
		var sections cliflag.NamedFlagSets
		options.AddFlags(&sections)
		if err := sections.FlagSet("platform").Parse([]string{"--route-controller-namespaces=" + argument}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, options.RouteControllerNamespaces); diff != "" {
			t.Errorf("%q (-want +got):\n%s", argument, diff)
		}
		if err := options.Validate(); err != nil {
			t.Errorf("%q: %v", argument, err)
		}
	}
}
