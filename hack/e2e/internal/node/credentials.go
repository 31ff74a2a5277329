// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// identity is who a component of the node is to the API server, and which signer vouches for that.
type identity struct {
	component string
	subject   pkix.Name
	signer    string
}

func (c *Config) kubelet() identity {
	return identity{
		component: "kubelet",
		subject:   pkix.Name{CommonName: "system:node:" + c.Name, Organization: []string{"system:nodes"}},
		signer:    certificatesv1.KubeAPIServerClientKubeletSignerName,
	}
}

func (c *Config) kubeProxy() identity {
	return identity{
		component: "kube-proxy",
		subject:   pkix.Name{CommonName: "system:kube-proxy"},
		signer:    certificatesv1.KubeAPIServerClientSignerName,
	}
}

// writeKubeconfig makes a key, has the cluster sign a certificate for it, as when a machine joins, and writes both into a
// kubeconfig.
func writeKubeconfig(ctx context.Context, admin *rest.Config, who identity, file string) error {
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return err
	}
	keyPEM, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return err
	}
	certificate, err := sign(ctx, client, who, keyPEM)
	if err != nil {
		return fmt.Errorf("get a certificate for %s: %w", who.component, err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["e2e"] = &clientcmdapi.Cluster{Server: admin.Host, CertificateAuthorityData: admin.CAData}
	config.AuthInfos["e2e"] = &clientcmdapi.AuthInfo{ClientCertificateData: certificate, ClientKeyData: keyPEM}
	config.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: "e2e"}
	config.CurrentContext = "e2e"
	return clientcmd.WriteToFile(*config, file)
}

func sign(ctx context.Context, client kubernetes.Interface, who identity, keyPEM []byte) ([]byte, error) {
	key, err := keyutil.ParsePrivateKeyPEM(keyPEM)
	if err != nil {
		return nil, err
	}
	request, err := cert.MakeCSRFromTemplate(key, &x509.CertificateRequest{Subject: who.subject})
	if err != nil {
		return nil, err
	}
	requests := client.CertificatesV1().CertificateSigningRequests()
	created, err := requests.Create(ctx, &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: who.component},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    request,
			SignerName: who.signer,
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	created.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "EndToEndTest", Message: "It made the key itself.",
	}}
	if _, err := requests.UpdateApproval(ctx, created.Name, created, metav1.UpdateOptions{}); err != nil {
		return nil, err
	}
	var signed *certificatesv1.CertificateSigningRequest
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		var err error
		signed, err = requests.Get(ctx, created.Name, metav1.GetOptions{})
		return err == nil && len(signed.Status.Certificate) > 0, err
	})
	if err != nil {
		return nil, fmt.Errorf("wait until it is signed: %w", err)
	}
	return signed.Status.Certificate, nil
}
