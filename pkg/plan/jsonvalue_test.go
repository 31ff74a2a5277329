// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// Two values are equal if JSON has the same for both, whatever they are made of.
func TestViewEquals(t *testing.T) {
	quantity := resource.MustParse("1")
	same := resource.MustParse("1000m")
	for _, test := range []struct {
		name     string
		one, two any
		want     bool
	}{
		{"nil and nil", nil, nil, true},
		{"nil and nothing said", nil, "", false},
		{"a string type", corev1.ProtocolTCP, "TCP", true},
		{"integers of two sizes", int32(1), int64(1), true},
		{"an integer and a string", 1, "1", false},
		{"an integer and a bool", 1, true, false},
		{"a configuration and its type", corev1ac.ServicePort().WithName("http").WithPort(80), &corev1.ServicePort{Name: "http", Port: 80, TargetPort: intstr.FromInt32(0)}, false},
		{"a configuration with all that its type always has", corev1ac.ServicePort().WithName("http").WithPort(80).WithTargetPort(intstr.FromInt32(0)), &corev1.ServicePort{Name: "http", Port: 80}, true},
		{"a configuration and its JSON", corev1ac.EnvVar().WithName("A").WithValue("1"), map[string]any{"name": "A", "value": "1"}, true},
		{"a field more", map[string]any{"name": "A"}, corev1.EnvVar{Name: "A", Value: "1"}, false},
		{"a field less", map[string]any{"name": "A", "value": "1"}, corev1.EnvVar{Name: "A"}, false},
		{"lists", []any{"a", "b"}, []string{"a", "b"}, true},
		{"a shorter list", []any{"a"}, []string{"a", "b"}, false},
		{"another order", []any{"b", "a"}, []string{"a", "b"}, false},
		{"a list and a map", []any{}, map[string]any{}, false},
		{"bytes and their text", []byte("a"), "YQ==", true},
		{"bytes and a list", []byte("a"), []any{int64('a')}, false},
		{"quantities, written in two ways", quantity, same, true},
		{"a quantity and its text", quantity, "1", true},
		{"a port by number and one by name", intstr.FromInt32(1), intstr.FromString("1"), false},
		{"a port and its number", intstr.FromInt32(1), int64(1), true},
		{"raw JSON, written in two ways", runtime.RawExtension{Raw: []byte(`{"a": 1, "b": 2}`)}, runtime.RawExtension{Raw: []byte(`{"b":2,"a":1}`)}, true},
		{"raw JSON that differs", runtime.RawExtension{Raw: []byte(`{"a": 1}`)}, runtime.RawExtension{Raw: []byte(`{"a": 2}`)}, false},
	} {
		for _, pair := range [][2]any{{test.one, test.two}, {test.two, test.one}} {
			if got := jsonValueOf(pair[0]).equals(jsonValueOf(pair[1])); got != test.want {
				t.Errorf("%s: %T and %T are equal: %t", test.name, pair[0], pair[1], got)
			}
		}
	}
}

// Items that cannot be told apart are not known to be unique.
func TestUnique(t *testing.T) {
	for _, test := range []struct {
		name string
		list any
		want bool
	}{
		{"others", []string{"a", "b"}, true},
		{"the same twice", []string{"a", "b", "a"}, false},
		{"no JSON", []runtime.RawExtension{{Raw: []byte("{")}, {Raw: []byte("[")}}, false},
	} {
		if got := unique(nil, jsonValueOf(test.list)); got != test.want {
			t.Errorf("%s: unique: %t", test.name, got)
		}
	}
}
