// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ClusterName is the name of the cluster, user and context in every kubeconfig made here.
const ClusterName = "fairlead-cluster"

// Kubeconfig returns a kubeconfig that carries its certificates in itself, so that the file can be copied anywhere.
func Kubeconfig(server string, ca *Authority, client Pair) ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[ClusterName] = &clientcmdapi.Cluster{Server: server, CertificateAuthority: ca.CertFile()}
	config.AuthInfos[ClusterName] = &clientcmdapi.AuthInfo{ClientCertificate: client.CertFile, ClientKey: client.KeyFile}
	config.Contexts[ClusterName] = &clientcmdapi.Context{Cluster: ClusterName, AuthInfo: ClusterName}
	config.CurrentContext = ClusterName
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		return nil, fmt.Errorf("make kubeconfig for %s: %w", server, err)
	}
	return clientcmd.Write(*config)
}
