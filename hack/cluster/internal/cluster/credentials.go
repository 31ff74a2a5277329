// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"os"
	"path/filepath"

	"fairlead.dev/fairlead/hack/cluster/internal/atomicfile"
	"fairlead.dev/fairlead/hack/cluster/internal/pki"
)

// The API server's address inside the service network, where clients in a real cluster would find it.
const (
	serviceNetwork   = "10.96.0.0/16"
	serviceIP        = "10.96.0.1"
	podNetwork       = "10.244.0.0/16"
	groupMasters     = "system:masters"
	frontProxyClient = "front-proxy-client"
)

// credentials are the certificates, keys and kubeconfigs of one cluster, all in one directory.
type credentials struct {
	dir               string
	ca                *pki.Authority // signs the API server, every client and every component's server
	frontProxyCA      *pki.Authority // signs the aggregator alone: what it signs may name any user
	serviceAccountKey string
	apiServer         pki.Pair
	frontProxy        pki.Pair
	admin             pki.Pair
}

func newCredentials(dataDir string) (*credentials, error) {
	c := &credentials{dir: filepath.Join(dataDir, "pki")}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, fmt.Errorf("create certificates: %w", err)
	}
	var err error
	if c.ca, err = pki.LoadOrCreateAuthority(c.dir, "ca"); err != nil {
		return nil, err
	}
	if c.frontProxyCA, err = pki.LoadOrCreateAuthority(c.dir, "front-proxy-ca"); err != nil {
		return nil, err
	}
	if c.serviceAccountKey, err = pki.LoadOrCreateKey(c.dir, "service-account"); err != nil {
		return nil, err
	}
	if c.apiServer, err = c.ca.Issue(KubeAPIServer, pki.Subject{
		CommonName: KubeAPIServer,
		Addresses: []string{loopback, serviceIP, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc.cluster.local"},
	}); err != nil {
		return nil, err
	}
	if c.frontProxy, err = c.frontProxyCA.Issue(frontProxyClient, pki.Subject{CommonName: frontProxyClient}); err != nil {
		return nil, err
	}
	if c.admin, err = c.ca.Issue("admin", pki.Subject{CommonName: "fairlead-admin", Organizations: []string{groupMasters}}); err != nil {
		return nil, err
	}
	return c, nil
}

// serving issues the certificate of a component's own HTTPS port.
func (c *credentials) serving(component string) (pki.Pair, error) {
	return c.ca.Issue(component+"-serving", pki.Subject{CommonName: component, Addresses: []string{loopback, "localhost"}})
}

// clientKubeconfig writes the kubeconfig with which a component reaches the API server.
func (c *credentials) clientKubeconfig(component, server string, subject pki.Subject) (string, error) {
	client, err := c.ca.Issue(component+"-client", subject)
	if err != nil {
		return "", err
	}
	content, err := pki.Kubeconfig(server, c.ca, client)
	if err != nil {
		return "", err
	}
	file := filepath.Join(c.dir, component+".kubeconfig")
	return file, atomicfile.Write(file, content)
}
