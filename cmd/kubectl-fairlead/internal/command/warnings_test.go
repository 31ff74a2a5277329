// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestWarnings: what the API server warns of looks as kubectl prints it, and is said once.
func TestWarnings(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Add("Warning", `299 - "the pods stay at revision 1"`)
		fmt.Fprint(w, `{"kind":"ApplicationClassList","apiVersion":"apps.fairlead.dev/v1","items":[{"metadata":{"name":"standard"}}]}`)
	}))
	defer server.Close()
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	if code := Run(t.Context(), streams, []string{"classes", "--server=" + server.URL}); code != ExitYes {
		t.Errorf("exit code %d", code)
	}
	if want := "Warning: the pods stay at revision 1\n"; errOut.String() != want {
		t.Errorf("%q, want %q", errOut, want)
	}
}
