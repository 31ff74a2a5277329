// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/pkg/child"
)

// TestExclusiveFields checks what is exchanged where others set fields that exclude ours. What
// they set beside ours stays.
func TestExclusiveFields(t *testing.T) {
	tests := []struct {
		name     string
		kind     child.Kind
		rendered string
		live     string
		want     string // JSON; empty: nothing is exchanged
	}{
		{
			name:     "one number of a budget",
			kind:     child.PodDisruptionBudget,
			rendered: `spec: {maxUnavailable: 1}`,
			live:     `spec: {minAvailable: 1}`,
			want:     `{"spec":{"maxUnavailable":1,"minAvailable":null}}`,
		}, {
			name:     "a key of a ConfigMap is text or bytes",
			kind:     child.ConfigMap,
			rendered: `data: {a: x}`,
			live:     `{data: {value: "1", valueFrom: "2"}, binaryData: {a: eA==, b: eA==}}`,
			want:     `{"binaryData":{"a":null},"data":{"a":"x"}}`,
		}, {
			name:     "a variable with a value",
			kind:     child.Deployment,
			rendered: `spec: {template: {spec: {containers: [{name: web, env: [{name: A, value: x}, {name: B, value: "2"}]}]}}}`,
			live:     `spec: {template: {spec: {containers: [{name: web, tty: true, env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: B, value: "3"}]}]}}}`,
			want:     `{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"A","value":"x","valueFrom":null}]}]}}}}`,
		}, {
			name:     "a variable from elsewhere",
			kind:     child.Deployment,
			rendered: `spec: {template: {spec: {containers: [{name: web, env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]}}}`,
			live:     `spec: {template: {spec: {containers: [{name: web, env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}}}`,
			want:     `{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"},"secretKeyRef":null}}]}]}}}}`,
		}, {
			name:     "one source of a volume",
			kind:     child.Deployment,
			rendered: `spec: {template: {spec: {volumes: [{name: config, configMap: {name: web}}]}}}`,
			live:     `spec: {template: {spec: {volumes: [{name: config, emptyDir: {}}, {name: other, emptyDir: {}}]}}}`,
			want:     `{"spec":{"template":{"spec":{"volumes":[{"name":"config","configMap":{"name":"web"},"emptyDir":null}]}}}}`,
		}, {
			name:     "one action of a probe",
			kind:     child.Deployment,
			rendered: `spec: {template: {spec: {containers: [{name: web, readinessProbe: {httpGet: {port: http}}}]}}}`,
			live:     `spec: {template: {spec: {containers: [{name: web, readinessProbe: {exec: {command: ["true"]}, periodSeconds: 3}}]}}}`,
			want:     `{"spec":{"template":{"spec":{"containers":[{"name":"web","readinessProbe":{"exec":null,"httpGet":{"port":"http"}}}]}}}}`,
		}, {
			name:     "Recreate has no numbers",
			kind:     child.Deployment,
			rendered: `spec: {strategy: {type: Recreate}}`,
			live:     `spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}`,
			want:     `{"spec":{"strategy":{"rollingUpdate":null,"type":"Recreate"}}}`,
		}, {
			name:     "RollingUpdate has",
			kind:     child.Deployment,
			rendered: `spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 0}}}`,
			live:     `spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 1}}}`,
		}, {
			name:     "no affinity, no timeout",
			kind:     child.Service,
			rendered: `spec: {sessionAffinity: None}`,
			live:     `spec: {sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 3}}}`,
			want:     `{"spec":{"sessionAffinity":"None","sessionAffinityConfig":null}}`,
		}, {
			name:     "an affinity may have a timeout",
			kind:     child.Service,
			rendered: `spec: {sessionAffinity: ClientIP}`,
			live:     `spec: {sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 3}}}`,
		},
	}
	differ := NewDiffer(scheme.Scheme)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			desired := child.Desired{Ref: child.Ref{Kind: test.kind, Name: "web"}, Configuration: object(t, test.kind, test.rendered)}
			difference, err := differ.Compare(desired, object(t, test.kind, test.live))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if difference.PrePatch != nil {
				encoded, err := json.Marshal(difference.PrePatch)
				if err != nil {
					t.Fatal(err)
				}
				got = string(encoded)
			}
			if diff := cmp.Diff(normal(t, test.want), normal(t, got)); diff != "" {
				t.Errorf("the patch (-want +got):\n%s", diff)
			}
		})
	}
}

func object(t *testing.T, kind child.Kind, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetGroupVersionKind(kind.GroupVersionKind())
	u.SetName("web")
	return u
}

// normal is JSON with its keys in order.
func normal(t *testing.T, text string) any {
	t.Helper()
	if text == "" {
		return nil
	}
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}
