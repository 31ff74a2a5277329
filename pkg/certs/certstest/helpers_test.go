// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certstest

import (
	"context"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/pkg/certs"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

var shared = controlplane.NewShared(controlplane.APIOnly(), controlplane.WithAuditLog())

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

const (
	secretName = "fairlead-serving-cert"
	// patience is far longer than anything here takes.
	patience = time.Minute
)

// names are those of a webhook that the API server calls by URL on this machine.
var names = certs.Names{DNSNames: []string{"localhost"}, IPs: []net.IP{net.IPv4(127, 0, 0, 1)}}

// policy issues a leaf every few seconds, and creates a CA every twenty.
var policy = certs.Policy{CAValidity: 30 * time.Second, LeafValidity: 8 * time.Second, Backdate: 2 * time.Second, Overlap: 2 * time.Second}

func clientFor(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// run runs until the test ends, or until stop is called.
func run(t *testing.T, loop func(context.Context)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { loop(ctx) })
	stop = func() {
		cancel()
		group.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// startReplica starts a replica that leads, and returns the store from which it serves.
func startReplica(t *testing.T, client kubernetes.Interface, namespace string, p certs.Policy, configurations ...certs.Configuration) *certs.SecretStore {
	t.Helper()
	store := certs.NewSecretStore(client.CoreV1().Secrets(namespace), namespace, secretName)
	rotator, err := certs.NewRotator(certs.Config{Store: store, Names: names, Policy: p, Configurations: configurations})
	if err != nil {
		t.Fatal(err)
	}
	run(t, store.Run)
	run(t, rotator.Run)
	return store
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true, func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func getSecret(t *testing.T, client kubernetes.Interface, namespace string) *corev1.Secret {
	t.Helper()
	secret, err := client.CoreV1().Secrets(namespace).Get(t.Context(), secretName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}
