// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead.dev/fairlead/hack/internal/load"
)

const (
	askers    = 4
	askPeriod = 20 * time.Millisecond
)

// answers counts what a URL answers while askers keep asking. Each request has a connection of its own, so that
// kube-proxy chooses a pod for each, and the client repeats none.
type answers struct {
	mu      sync.Mutex
	bodies  map[string]int
	failed  int
	failure string // the first one
}

// keepAsking asks until stop is called, and then until each request under way has its answer.
func keepAsking(ctx context.Context, url string) (got *answers, stop func()) {
	return keepAskingAs(ctx, newClient(), url)
}

// keepAskingAs asks by a client.
func keepAskingAs(ctx context.Context, client *http.Client, url string) (got *answers, stop func()) {
	return keepAskingEvery(ctx, client, url, askers, askPeriod)
}

// keepAskingEvery asks by as many askers, each once in a period.
func keepAskingEvery(ctx context.Context, client *http.Client, url string, askers int, period time.Duration) (got *answers, stop func()) {
	got = &answers{bodies: map[string]int{}}
	return got, load.Keep(ctx, askers, period, func(ctx context.Context) {
		// The end of ctx must not look like a failed request.
		got.record(ask(context.WithoutCancel(ctx), client, url))
	})
}

func newClient() *http.Client {
	return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
}

// newEntryClient is a client for which every name is the address of an Ingress controller, as the DNS would have it. It
// trusts a certificate, and follows no redirect.
func newEntryClient(address string, trusted []byte) *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(trusted)
	client := newClient()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Transport = &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, named string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(named)
			if err != nil {
				return nil, err
			}
			return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(address, port))
		},
	}
	return client
}

func ask(ctx context.Context, client *http.Client, url string) (string, error) {
	response, err := get(ctx, client, url, nil)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// get returns a response with status 200, whose body the caller closes.
func get(ctx context.Context, client *http.Client, url string, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, header)
	response, err := client.Do(request)
	if err != nil || response.StatusCode == http.StatusOK {
		return response, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	return nil, errors.Join(fmt.Errorf("GET %s: %s: %s", url, response.Status, strings.TrimSpace(string(body))), err)
}

func (a *answers) record(body string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.bodies[body]++
		return
	}
	a.failed++
	if a.failure == "" {
		a.failure = fmt.Sprintf("%s: %v", time.Now().Format("15:04:05.000"), err)
	}
}

// total is the number of answers.
func (a *answers) total() int {
	n := 0
	for _, count := range a.counts() {
		n += count
	}
	return n
}

// counts is how often each body was answered.
func (a *answers) counts() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.bodies)
}

// check fails if a request did.
func (a *answers) check() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed > 0 {
		return fmt.Errorf("%d requests failed; the first one at %s", a.failed, a.failure)
	}
	return nil
}

// String is the counts in a sentence: 120 × version 1, 80 × version 2.
func (a *answers) String() string {
	counts := a.counts()
	parts := make([]string, 0, len(counts))
	for _, version := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d × version %s", counts[version], version))
	}
	return strings.Join(parts, ", ")
}
