// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clienttesting "k8s.io/client-go/testing"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
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

// TestTimelineOfNothing: an Application that does not exist is named as such, and the timelines of the others are printed.
func TestTimelineOfNothing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) != "web" {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(debug.Timeline{Version: debug.Version})
	}))
	defer server.Close()
	const (
		unknown = "shop/api: the controller has recorded nothing about it: it may watch other namespaces, or not be the leader"
		gone    = `applications.apps.fairlead.dev "wbe" not found in namespace shop` + "\nDid you mean web?"
	)
	named := func(name string) *v1.Application {
		return &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	}
	for _, test := range []struct {
		names     []string
		ofCluster bool
		silent    bool
		want      string
	}{
		{[]string{"wbe", "web"}, true, false, gone},
		{[]string{"api", "wbe"}, true, false, unknown + "\n" + gone},
		{[]string{"api"}, true, true, unknown},
		{[]string{"api"}, false, false, unknown},
	} {
		fairlead := fake.NewClientset(named("web"), named("api"))
		fairlead.PrependReactor("get", "applications", func(action clienttesting.Action) (bool, runtime.Object, error) {
			if test.silent {
				return true, nil, errors.New("no answer")
			}
			missing := apierrors.NewNotFound(v1.Resource("applications"), "timeline")
			return action.GetSubresource() == "timeline", nil, missing
		})
		tool := toolWith(*clientcmdapi.NewConfig(), "shop")
		tool.connected = &cluster.Clients{Fairlead: fairlead}
		var keys []types.NamespacedName
		for _, name := range test.names {
			keys = append(keys, types.NamespacedName{Namespace: "shop", Name: name})
		}
		fetch := tool.timelineFetcher(server.URL, test.ofCluster)
		for what, err := range map[string]error{
			"text": tool.followTimelines(t.Context(), false, keys, true, fetch),
			"json": tool.encodeTimelines(t.Context(), output{format: "json"}, keys, true, fetch),
		} {
			if err == nil || explain(err) != test.want {
				t.Errorf("%q as %s: %v, want %s", test.names, what, err, test.want)
			}
		}
	}
}
