// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/timeline"
	"fairlead.dev/fairlead/pkg/debug"
)

// TestPrint shows the example of the recorder's API.
func TestPrint(t *testing.T) {
	content, err := os.ReadFile("../../../../pkg/debug/testdata/timeline.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded debug.Timeline
	if err := json.Unmarshal(content, &recorded); err != nil {
		t.Fatal(err)
	}
	last := uint64(0)
	golden.Screens(t, "timeline", func(to *screen.Screen) { last = timeline.Print(to, "", recorded.Events, 0) })
	golden.Screens(t, "nothing-new", func(to *screen.Screen) { timeline.Print(to, "", recorded.Events, last) })
}

// TestFetch asks for the path of the key, and knows what the answers mean.
func TestFetch(t *testing.T) {
	code := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/debug/pipeline/v1/keys/shop/web" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(`{"events": [{"sequence": 7}]}`))
	}))
	defer server.Close()
	recorded, err := timeline.Fetch(t.Context(), server.URL, "shop", "web")
	if err != nil || len(recorded.Events) != 1 || recorded.Events[0].Sequence != 7 {
		t.Errorf("%+v, %v", recorded, err)
	}
	for _, page := range []string{"/", "/debug/pipeline", "/debug/pipeline/"} {
		if _, err := timeline.Fetch(t.Context(), server.URL+page, "shop", "web"); err != nil {
			t.Errorf("at %s: %v", page, err)
		}
	}
	code = http.StatusNotFound
	if _, err := timeline.Fetch(t.Context(), server.URL, "shop", "web"); !errors.Is(err, timeline.ErrUnknown) {
		t.Errorf("%v, want %v", err, timeline.ErrUnknown)
	}
	code = http.StatusForbidden
	if _, err := timeline.Fetch(t.Context(), server.URL, "shop", "web"); err == nil || errors.Is(err, timeline.ErrUnknown) {
		t.Errorf("%v, want another error", err)
	}
}
