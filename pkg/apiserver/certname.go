// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/util/cert"
)

// servesName returns an error until the served certificate is valid for the name by which kube-apiserver connects.
//
// The kubelet brings a new certificate into the pods about a minute after the Secret has it, and into each pod at another time. A
// replica without it must not be ready: the controller registers the server when one replica answers, and kube-apiserver would
// refuse the others.
func servesName(certificate dynamiccertificates.CertKeyContentProvider, name string) error {
	content, _ := certificate.CurrentCertKeyContent()
	chain, err := cert.ParseCertsPEM(content)
	if err != nil {
		return fmt.Errorf("parse the serving certificate: %w", err)
	}
	if err := chain[0].VerifyHostname(name); err != nil {
		return fmt.Errorf("the serving certificate is not valid for %s yet: %w", name, err)
	}
	return nil
}
