// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/hack/internal/load"
	"fairlead.dev/fairlead/hack/internal/metrics"
	"fairlead.dev/fairlead/hack/internal/steps"
)

// The load, and where its latency is read.
const (
	webhookRate     = 200 // a second
	webhookDuration = 15 * time.Second
	// inFlight bounds the requests without an answer. A slow machine gets less than the rate, which is printed; a queue
	// that grows without end would only measure itself.
	inFlight    = 20
	metricsPort = 8443

	operatorHistogram  = "fairlead_admission_duration_seconds"
	apiServerHistogram = "apiserver_admission_webhook_admission_duration_seconds"
)

// measureWebhooks creates Applications in a dry run, which asks both webhooks and stores nothing. The latency is the
// operator's own measure; the API server's, which has the network and TLS in it, stands beside it.
func (s *story) measureWebhooks(ctx context.Context) error {
	token, err := s.metricsToken(ctx)
	if err != nil {
		return fmt.Errorf("get a token for the operator's metrics: %w", err)
	}
	before, err := s.webhookHistograms(ctx, token)
	if err != nil {
		return err
	}
	asked, err := s.askWebhooks(ctx)
	if err != nil {
		return err
	}
	after, err := s.webhookHistograms(ctx, token)
	if err != nil {
		return err
	}
	if len(asked.answered) == 0 {
		return fmt.Errorf("no request was answered; the last one: %w", asked.failure)
	}
	s.out.Good("%d requests answered: %.0f a second", len(asked.answered), asked.rate)
	if asked.failed > 0 {
		s.out.Measured("%d requests failed, e.g.: %v", asked.failed, asked.failure)
	}
	for i, where := range []string{"in the operator", "seen by the API server"} {
		after[i].Add(before[i], -1)
		if after[i].Count() == 0 {
			return fmt.Errorf("no request was counted %s", where)
		}
		s.out.Measured("one webhook, %s: p50 %s, p99 %s (%.0f calls)", where, seconds(after[i].Quantile(0.5)), seconds(after[i].Quantile(0.99)), after[i].Count())
	}
	slices.Sort(asked.answered)
	p99 := asked.answered[int(math.Ceil(0.99*float64(len(asked.answered))))-1]
	s.out.Measured("the whole request, both webhooks and the API server's own work: p50 %s, p99 %s", steps.Duration(asked.answered[len(asked.answered)/2]), steps.Duration(p99))
	s.figures = append(s.figures, figure{fmt.Sprintf("Webhook at %.0f requests/s: p99 in the operator", asked.rate), seconds(after[0].Quantile(0.99)), "G10: at most 20 ms, aim 5 ms"})
	return nil
}

func seconds(value float64) string {
	return steps.Duration(time.Duration(value * float64(time.Second)))
}

// requests are what became of them.
type requests struct {
	rate float64 // a second

	mu       sync.Mutex
	answered []time.Duration
	failed   int
	failure  error // the last one
}

// askWebhooks sends requests at a steady rate.
func (s *story) askWebhooks(ctx context.Context) (*requests, error) {
	r := &requests{}
	stop := s.out.While("asking", nil)
	defer stop()
	var err error
	r.rate, err = load.AtRate(ctx, webhookRate, webhookDuration, inFlight, func(ctx context.Context, i int) error {
		sent := time.Now()
		err := s.create(ctx, newApplication(fmt.Sprintf("load-%d", i), workloadImage, nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		took := time.Since(sent)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil {
			r.failed++
			r.failure = err
			return nil // A request that fails is counted.
		}
		r.answered = append(r.answered, took)
		return nil
	})
	return r, err
}

// webhookHistograms reads both histograms, added up over the replicas.
func (s *story) webhookHistograms(ctx context.Context, token string) (both [2]metrics.Histogram, err error) {
	pods, err := s.pods(ctx, operatorNamespace, operatorLabel)
	if err != nil {
		return both, err
	}
	both[0] = metrics.Histogram{}
	for _, pod := range pods {
		exposition, err := scrape(ctx, fmt.Sprintf("https://%s:%d/metrics", pod.Status.PodIP, metricsPort), token)
		if err != nil {
			return both, fmt.Errorf("metrics of %s: %w", pod.Name, err)
		}
		families, err := metrics.Parse(exposition)
		if err != nil {
			return both, err
		}
		both[0].Add(families.Histogram(operatorHistogram, ""), 1)
	}
	exposition, err := s.kube.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return both, fmt.Errorf("metrics of the API server: %w", err)
	}
	families, err := metrics.Parse(exposition)
	both[1] = families.Histogram(apiServerHistogram, "fairlead.dev")
	return both, err
}

// metricsToken makes a ServiceAccount that may read metrics, as the one of Prometheus may, and returns its token.
func (s *story) metricsToken(ctx context.Context) (string, error) {
	const name = "e2e-metrics"
	meta := metav1.ObjectMeta{Name: name}
	if _, err := s.kube.CoreV1().ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}}
	if _, err := s.kube.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
	}
	if _, err := s.kube.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	request, err := s.kube.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return request.Status.Token, nil
}

// scrape reads metrics as a ServiceMonitor configures Prometheus to: the certificate is the operator's own, which the pod's address is not in.
func scrape(ctx context.Context, url, token string) ([]byte, error) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
	}}
	response, err := get(ctx, client, url, http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}
