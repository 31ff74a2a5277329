// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"fairlead.dev/fairlead/pkg/debug"
)

// TestTimelines prints the timelines of several Applications, each line with its own. A controller at an address needs no cluster.
func TestTimelines(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) == "gone" {
			http.NotFound(w, r)
			return
		}
		event := debug.Event{Sequence: 1, Time: at, Stage: "queue", Type: debug.TypeStarted, Reason: path.Base(r.URL.Path)}
		if err := json.NewEncoder(w).Encode(debug.Timeline{Version: debug.Version, Events: []debug.Event{event}}); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	t.Setenv("KUBECONFIG", "/none")
	for args, want := range map[string]string{
		"timeline web -n shop":     "\n03:04:05.000  queue       Started  because of web\n",
		"timeline web api -n shop": "\nshop/web  03:04:05.000  queue       Started  because of web\n\nshop/api  03:04:05.000  queue       Started  because of api\n",
	} {
		streams, _, out, errOut := genericiooptions.NewTestIOStreams()
		if code := Run(t.Context(), streams, append(strings.Fields(args), "--address="+server.URL)); code != ExitYes || out.String() != want {
			t.Errorf("%s: exit code %d, %q, %q, want %q", args, code, out, errOut, want)
		}
	}
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	if code := Run(t.Context(), streams, []string{"timeline", "web", "api", "-n", "shop", "-o", "json", "--address=" + server.URL}); code != ExitYes {
		t.Fatalf("exit code %d, %q", code, errOut)
	}
	const gone = "error: shop/gone: the controller has recorded nothing about it: it may watch other namespaces, or not be the leader\n"
	for args, want := range map[string]string{
		"timeline gone web -n shop":         "\nshop/web  03:04:05.000  queue       Started  because of web\n",
		"timeline gone web -n shop -f":      "\nshop/web  03:04:05.000  queue       Started  because of web\n",
		"timeline gone web -n shop -o json": `"reason": "web"`,
		"timeline gone -n shop -o json":     "",
	} {
		streams, _, out, errOut := genericiooptions.NewTestIOStreams()
		code := Run(t.Context(), streams, append(strings.Fields(args), "--address="+server.URL))
		if code != ExitError || !strings.Contains(out.String(), want) || want == "" && out.Len() > 0 || errOut.String() != gone {
			t.Errorf("%s: exit code %d, %q, %q, want %q and the error %q", args, code, out, errOut, want, gone)
		}
	}
	var list struct{ Items []debug.Timeline }
	if err := json.Unmarshal(out.Bytes(), &list); err != nil || len(list.Items) != 2 {
		t.Errorf("%s: %v", out, err)
	}
}
