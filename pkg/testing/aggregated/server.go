// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package aggregated prepares the aggregated API server to run on this machine, beside a control plane on the same one.
package aggregated

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/cert"
)

// Name is the name of the server, and of the Service that leads to it.
const Name = "fairlead-apiserver"

// Server is what the server needs, and kube-apiserver to reach it.
type Server struct {
	// Command starts the server.
	Command *exec.Cmd
	// Service and Registration are to be applied, in this order, once it runs: kube-apiserver resolves a Service of type
	// ExternalName itself, and takes the port from the APIService. In a cluster the controller registers the server.
	Service, Registration *unstructured.Unstructured
}

// Prepare makes a certificate in dir for a Service in the namespace, and chooses a port. version is what the server serves.
func Prepare(binary, kubeconfig, dir, namespace string, version schema.GroupVersion) (*Server, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey(Name+"."+namespace+".svc", nil, nil)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for file, content := range map[string][]byte{certFile: certificate, keyFile: key} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return nil, err
		}
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	return &Server{
		Command: exec.Command(binary, "--kubeconfig="+kubeconfig, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
			"--tls-cert-file="+certFile, "--tls-private-key-file="+keyFile),
		Service: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"namespace": namespace, "name": Name},
			"spec": map[string]any{"type": "ExternalName", "externalName": "localhost"},
		}},
		Registration: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": version.Version + "." + version.Group},
			"spec": map[string]any{
				"group": version.Group, "version": version.Version, "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
				"caBundle": base64.StdEncoding.EncodeToString(certificate),
				"service":  map[string]any{"namespace": namespace, "name": Name, "port": int64(port)},
			},
		}},
	}, nil
}

func freePort() (int, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	address, err := netip.ParseAddrPort(listener.Addr().String())
	return int(address.Port()), err
}
