// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestRequestsThatAreNoReview(t *testing.T) {
	good, err := json.Marshal(review(t, application(nil), nil))
	if err != nil {
		t.Fatal(err)
	}
	with := func(old, new string) string { return strings.Replace(string(good), old, new, 1) }
	for _, test := range []struct {
		name, method, path, contentType, body string
		want                                  int
		says                                  string
	}{
		{"a review", http.MethodPost, ValidatePath, "application/json", string(good), http.StatusOK, `"allowed":true`},
		{"with a charset", http.MethodPost, MutatePath, "application/json; charset=utf-8", string(good), http.StatusOK, `"allowed":true`},
		{"another method", http.MethodGet, ValidatePath, "application/json", string(good), http.StatusMethodNotAllowed, ""},
		{"another path", http.MethodPost, "/validate", "application/json", string(good), http.StatusNotFound, ""},
		{"another content type", http.MethodPost, ValidatePath, "application/yaml", string(good), http.StatusUnsupportedMediaType, "application/json"},
		{"no content type", http.MethodPost, ValidatePath, "", string(good), http.StatusUnsupportedMediaType, ""},
		{"no body", http.MethodPost, ValidatePath, "application/json", "", http.StatusBadRequest, "empty"},
		{"too much", http.MethodPost, ValidatePath, "application/json", `{"kind":"` + strings.Repeat("a", maxBody) + `"}`, http.StatusRequestEntityTooLarge, "larger than"},
		{"no JSON", http.MethodPost, ValidatePath, "application/json", "review", http.StatusBadRequest, "decode the review"},
		{"another version", http.MethodPost, ValidatePath, "application/json", with("admission.k8s.io/v1", "admission.k8s.io/v1beta1"), http.StatusBadRequest, "v1beta1"},
		{"no version", http.MethodPost, ValidatePath, "application/json", with(`"apiVersion":"admission.k8s.io/v1",`, ""), http.StatusBadRequest, "must say"},
		{"another kind", http.MethodPost, ValidatePath, "application/json", `{"apiVersion":"apps.fairlead.dev/v1","kind":"Application"}`, http.StatusBadRequest, "Application"},
		{"no request", http.MethodPost, ValidatePath, "application/json", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, http.StatusBadRequest, "no request"},
		{"no uid", http.MethodPost, ValidatePath, "application/json", with(`"uid":"5f0c4c4e-0000-4000-8000-000000000001"`, `"uid":""`), http.StatusBadRequest, "no uid"},
		{"a field of a later version", http.MethodPost, ValidatePath, "application/json", with(`"namespace":"shop"`, `"namespace":"shop","later":{"a":1}`), http.StatusOK, `"allowed":true`},
		{"about something else", http.MethodPost, ValidatePath, "application/json", with(`"kind":"Application"`, `"kind":"Pod"`), http.StatusOK, "knows Application"},
	} {
		t.Run(test.name, func(t *testing.T) {
			logger := ktesting.NewLogger(t, ktesting.NewConfig())
			request := httptest.NewRequestWithContext(klog.NewContext(t.Context(), logger), test.method, test.path, strings.NewReader(test.body))
			if test.contentType != "" {
				request.Header.Set("Content-Type", test.contentType)
			}
			recorder := httptest.NewRecorder()
			(&cluster{}).handler(t).ServeHTTP(recorder, request)
			if recorder.Code != test.want || !strings.Contains(recorder.Body.String(), test.says) {
				t.Errorf("%d: %.300s; want %d and %q", recorder.Code, recorder.Body, test.want, test.says)
			}
		})
	}
}

// registered are metrics that count, in a registry of their own.
func registered(t *testing.T) (*Metrics, metrics.KubeRegistry) {
	t.Helper()
	m, registry := NewMetrics(), metrics.NewKubeRegistry()
	if err := m.Register(registry.Register); err != nil {
		t.Fatal(err)
	}
	return m, registry
}

func wantMetrics(t *testing.T, registry metrics.KubeRegistry, want string, names ...string) {
	t.Helper()
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}

func TestMetrics(t *testing.T) {
	m, registry := registered(t)
	h := (&cluster{config: func(c *Config) { c.Metrics = m }}).handler(t)
	ask(t, h, MutatePath, review(t, application(nil), nil))
	ask(t, h, ValidatePath, review(t, application(nil), application(nil)))
	ask(t, h, ValidatePath, review(t, application(func(a *v1.Application) { a.Spec.Image = "" }), nil))
	strange := review(t, application(nil), nil)
	strange.Request.Operation = "secret-name"
	ask(t, h, ValidatePath, strange)
	post(t, h, ValidatePath, "{}")
	wantMetrics(t, registry, `
# HELP fairlead_admission_decisions_total [ALPHA] Admission requests by webhook, operation and decision: allowed, denied or error.
# TYPE fairlead_admission_decisions_total counter
fairlead_admission_decisions_total{decision="allowed",operation="CREATE",webhook="mutating"} 1
fairlead_admission_decisions_total{decision="allowed",operation="UPDATE",webhook="validating"} 1
fairlead_admission_decisions_total{decision="allowed",operation="other",webhook="validating"} 1
fairlead_admission_decisions_total{decision="denied",operation="CREATE",webhook="validating"} 1
fairlead_admission_decisions_total{decision="error",operation="other",webhook="validating"} 1
`, "fairlead_admission_decisions_total")
	if err := m.Register(registry.Register); err == nil {
		t.Error("they can be registered twice")
	}
}

// A panic costs its own request, and nothing else.
func TestPanic(t *testing.T) {
	m, registry := registered(t)
	c := &cluster{config: func(c *Config) {
		c.Metrics = m
		c.ReviewAccess = func(context.Context, authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
			panic("at the disco")
		}
		find := c.Find
		c.Find = func(ctx context.Context, reference Reference) (*metav1.PartialObjectMetadata, error) {
			if reference.Kind != KindConfigMap {
				return find(ctx, reference)
			}
			panic("in another goroutine")
		}
	}}
	h := c.handler(t)
	body, err := json.Marshal(review(t, application(withAccount("powerful")), nil))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * DefaultMaxInFlight { // each gives its slot back
		if got := post(t, h, ValidatePath, string(body)); got.Code != http.StatusInternalServerError || strings.Contains(got.Body.String(), "disco") {
			t.Fatalf("%d: %s", got.Code, got.Body)
		}
	}
	if got := ask(t, h, ValidatePath, review(t, application(mounting("conf")), nil)); !got.Allowed || len(got.Warnings) > 0 {
		t.Errorf("afterwards the response is %+v", got)
	}
	wantMetrics(t, registry, `
# HELP fairlead_admission_panics_total [ALPHA] Panics caught in the webhooks, by webhook.
# TYPE fairlead_admission_panics_total counter
fairlead_admission_panics_total{webhook="mutating"} 0
fairlead_admission_panics_total{webhook="validating"} 129
`, "fairlead_admission_panics_total")
}

func TestNewNeedsItsFunctions(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("it can be made of nothing")
	}
}

// Requests that are too many are told so at once; those that are worked on end well.
func TestS16Overload(t *testing.T) {
	m, registry := registered(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	c := &cluster{allowed: []string{"a"}, config: func(c *Config) {
		c.Metrics, c.MaxInFlight = m, 2
		c.ReviewAccess = func(context.Context, authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
			arrived <- struct{}{}
			<-release
			return authorizationv1.SubjectAccessReviewStatus{Allowed: true}, nil
		}
	}}
	h := c.handler(t)
	slow, err := json.Marshal(review(t, application(withAccount("a")), nil))
	if err != nil {
		t.Fatal(err)
	}
	codes := make(chan int)
	for range 2 {
		go func() { codes <- post(t, h, ValidatePath, string(slow)).Code }()
		<-arrived
	}
	got := post(t, h, MutatePath, string(slow))
	if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v: %s", got.Code, got.Header(), got.Body)
	}
	close(release)
	for range 2 {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("a request that was worked on ends with %d", code)
		}
	}
	if got := post(t, h, MutatePath, string(slow)); got.Code != http.StatusOK {
		t.Errorf("afterwards: %d", got.Code)
	}
	wantMetrics(t, registry, `
# HELP fairlead_admission_overload_rejections_total [ALPHA] Admission requests refused with 429 because of overload, by webhook.
# TYPE fairlead_admission_overload_rejections_total counter
fairlead_admission_overload_rejections_total{webhook="mutating"} 1
fairlead_admission_overload_rejections_total{webhook="validating"} 0
`, "fairlead_admission_overload_rejections_total")
}

// The answer comes before the API server stops waiting, even if a lookup hangs.
func TestDeadline(t *testing.T) {
	c := &cluster{config: func(c *Config) {
		c.ReviewAccess = func(ctx context.Context, _ authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
			<-ctx.Done()
			return authorizationv1.SubjectAccessReviewStatus{}, ctx.Err()
		}
	}}
	response := ask(t, c.handler(t), ValidatePath+"?timeout=100ms", review(t, application(withAccount("a")), nil))
	if response.Allowed || response.Result.Code != http.StatusServiceUnavailable {
		t.Errorf("the response is %+v", response)
	}
}

func TestTimeoutOf(t *testing.T) {
	for query, want := range map[string]time.Duration{
		"": Timeout, "timeout=10s": Timeout, "timeout=1s": 900 * time.Millisecond, "timeout=x": Timeout, "timeout=-1s": Timeout,
	} {
		if got := timeoutOf(httptest.NewRequestWithContext(t.Context(), http.MethodPost, ValidatePath+"?"+query, http.NoBody)); got != want {
			t.Errorf("%q is %s, want %s", query, got, want)
		}
	}
}

// Over a real connection a client that goes away, or sends half a review, blocks nobody.
func TestClientGoesAway(t *testing.T) {
	h := (&cluster{config: func(c *Config) { c.MaxInFlight = 1 }}).handler(t)
	server := httptest.NewServer(h)
	defer server.Close()
	ctx, leave := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+ValidatePath, reader)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	done := make(chan struct{})
	go func() {
		defer close(done)
		if response, err := server.Client().Do(request); err == nil {
			_ = response.Body.Close()
		}
	}()
	_, _ = writer.Write([]byte(`{"kind":`))
	leave()
	// The transport may wait for the body that it was reading.
	_ = writer.CloseWithError(io.ErrUnexpectedEOF)
	<-done
	body, err := json.Marshal(review(t, application(nil), nil))
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+ValidatePath, strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the slot is not free again: %s", response.Status)
		}
	}
}

// TestForeignNamespace is a client that is no API server and asks about one namespace in the name of another.
func TestForeignNamespace(t *testing.T) {
	question := review(t, application(func(a *v1.Application) { a.Namespace = "victim" }), nil)
	response := ask(t, (&cluster{}).handler(t), ValidatePath, question)
	if response.Allowed || !strings.Contains(response.Result.Message, `metadata.namespace is "victim"`) {
		t.Errorf("the response is %+v", response)
	}
}
