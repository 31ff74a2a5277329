// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/debug"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ Source = (*debug.Recorder)(nil)

var web = cache.ObjectName{Namespace: "shop", Name: "web"}

// oneSync records a sync of a key that finds nothing to do.
func oneSync(r *debug.Recorder, key cache.ObjectName) {
	now := time.Now()
	r.Enqueued(key, "Deployment", "Updated", now, now)
	record := r.Started(key, "Deployment", "Updated", now, "")
	record.Observed(6)
	record.Fresh()
	record.Rendered(6)
	record.Planned(0)
	record.Status("Unchanged", nil)
	record.Synced("Succeeded", false, nil)
}

func get(t *testing.T, h http.Handler, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:6060"+path, nil))
	return answer
}

func TestURLs(t *testing.T) {
	recorder := debug.New()
	recorder.Resource(debug.ResourceOptions{Resource: "deployments.apps", Role: "children"}).
		SetCache(cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}))
	recorder.Resource(debug.ResourceOptions{Resource: "secrets", Role: "references", Hidden: true}).
		SetCache(cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil))
	oneSync(recorder, web)
	h := New(recorder, Options{Page: fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}, "app.js": {Data: []byte("1")}}})
	for _, test := range []struct {
		method, path string
		code         int
		has          string
	}{
		{"GET", "/debug/pipeline/", 200, "<!doctype html>"},
		{"GET", "/debug/pipeline/app.js", 200, "1"},
		{"GET", "/debug/pipeline/none.js", 404, ""},
		{"GET", "/debug/pipeline", 301, ""},
		{"GET", "/debug/pipeline/v1/snapshot", 200, `"stages":[{"id":"watch"`},
		{"HEAD", "/debug/pipeline/v1/snapshot", 200, ""},
		{"GET", "/debug/pipeline/v1/events", 200, `"type":"Synced"`},
		{"GET", "/debug/pipeline/v1/events?type=Started&limit=1", 200, `"type":"Started"`},
		{"GET", "/debug/pipeline/v1/events?limit=some", 400, "limit must be a number from 1 to 5000"},
		{"GET", "/debug/pipeline/v1/keys?limit=0", 400, "limit must be a number from 1 to 5000"},
		{"GET", "/debug/pipeline/v1/keys?limit=-1", 400, "limit must be a number from 1 to 5000"},
		{"GET", "/debug/pipeline/v1/queue?limit=5001", 400, "limit must be a number from 1 to 5000"},
		{"GET", "/debug/pipeline/v1/keys", 200, `"keys":[{"namespace":"shop","name":"web","state":"Idle","verdict":"Succeeded"`},
		{"GET", "/debug/pipeline/v1/keys?failing=true", 200, `"keys":[]`},
		{"GET", "/debug/pipeline/v1/keys/shop/web", 200, `"trigger":"DeploymentUpdated"`},
		{"GET", "/debug/pipeline/v1/keys/shop/none", 404, ""},
		{"GET", "/debug/pipeline/v1/queue", 200, `"ready":[]`},
		{"GET", "/debug/pipeline/v1/cache", 200, `"resource":"deployments.apps"`},
		{"GET", "/debug/pipeline/v1/cache/deployments.apps", 200, `"objects":[]`},
		{"GET", "/debug/pipeline/v1/cache/deployments.apps?index=none&value=1", 404, `index "none"`},
		{"GET", "/debug/pipeline/v1/cache/deployments.apps/shop/web", 404, ""},
		{"GET", "/debug/pipeline/v1/cache/deployments.apps/-/web", 404, "deployments.apps web"},
		{"GET", "/debug/pipeline/v1/cache/secrets", 403, ""},
		{"GET", "/debug/pipeline/v1/cache/secrets/shop/web", 403, ""},
		{"GET", "/debug/pipeline/v1/cache/none", 404, ""},
		{"POST", "/debug/pipeline/v1/snapshot", 405, ""},
		{"DELETE", "/debug/pipeline/v1/keys/shop/web", 405, ""},
		{"PUT", "/debug/pipeline/", 405, ""},
	} {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			answer := get(t, h, test.method, test.path)
			if answer.Code != test.code || !strings.Contains(answer.Body.String(), test.has) {
				t.Errorf("the answer is %d %s", answer.Code, answer.Body)
			}
			if policy := answer.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") || strings.Contains(policy, "unsafe") {
				t.Errorf("the policy is %q", policy)
			}
			if answer.Code == http.StatusOK && answer.Header().Get("Content-Type") == "application/json" && test.method == "GET" && !json.Valid(answer.Body.Bytes()) {
				t.Errorf("it is no JSON: %s", answer.Body)
			}
			if answer.Code == http.StatusMovedPermanently && answer.Header().Get("Location") != "pipeline/" {
				t.Errorf("it redirects to %s", answer.Header().Get("Location"))
			}
		})
	}
}
