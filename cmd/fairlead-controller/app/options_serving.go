// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	utilnet "k8s.io/utils/net"
)

// ServingOptions are the flags of the endpoints that this process serves.
type ServingOptions struct {
	HealthBindAddress  string
	MetricsBindAddress string
	Profiling          bool
	DebugBindAddress   string
	DebugPipeline      bool
	WebhookBindAddress string
	WebhookURL         string
	WebhookClientCA    string
	WebhookClientNames []string
	CertDir            string
	CertSecret         string
	CertServices       []string
	// AggregatedAPIService is the Service of fairlead-apiserver; empty if there is none.
	AggregatedAPIService string
	ShutdownDelay        time.Duration
}

func newServingOptions() ServingOptions {
	return ServingOptions{CertServices: []string{"fairlead-webhook", "fairlead-metrics"}}
}

func (o *ServingOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.HealthBindAddress, "health-bind-address", o.HealthBindAddress, "Address that serves /livez, /readyz and /healthz as plain HTTP, e.g. :8081. With port 0 the log has the port. Empty disables it.")
	flags.StringVar(&o.MetricsBindAddress, "metrics-bind-address", o.MetricsBindAddress, "Address that serves /metrics, e.g. :8443: HTTPS with RBAC, which needs a certificate; on a loopback address plain HTTP without authentication. With port 0 the log has the port. Empty disables it.")
	flags.BoolVar(&o.Profiling, "profiling", o.Profiling, "Serve /debug/pprof at the metrics address, with the same access control.")
	flags.StringVar(&o.DebugBindAddress, "debug-bind-address", o.DebugBindAddress, "Loopback address that serves /debug/pipeline/, a live view of the controller, e.g. 127.0.0.1:6060: plain HTTP without authentication. With port 0 the log has the port. Empty disables it.")
	flags.BoolVar(&o.DebugPipeline, "debug-pipeline", o.DebugPipeline, "Serve /debug/pipeline/ at the metrics address, with the same access control.")
	flags.StringVar(&o.WebhookBindAddress, "webhook-bind-address", o.WebhookBindAddress, "Address that serves the admission webhooks, e.g. :9443. With port 0 the log has the port. Empty disables them; then a sync reports what the schema of the CRD cannot check.")
	flags.StringVar(&o.WebhookURL, "webhook-url", o.WebhookURL, "HTTPS URL at which the API server reaches the webhook address, for a controller outside of the cluster. The controller creates a certificate in memory, registers the webhooks, and unregisters them at shutdown. Port 0 stands for the port of the webhook address.")
	flags.StringVar(&o.WebhookClientCA, "webhook-client-ca-file", o.WebhookClientCA, "PEM file with the CAs of the API server's client certificate. Clients without such a certificate cannot connect to the webhooks. The controller reloads the file when it changes. Empty: any client can connect.")
	flags.StringSliceVar(&o.WebhookClientNames, "webhook-client-name", o.WebhookClientNames, "Common names that the client certificate may have. Empty: any that a CA of --webhook-client-ca-file signed.")
	flags.StringVar(&o.CertDir, "cert-dir", o.CertDir, "Directory with the serving certificate tls.crt and tls.key, e.g. from cert-manager. The controller reloads them when they change.")
	flags.StringVar(&o.CertSecret, "cert-secret", o.CertSecret, "Name of the Secret in the operator namespace for the certificates that the controller issues and rotates itself.")
	flags.StringSliceVar(&o.CertServices, "cert-service", o.CertServices, "Services in the operator namespace for which the certificate of --cert-secret is valid.")
	flags.StringVar(&o.AggregatedAPIService, "aggregated-api-service", o.AggregatedAPIService, "Service of fairlead-apiserver in the operator namespace, on port 443. The leader creates its APIService once the server answers, and deletes it after two minutes without an answer, so that it blocks no deletion of a namespace. The server must serve the certificate of --cert-secret, or of --cert-dir, which then needs a file ca.crt. The ClusterRole of the same name owns the APIService: it is deleted with the installation.")
	flags.DurationVar(&o.ShutdownDelay, "shutdown-delay", o.ShutdownDelay, "Drain time after SIGTERM: how long the endpoints still answer, not ready, until Services stop sending requests. The lease is released at once.")
}

func (o *ServingOptions) validate() []error {
	var errs []error
	used := map[string]string{}
	for _, address := range []struct{ flag, value string }{
		{"--health-bind-address", o.HealthBindAddress},
		{"--metrics-bind-address", o.MetricsBindAddress},
		{"--debug-bind-address", o.DebugBindAddress},
		{"--webhook-bind-address", o.WebhookBindAddress},
	} {
		if address.value == "" {
			continue
		}
		_, port, err := splitAddress(address.value)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s is %q, but must be host:port or :port, with an IP address as host: %w", address.flag, address.value, err))
			continue
		}
		if other, taken := used[port]; taken && port != "0" {
			errs = append(errs, fmt.Errorf("%s and %s use the same port %s", other, address.flag, port))
		}
		used[port] = address.flag
	}
	errs = append(errs, o.validateCertificates()...)
	if host, _, err := splitAddress(o.DebugBindAddress); err == nil && !isLoopback(host) {
		errs = append(errs, fmt.Errorf("--debug-bind-address is %q, but must be a loopback address, because it is unauthenticated; use --debug-pipeline to serve the same at the metrics address", o.DebugBindAddress))
	}
	if o.DebugPipeline && o.MetricsBindAddress == "" {
		errs = append(errs, errors.New("--debug-pipeline needs --metrics-bind-address"))
	}
	if o.ShutdownDelay < 0 {
		errs = append(errs, fmt.Errorf("--shutdown-delay is %s, but must not be negative", o.ShutdownDelay))
	}
	return errs
}

// validateCertificates checks that there is exactly one source of a certificate if one is needed.
func (o *ServingOptions) validateCertificates() []error {
	var errs []error
	if o.CertDir != "" && o.CertSecret != "" {
		errs = append(errs, errors.New("--cert-dir and --cert-secret are mutually exclusive"))
	}
	if o.WebhookURL != "" {
		errs = append(errs, o.validateWebhookURL()...)
	}
	if o.WebhookBindAddress != "" && !o.hasCertificate() && o.WebhookURL == "" {
		errs = append(errs, errors.New("--webhook-bind-address needs a certificate: --cert-secret or --cert-dir, or --webhook-url outside of the cluster"))
	}
	if o.WebhookClientCA != "" && o.WebhookBindAddress == "" {
		errs = append(errs, errors.New("--webhook-client-ca-file needs --webhook-bind-address"))
	}
	if len(o.WebhookClientNames) > 0 && o.WebhookClientCA == "" {
		errs = append(errs, errors.New("--webhook-client-name needs --webhook-client-ca-file: without it no certificate is verified"))
	}
	if o.metricsSecured() && !o.hasCertificate() {
		errs = append(errs, fmt.Errorf("--metrics-bind-address %s needs a certificate, --cert-secret or --cert-dir, unless it is a loopback address", o.MetricsBindAddress))
	}
	if o.Profiling && o.MetricsBindAddress == "" {
		errs = append(errs, errors.New("--profiling needs --metrics-bind-address"))
	}
	if o.AggregatedAPIService != "" {
		if !o.hasCertificate() {
			errs = append(errs, errors.New("--aggregated-api-service needs a certificate, --cert-secret or --cert-dir: its CAs go into the APIService"))
		}
		for _, problem := range validation.IsDNS1035Label(o.AggregatedAPIService) {
			errs = append(errs, fmt.Errorf("--aggregated-api-service %q: %s", o.AggregatedAPIService, problem))
		}
	}
	if o.CertSecret == "" {
		return errs
	}
	for _, problem := range validation.IsDNS1123Subdomain(o.CertSecret) {
		errs = append(errs, fmt.Errorf("--cert-secret %q: %s", o.CertSecret, problem))
	}
	if len(o.CertServices) == 0 {
		errs = append(errs, errors.New("--cert-secret needs at least one --cert-service"))
	}
	for _, service := range o.CertServices {
		for _, problem := range validation.IsDNS1035Label(service) {
			errs = append(errs, fmt.Errorf("--cert-service %q: %s", service, problem))
		}
	}
	return errs
}

func (o *ServingOptions) validateWebhookURL() []error {
	var errs []error
	target, err := url.Parse(o.WebhookURL)
	if err != nil || target.Scheme != "https" || target.Hostname() == "" || target.User != nil || target.RawQuery != "" || target.Fragment != "" {
		errs = append(errs, fmt.Errorf("--webhook-url is %q, but must be an https URL without user, query and fragment", o.WebhookURL))
	}
	if o.WebhookBindAddress == "" {
		errs = append(errs, errors.New("--webhook-url needs --webhook-bind-address"))
	}
	if o.hasCertificate() {
		errs = append(errs, errors.New("--webhook-url creates its own certificate, and excludes --cert-dir and --cert-secret"))
	}
	return errs
}

// hasCertificate reports whether a flag provides a certificate that other components can trust. Only the API server
// trusts that of --webhook-url.
func (o *ServingOptions) hasCertificate() bool { return o.CertDir != "" || o.CertSecret != "" }

// metricsSecured reports whether clients must authenticate to read metrics. On a loopback address they need not,
// because only users of this machine can connect.
func (o *ServingOptions) metricsSecured() bool {
	if o.MetricsBindAddress == "" {
		return false
	}
	host, _, err := splitAddress(o.MetricsBindAddress)
	return err == nil && !isLoopback(host)
}

// reviewsRequesters reports whether every change of an Application passes the webhooks, even while this process does
// not run. Webhooks that this process registers itself end with it.
func (o *ServingOptions) reviewsRequesters() bool {
	return o.WebhookBindAddress != "" && o.WebhookURL == ""
}

// servesLiveView reports whether a flag serves the live view.
func (o *ServingOptions) servesLiveView() bool { return o.DebugBindAddress != "" || o.DebugPipeline }

// splitAddress splits a bind address. The host is empty, an IP address, or localhost.
func splitAddress(address string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(address)
	if err != nil {
		return "", "", err
	}
	if host != "" && host != "localhost" && net.ParseIP(host) == nil {
		return "", "", fmt.Errorf("%q is not an IP address", host)
	}
	if _, err := utilnet.ParsePort(port, true); err != nil {
		return "", "", fmt.Errorf("port %q is not between 0 and 65535", port)
	}
	return host, port, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
