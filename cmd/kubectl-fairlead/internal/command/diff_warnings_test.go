// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestDiffNamesTheWarned: of several Applications, the API server's warnings say about which one they are.
func TestDiffNamesTheWarned(t *testing.T) {
	const document = "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: %s, namespace: shop}\nspec: {image: 'web:2', replicas: 2}\n---\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		resource, name := path.Base(path.Dir(r.URL.Path)), path.Base(r.URL.Path)
		switch {
		case resource == "applications":
			if r.Method == http.MethodPatch {
				w.Header().Add("Warning", `299 - "spec.paused: the change waits"`)
			}
			fmt.Fprintf(w, `{"kind":"Application","apiVersion":"apps.fairlead.dev/v1","metadata":{"name":%q,"namespace":"shop","uid":"uid","resourceVersion":"1"},"spec":{"image":"web:1","replicas":2}}`, name)
		case name == "applicationclasses":
			fmt.Fprint(w, `{"kind":"ApplicationClassList","apiVersion":"apps.fairlead.dev/v1","items":[]}`)
		case resource == "namespaces":
			fmt.Fprint(w, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop"}}`)
		default:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)
		}
	}))
	defer server.Close()
	for want, names := range map[string][]string{
		"Warning: spec.paused: the change waits\n":                                                             {"web"},
		"Warning: shop/web: spec.paused: the change waits\nWarning: shop/api: spec.paused: the change waits\n": {"web", "api"},
	} {
		streams, in, out, errOut := genericiooptions.NewTestIOStreams()
		for _, name := range names {
			fmt.Fprintf(in, document, name)
		}
		code := Run(t.Context(), streams, []string{"diff", "-f", "-", "--server=" + server.URL})
		if code != ExitNo || errOut.String() != want || strings.Count(out.String(), "web:1") < len(names) {
			t.Errorf("%q: exit code %d, %q, want %q\n%s", names, code, errOut, want, out)
		}
	}
}
