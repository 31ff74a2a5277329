// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certstest

import (
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/pkg/certs"
)

// The API server calls a webhook of a follower three times for every request, while the leader goes through several
// leaves and CAs. No call fails.
func TestS17RotationUnderLoadLosesNoRequest(t *testing.T) {
	cp := shared.Get(t)
	namespace := cp.Namespace(t)
	client := clientFor(t, cp.Config())

	follower := certs.NewSecretStore(client.CoreV1().Secrets(namespace), namespace, secretName)
	url, handshakes := serveWebhook(t, follower)
	run(t, follower.Run)
	installWebhooks(t, client, namespace, url)
	fast := certs.Policy{CAValidity: 24 * time.Second, LeafValidity: 7 * time.Second, Backdate: 2 * time.Second, Overlap: time.Second}
	startReplica(t, client, namespace, fast, configurations(client, namespace)...)
	eventually(t, "a first request passes", func() bool { return dryRun(t, client, namespace) == nil })

	var requests, failures atomic.Int64
	stop := make(chan struct{})
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			pace := time.NewTicker(20 * time.Millisecond)
			defer pace.Stop()
			for {
				select {
				case <-stop:
					return
				case <-pace.C:
				}
				requests.Add(1)
				if err := dryRun(t, client, namespace); err != nil {
					failures.Add(1)
					t.Errorf("%s: %v", time.Now().Format("15:04:05.000"), err)
				}
			}
		})
	}
	leaves, bundles, signers := map[string]bool{}, map[string]bool{}, map[string]bool{}
	eventually(t, "three CAs have signed", func() bool {
		leaf, _ := follower.CurrentCertKeyContent()
		leaves[string(leaf)], bundles[string(follower.CABundle())] = true, true
		signers[string(getSecret(t, client, namespace).Data[certs.KeyCACertificate])] = true
		return len(signers) >= 3 && len(leaves) >= 6
	})
	close(stop)
	load.Wait()
	t.Logf("%d requests, %d failed; %d handshakes; %d leaves, %d caBundles, %d CAs",
		requests.Load(), failures.Load(), handshakes.Load(), len(leaves), len(bundles), len(signers))
	if requests.Load() < 100 || handshakes.Load() < 50 {
		t.Error("there was no load to speak of")
	}
}

// dryRun sends a request for which the API server calls the webhooks.
func dryRun(t *testing.T, client kubernetes.Interface, namespace string) error {
	_, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-"}},
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// serveWebhook serves a webhook that allows everything, with the certificate of the store, and counts
// the handshakes.
func serveWebhook(t *testing.T, store *certs.SecretStore) (url string, handshakes *atomic.Int64) {
	t.Helper()
	base := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	controller := dynamiccertificates.NewDynamicServingCertificateController(base, nil, store, nil, nil)
	store.AddListener(controller)
	go controller.Run(1, t.Context().Done())

	handshakes = &atomic.Int64{}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			handshakes.Add(1)
			return controller.GetConfigForClient(hello)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	server := &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var review admissionv1.AdmissionReview
			if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			// The test needs many handshakes: an open connection no longer looks at certificates.
			if calls.Add(1)%3 == 0 {
				w.Header().Set("Connection", "close")
			}
			review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
			review.Request = nil
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(&review); err != nil {
				t.Logf("answer: %v", err)
			}
		}),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return "https://127.0.0.1:" + port + "/", handshakes
}
