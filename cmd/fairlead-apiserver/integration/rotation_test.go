// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/pkg/aggregation"
	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
)

// TestRotation replaces the certificate and its CA in the order of pkg/certs while a watch is open and requests come. None
// fails, and the watch goes on. It is not parallel, like TestOutage.
func TestRotation(t *testing.T) {
	f := &fixture{
		T: t, namespace: cluster.Namespace(t),
		kube: kubernetes.NewForConfigOrDie(cluster.Config()), fairlead: versioned.NewForConfigOrDie(cluster.Config()),
	}
	views := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace)
	watching, err := views.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()
	failed := 0
	request := func() {
		if _, err := views.List(t.Context(), metav1.ListOptions{}); err != nil {
			failed++
			t.Errorf("request %d that failed during the rotation: %v", failed, err)
		}
	}

	next, key, err := newCertificate()
	if err != nil {
		t.Fatal(err)
	}
	both := slices.Concat(*shared.caBundle.Load(), next)
	shared.caBundle.Store(&both)
	client := dynamic.NewForConfigOrDie(cluster.Config()).Resource(aggregation.APIServices)
	f.eventually("the APIService has both CAs", func() error {
		request()
		live, err := client.Get(t.Context(), apiServiceName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		encoded, _, err := unstructured.NestedString(live.Object, "spec", "caBundle")
		if err == nil && encoded != base64.StdEncoding.EncodeToString(both) {
			err = errors.New("it does not")
		}
		return err
	})
	if err := shared.serve(next, key); err != nil {
		t.Fatal(err)
	}
	f.eventually("the server serves the new certificate", func() error {
		request()
		return serves(next)
	})
	shared.caBundle.Store(&next)
	f.apply("rotated", 0)
	f.untilEvent(watching, func(kind watch.EventType, view *v1alpha1.ApplicationRuntime) bool {
		request()
		return kind != watch.Deleted && view.Name == "rotated"
	})
}

// serves returns an error unless a new connection gets the certificate, given as PEM.
func serves(certificate []byte) error {
	//nolint:gosec // The test compares the certificate itself.
	connection, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", shared.port), &tls.Config{InsecureSkipVerify: true, ServerName: service + "." + serviceNamespace + ".svc"})
	if err != nil {
		return err
	}
	defer connection.Close()
	block, _ := pem.Decode(certificate)
	if served := connection.ConnectionState().PeerCertificates[0]; !bytes.Equal(served.Raw, block.Bytes) {
		return fmt.Errorf("it serves %s", served.SerialNumber)
	}
	return nil
}
