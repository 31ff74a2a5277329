// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics"
)

func ask(handler http.Handler, method, path, token string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, nil)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, request)
	return response
}

func TestHealthHandler(t *testing.T) {
	var stuck, empty error
	handler := HealthHandler(
		[]healthz.HealthChecker{NewCheck("workers", func() error { return stuck })},
		[]healthz.HealthChecker{NewCheck("caches", func() error { return empty })},
	)
	for _, test := range []struct {
		name         string
		stuck, empty error
		path         string
		code         int
		body         string
	}{
		{"alive", nil, errors.New("not listed"), "/livez", http.StatusOK, "ok"},
		{"alive, by the old name", nil, errors.New("not listed"), "/healthz", http.StatusOK, "ok"},
		{"each check", nil, nil, "/livez?verbose", http.StatusOK, "[+]ping ok\n[+]workers ok\nlivez check passed\n"},
		{"not ready", nil, errors.New("not listed"), "/readyz", http.StatusInternalServerError, "[-]caches failed: reason withheld\nreadyz check failed"},
		{"why", nil, errors.New("not listed"), "/readyz/caches", http.StatusInternalServerError, "internal server error: not listed"},
		{"but for that", nil, errors.New("not listed"), "/readyz?exclude=caches", http.StatusOK, "ok"},
		{"stuck", errors.New("hangs"), nil, "/livez", http.StatusInternalServerError, "[-]workers failed"},
		{"stuck, and ready", errors.New("hangs"), nil, "/readyz", http.StatusOK, "ok"},
		{"nothing else", nil, nil, "/metrics", http.StatusNotFound, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			stuck, empty = test.stuck, test.empty
			got := ask(handler, http.MethodGet, test.path, "")
			if got.Code != test.code || !strings.Contains(got.Body.String(), test.body) {
				t.Errorf("%s answers %d %s, want %d %s", test.path, got.Code, got.Body, test.code, test.body)
			}
		})
	}
}

func TestMetricsHandler(t *testing.T) {
	registry := metrics.NewKubeRegistry()
	RegisterBuildInfo(registry)
	for _, test := range []struct {
		method, path string
		profiling    bool
		code         int
	}{
		{http.MethodGet, "/metrics", false, http.StatusOK},
		{http.MethodDelete, "/metrics", false, http.StatusMethodNotAllowed},
		{http.MethodGet, "/debug/pprof/", false, http.StatusNotFound},
		{http.MethodGet, "/debug/pprof/heap", false, http.StatusNotFound},
		{http.MethodGet, "/debug/pprof/heap", true, http.StatusOK},
		{http.MethodGet, "/debug/pprof/cmdline", true, http.StatusOK},
		{http.MethodGet, "/", true, http.StatusNotFound},
	} {
		got := ask(MetricsHandler(registry, test.profiling), test.method, test.path, "")
		if got.Code != test.code {
			t.Errorf("%s %s, profiling %t: %d, want %d", test.method, test.path, test.profiling, got.Code, test.code)
		}
		if test.path == "/metrics" && test.code == http.StatusOK {
			for _, want := range []string{"fairlead_build_info{", "process_start_time_seconds", "go_goroutines"} {
				if !strings.Contains(got.Body.String(), want) {
					t.Errorf("%s is missing", want)
				}
			}
		}
	}
}

// reviewer is an API server that knows two tokens; the user of one may read metrics.
func reviewer(t *testing.T) (client kubernetes.Interface, asked func() []authorizationv1.SubjectAccessReviewSpec) {
	t.Helper()
	var mu sync.Mutex
	var specs []authorizationv1.SubjectAccessReviewSpec
	answer := func(w http.ResponseWriter, review any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /apis/authentication.k8s.io/v1/tokenreviews", func(w http.ResponseWriter, r *http.Request) {
		var review authenticationv1.TokenReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		switch review.Spec.Token {
		case "reader", "stranger":
			review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: review.Spec.Token}}
		case "broken":
			http.Error(w, "no answer", http.StatusForbidden)
			return
		}
		answer(w, review)
	})
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/subjectaccessreviews", func(w http.ResponseWriter, r *http.Request) {
		var review authorizationv1.SubjectAccessReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		specs = append(specs, review.Spec)
		review.Status.Allowed = review.Spec.User == "reader"
		answer(w, review)
	})
	api := httptest.NewServer(mux)
	t.Cleanup(api.Close)
	httpClient := api.Client()
	t.Cleanup(httpClient.CloseIdleConnections)
	client, err := kubernetes.NewForConfigAndClient(&rest.Config{Host: api.URL}, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	return client, func() []authorizationv1.SubjectAccessReviewSpec {
		mu.Lock()
		defer mu.Unlock()
		return specs
	}
}

// S19: a client that reads metrics must authenticate, and needs permission.
func TestAccess(t *testing.T) {
	client, asked := reviewer(t)
	access, err := NewAccess(client)
	if err != nil {
		t.Fatal(err)
	}
	handler := access.Require(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for token, want := range map[string]int{
		"":         http.StatusUnauthorized,
		"forged":   http.StatusUnauthorized,
		"broken":   http.StatusUnauthorized,
		"stranger": http.StatusForbidden,
		"reader":   http.StatusTeapot,
	} {
		if got := ask(handler, http.MethodGet, "/metrics", token); got.Code != want {
			t.Errorf("token %q gets %d, want %d", token, got.Code, want)
		}
	}
	for _, spec := range asked() {
		if spec.NonResourceAttributes == nil || spec.NonResourceAttributes.Path != "/metrics" || spec.NonResourceAttributes.Verb != "get" {
			t.Errorf("it asked for %+v", spec)
		}
	}
}
