// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// BenchmarkServe is what a request costs in this process, without what the API server is asked for.
func BenchmarkServe(b *testing.B) {
	h := (&cluster{exist: []string{"ConfigMap/conf"}}).handler(b)
	body, err := json.Marshal(review(b, application(func(a *v1.Application) {
		withRoute("Web.example.com")(a)
		mounting("conf")(a)
	}), application(nil)))
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range []string{MutatePath, ValidatePath} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				request := httptest.NewRequestWithContext(b.Context(), http.MethodPost, path, strings.NewReader(string(body)))
				request.Header.Set("Content-Type", contentType)
				recorder := httptest.NewRecorder()
				h.ServeHTTP(recorder, request)
				if recorder.Code != http.StatusOK {
					b.Fatal(recorder.Body)
				}
			}
		})
	}
}
