// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/crdschema"
)

// The command kubectl apply compares a list of a custom resource as a whole. A default in one of its items would make the stored list
// differ from the manifest for ever: each apply would print "configured" although nothing changed. So the rendering has the
// default instead. The key of a list would need a default in the schema, so no optional field is a key. Kubernetes' own types are as they are.
func TestNoDefaultsInLists(t *testing.T) {
	resources, err := crdschema.Load(filepath.Join(root, "artifacts", "crds"))
	if err != nil {
		t.Fatal(err)
	}
	ours := []string{"spec.ports", "spec.routes", "spec.networkPolicy"}
	looked := 0
	var look func(s *schema.Structural, path string, inList bool)
	look = func(s *schema.Structural, path string, inList bool) {
		if isOurs := slices.ContainsFunc(ours, func(field string) bool { return strings.HasPrefix(path, field) }); inList && isOurs {
			looked++
			if s.Default.Object != nil {
				t.Errorf("%s has the default %v", path, s.Default.Object)
			}
		}
		for field, below := range s.Properties {
			look(&below, path+"."+field, inList)
		}
		if s.Items != nil {
			look(s.Items, path+"[]", true)
		}
	}
	look(spec(resources, v1.ApplicationKind), "spec", false)
	if looked < 20 {
		t.Errorf("only %d fields of items were found", looked)
	}
}
