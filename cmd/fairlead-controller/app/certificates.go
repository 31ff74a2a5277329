// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/pkg/admission"
	"fairlead.dev/fairlead/pkg/certs"
	"fairlead.dev/fairlead/pkg/server"
)

// certificates are the serving certificate and its source; nil if this process serves nothing over TLS.
type certificates struct {
	provider dynamiccertificates.CertKeyContentProvider
	serving  *server.Certificates
	// follow keeps the provider up to date, in every replica; nil if it never changes.
	follow func(context.Context)
	// rotate issues and renews the certificate, in the leader; nil if another component does.
	rotate func(context.Context)
	// caBundle has the CAs that the API server must trust, if this process registers them.
	caBundle func() []byte
}

// newCertificates returns the source of the certificate that the flags select. leading is a client that writes only
// while this replica leads.
func newCertificates(config CompletedConfig, leading kubernetes.Interface) (*certificates, error) {
	o := config.Serving
	c := &certificates{}
	switch {
	case o.CertDir != "":
		files, err := dynamiccertificates.NewDynamicServingContentFromFiles("serving certificate",
			filepath.Join(o.CertDir, "tls.crt"), filepath.Join(o.CertDir, "tls.key"))
		if err != nil {
			return nil, fmt.Errorf("read --cert-dir: %w", err)
		}
		c.provider = files
		c.caBundle = caBundleFile(filepath.Join(o.CertDir, certs.KeyCABundle))
		c.follow = func(ctx context.Context) { files.Run(ctx, 1) }
	case o.CertSecret != "":
		if err := c.useSecret(config, leading); err != nil {
			return nil, err
		}
	case o.WebhookURL != "":
		if err := c.useMemory(o.WebhookURL); err != nil {
			return nil, err
		}
	default:
		return nil, nil
	}
	c.serving = server.NewCertificates(c.provider)
	return c, nil
}

// caBundleFile reads the CAs that cert-manager puts beside the certificate. Without the file there are none.
func caBundleFile(file string) func() []byte {
	return func() []byte {
		bundle, err := os.ReadFile(file)
		if err != nil {
			return nil
		}
		return bundle
	}
}

// useSecret lets every replica follow the Secret, and the leader write it.
func (c *certificates) useSecret(config CompletedConfig, leading kubernetes.Interface) error {
	namespace, name := config.OperatorNamespace, config.Serving.CertSecret
	var names certs.Names
	services := config.Serving.CertServices
	if service := config.Serving.AggregatedAPIService; service != "" && !slices.Contains(services, service) {
		services = append(slices.Clone(services), service)
	}
	for _, service := range services {
		names.DNSNames = append(names.DNSNames, certs.ServiceNames(service, namespace).DNSNames...)
	}
	// One store for both, so that the leader serves a new certificate before its watch shows it.
	store := certs.NewSecretStore(leading.CoreV1().Secrets(namespace), namespace, name)
	rotator, err := certs.NewRotator(certs.Config{
		Store:          store,
		Names:          names,
		Policy:         certs.DefaultPolicy(),
		Configurations: webhookConfigurations(config, leading),
	})
	if err != nil {
		return fmt.Errorf("create certificate rotator: %w", err)
	}
	c.provider, c.follow, c.rotate, c.caBundle = store, store.Run, rotator.Run, store.CABundle
	return nil
}

// webhookConfigurations returns the webhook configurations whose caBundle the leader maintains: none without
// webhooks.
func webhookConfigurations(config CompletedConfig, leading kubernetes.Interface) []certs.Configuration {
	if config.Serving.WebhookBindAddress == "" {
		return nil
	}
	registration := leading.AdmissionregistrationV1()
	return []certs.Configuration{
		certs.MutatingConfiguration(registration.MutatingWebhookConfigurations(), admission.ConfigurationName),
		certs.ValidatingConfiguration(registration.ValidatingWebhookConfigurations(), admission.ConfigurationName),
	}
}

// useMemory creates a certificate for a controller outside the cluster. The certificate outlives every such process.
func (c *certificates) useMemory(webhookURL string) error {
	target, err := url.Parse(webhookURL)
	if err != nil {
		return fmt.Errorf("parse --webhook-url: %w", err)
	}
	var names certs.Names
	if ip := net.ParseIP(target.Hostname()); ip != nil {
		names.IPs = []net.IP{ip}
	} else {
		names.DNSNames = []string{target.Hostname()}
	}
	store, err := certs.NewInMemoryStore(names, certs.DefaultPolicy())
	if err != nil {
		return fmt.Errorf("create a certificate for --webhook-url: %w", err)
	}
	c.provider, c.caBundle = store, store.CABundle
	return nil
}

// rotateWhileLeading adds the rotation of certificates to work. Only the leader writes them, so the rotation ends
// before the lease does.
func (c *certificates) rotateWhileLeading(work func(ctx, lease context.Context)) func(ctx, lease context.Context) {
	if c == nil || c.rotate == nil {
		return work
	}
	return besideWork(work, c.rotate)
}
