// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package schemagen_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/scheme"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// The controller can decode every Application that the API server stores with the webhooks off, at a cost bounded by
// the size of the object.
func TestEveryStorableApplication(t *testing.T) {
	objects := generator(t, v1.ApplicationKind).Objects(t.Context())
	classes := classesOfExamples(t)
	fixedseed.Check(t, func(t *rapid.T) {
		app := decode[v1.Application](t, objects.Draw(t, "Application").Fields)
		app.Namespace, app.UID, app.Generation = "shop", "application-uid", 1
		checkApplication(t, app, classes)
	})
}

// The same for an ApplicationClass, and for what it makes of an Application.
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

// decode decodes an object as an informer does, from the JSON of the API server.
func decode[T any](t *rapid.T, object map[string]any) *T {
	t.Helper()
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(encoded, nil, nil)
	if err != nil {
		t.Fatalf("the API server stores it, and it cannot be decoded: %v", err)
	}
	return any(decoded).(*T)
}
