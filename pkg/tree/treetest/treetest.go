// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package treetest has Applications with all their objects, as a real API server returned them: one that works, and one
// for each way of not working. Each line of a file is one object; what no reader uses is left out.
package treetest

import (
	"bytes"
	"embed"
	"encoding/json"
	"path"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree"
)

//go:embed testdata/*.json
var files embed.FS

// Now is a little after the objects were read.
var Now = time.Date(2026, 11, 24, 2, 40, 0, 0, time.UTC)

// Names are the names of all cases.
func Names(tb testing.TB) []string {
	tb.Helper()
	entries, err := files.ReadDir("testdata")
	if err != nil {
		tb.Fatal(err)
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".json"))
	}
	return names
}

// Load returns the objects of a case, and the Events about them.
func Load(tb testing.TB, name string) (tree.Objects, []corev1.Event) {
	tb.Helper()
	content, err := files.ReadFile(path.Join("testdata", name+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	var (
		objects tree.Objects
		events  []corev1.Event
	)
	for line := range bytes.Lines(content) {
		if strings.Contains(string(line), `"kind":"`+v1.ApplicationKind+`","metadata"`) {
			objects.Application = &v1.Application{}
			if err := json.Unmarshal(line, objects.Application); err != nil {
				tb.Fatalf("%s: %v", name, err)
			}
			continue
		}
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(line, nil, nil)
		if err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		switch object := object.(type) {
		case *appsv1.ReplicaSet:
			objects.ReplicaSets = append(objects.ReplicaSets, object)
		case *corev1.Pod:
			objects.Pods = append(objects.Pods, object)
		case *discoveryv1.EndpointSlice:
			objects.EndpointSlices = append(objects.EndpointSlices, object)
		case *corev1.Event:
			events = append(events, *object)
		case child.Object:
			objects.Children = append(objects.Children, object)
		}
	}
	return objects, events
}
