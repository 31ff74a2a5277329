// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// FuzzLogOptions: whatever the query, the options of the kubelet are those that the user asked for, or the answer is 400.
func FuzzLogOptions(f *testing.F) {
	for _, seed := range []string{
		"", "follow=true", "follow=true&previous=true", "tailLines=-1", "tailLines=9223372036854775808", "sinceSeconds=0", "container=app&container=proxy",
		"follow=%00", "timestamps=T&limitBytes=1&stream=Stderr", "insecureSkipTLSVerifyBackend=true",
	} {
		f.Add(seed)
	}
	codec := runtime.NewParameterCodec(newScheme())
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return // No request has it.
		}
		options := &v1alpha1.ApplicationLogOptions{}
		if codec.DecodeParameters(values, v1alpha1.SchemeGroupVersion, options) != nil || checkLogOptions(options) != nil {
			return
		}
		asked := podLogOptions(container{"cart-1", "app"}, options, nil)
		switch {
		case asked.Follow && asked.Previous,
			asked.TailLines != nil && *asked.TailLines < 0, asked.SinceSeconds != nil && *asked.SinceSeconds < 1,
			asked.InsecureSkipTLSVerifyBackend, asked.LimitBytes != nil, asked.Container != "app", !asked.Timestamps:
			t.Errorf("%q becomes %+v", query, asked)
		}
		if got := containersOf([]*pod{podWith("cart-1", "app", "proxy")}, options); options.Container != "" && len(got) > 1 {
			t.Errorf("%q reads %v", query, got)
		}
	})
}

// FuzzEdits: whatever a user posts, the patch changes the one field of the spec that the path is about.
func FuzzEdits(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"revision":1}`, `{"revision":-1}`, `{"revision":1e3}`, `{"spec":{"image":"other"}}`, `{"metadata":{"annotations":{"a":"b"},"finalizers":["x"]}}`,
		`{"apiVersion":"subresources.apps.fairlead.dev/v1alpha1","kind":"RollbackOptions","revision":9223372036854775807}`,
	} {
		f.Add(seed)
	}
	fields := map[string]string{"restart": "podMetadata", "rollback": "rollback", "pause": "paused", "resume": "paused"}
	f.Fuzz(func(t *testing.T, body string) {
		for _, e := range edits() {
			given := e.newOptions()
			if json.Unmarshal([]byte(body), given) != nil {
				continue
			}
			spec, err := e.spec(given, noon)
			if err != nil {
				continue
			}
			if got := slices.Collect(maps.Keys(spec)); !slices.Equal(got, []string{fields[e.subresource]}) {
				t.Errorf("%s of %s changes %v", e.subresource, body, got)
			}
			if to, ok := spec["rollback"].(map[string]any); ok {
				if revision, ok := to["toRevision"].(int64); len(to) != 1 || !ok || revision < 1 {
					t.Errorf("%s of %s changes the rollback to %v", e.subresource, body, to)
				}
			}
		}
	})
}
