// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package schemagen_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// Whatever the API server stores of an Application, with the webhooks off, the controller can read,
// and its cost is bounded by the size of the object.
func TestEveryStorableApplication(t *testing.T) {
	objects := generator(t, v1.ApplicationKind).Objects(t.Context())
	classes := classesOfExamples(t)
	fixedseed.Check(t, func(t *rapid.T) {
		app := decode[v1.Application](t, objects.Draw(t, "Application").Fields)
		app.Namespace, app.UID, app.Generation = "shop", "application-uid", 1
		checkApplication(t, app, classes)
	})
}

// The same of an ApplicationClass, and of what it makes of an Application.
func TestEveryStorableClass(t *testing.T) {
	classes := generator(t, v1.ApplicationClassKind).Objects(t.Context())
	applications := seeds(t, v1.ApplicationKind)
	fixedseed.Check(t, func(t *rapid.T) {
		class := decode[v1.ApplicationClass](t, classes.Draw(t, "ApplicationClass").Fields)
		app := decode[v1.Application](t, rapid.SampledFrom(applications).Draw(t, "Application"))
		app.Namespace, app.UID, app.Generation, app.Spec.ClassName = "shop", "application-uid", 1, class.Name
		checkClass(t, class)
		checkApplication(t, app, []*v1.ApplicationClass{class})
	})
}

// known are the errors of objects that the schema accepts and Go cannot read. Such an object harms only
// itself, since the informers set it aside. Each line is a gap of the schema; there should be none.
var known = []string{
	"of type int32",         // a number in an int-or-string
	"quantities must match", // 1e1.5
	"unable to parse quantity's suffix",
}

// decode reads an object as an informer does, from the JSON of the API server.
func decode[T any](t *rapid.T, object map[string]any) *T {
	t.Helper()
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(encoded, nil, nil)
	switch {
	case err == nil:
	case slices.ContainsFunc(known, func(text string) bool { return strings.Contains(err.Error(), text) }):
		t.Skip(err)
	default:
		t.Fatalf("the API server stores it, and it cannot be decoded: %v", err)
	}
	return any(decoded).(*T)
}
