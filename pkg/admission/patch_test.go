// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/equality"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

func TestDiff(t *testing.T) {
	for _, test := range []struct {
		name, raw, before, after, want string
	}{
		{"equal", `{"a":1}`, `{"a":1}`, `{"a":1}`, `null`},
		{"raw alone has more", `{"a":1,"b":2}`, `{"a":1}`, `{"a":1}`, `null`},
		{"replace", `{"a":1}`, `{"a":1}`, `{"a":2}`, `[{"op":"replace","path":"/spec/a","value":2}]`},
		{"add", `{}`, `{}`, `{"a":2}`, `[{"op":"add","path":"/spec/a","value":2}]`},
		{"remove", `{"a":1}`, `{"a":1}`, `{}`, `[{"op":"remove","path":"/spec/a"}]`},
		{"remove what raw has not", `{}`, `{"a":""}`, `{}`, `null`},
		{"raw lacks what Go writes", `{}`, `{"a":{}}`, `{"a":{"b":1}}`, `[{"op":"add","path":"/spec/a","value":{"b":1}}]`},
		{"an item of a list", `{"a":["x","y"]}`, `{"a":["x","y"]}`, `{"a":["x","z"]}`, `[{"op":"replace","path":"/spec/a/1","value":"z"}]`},
		{"in an item of a list", `{"a":[{"n":1,"u":2}]}`, `{"a":[{"n":1}]}`, `{"a":[{"n":3}]}`, `[{"op":"replace","path":"/spec/a/0/n","value":3}]`},
		{"a longer list", `{"a":[1]}`, `{"a":[1]}`, `{"a":[1,2]}`, `[{"op":"replace","path":"/spec/a","value":[1,2]}]`},
		{"escaping", `{"a/b~c":1}`, `{"a/b~c":1}`, `{"a/b~c":2}`, `[{"op":"replace","path":"/spec/a~1b~0c","value":2}]`},
		{"false, empty and zero are values", `{}`, `{}`, `{"a":false,"b":"","c":0}`, `[{"op":"add","path":"/spec/a","value":false},{"op":"add","path":"/spec/b","value":""},{"op":"add","path":"/spec/c","value":0}]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var trees [3]any
			for i, data := range []string{test.raw, test.before, test.after} {
				if err := json.Unmarshal([]byte(data), &trees[i]); err != nil {
					t.Fatal(err)
				}
			}
			got, err := json.Marshal(diff("/spec", trees[0], trees[1], trees[2]))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("operations (-want +got):\n%s", diff)
			}
		})
	}
}

// Applied to what was sent, the patch gives the changed spec, whatever was changed; and what this
// version does not know stays.
func TestPatchGivesTheChangedSpec(t *testing.T) {
	specs := rendertest.Specs()
	fixedseed.Check(t, func(t *rapid.T) {
		before, after := specs.Draw(t, "before"), specs.Draw(t, "after")
		raw := withUnknown(t, &before)
		operations, err := patchSpec(raw, &before, &after)
		if err != nil {
			t.Fatal(err)
		}
		patched := applied(t, raw, operations)
		var got v1.ApplicationSpec
		if err := json.Unmarshal(patched, &got); err != nil {
			t.Fatal(err)
		}
		if !equality.Semantic.DeepEqual(got, after) {
			t.Errorf("patched (-want +got):\n%s", cmp.Diff(after, got))
		}
		if !strings.Contains(string(patched), `"unknownToUs":{"kept":true}`) {
			t.Errorf("the unknown field is gone: %s", patched)
		}
		if again, err := patchSpec(patched, &after, &after); err != nil || len(again) > 0 {
			t.Errorf("a second patch is %v, %v", again, err)
		}
	})
}

// withUnknown is the spec as a client may send it, with a field of a later version.
func withUnknown(t *rapid.T, spec *v1.ApplicationSpec) json.RawMessage {
	data, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	tree["unknownToUs"] = map[string]any{"kept": true}
	if data, err = json.Marshal(tree); err != nil {
		t.Fatal(err)
	}
	return data
}

// applied does what the API server does with the patch of a response, and returns the spec.
func applied(t interface {
	Helper()
	Fatal(args ...any)
}, spec json.RawMessage, operations []operation) json.RawMessage {
	t.Helper()
	encoded, err := json.Marshal(operations)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(encoded)
	if err != nil {
		t.Fatal(err)
	}
	object, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	patched, err := patch.Apply(object)
	if err != nil {
		t.Fatal(string(encoded), err)
	}
	var result struct{ Spec json.RawMessage }
	if err := json.Unmarshal(patched, &result); err != nil {
		t.Fatal(err)
	}
	return result.Spec
}
