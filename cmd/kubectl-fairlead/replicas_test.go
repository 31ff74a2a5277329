// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
)

// TestDiffOfWhoDecidesTheNumber: a number that Fairlead no longer sets stays on the Deployment, and a new autoscaler finds at least its
// minimum there. An autoscaler of one number is none.
func TestDiffOfWhoDecidesTheNumber(t *testing.T) {
	p := start(t)
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	const resources = ", resources: {requests: {cpu: 10m}}"
	p.create("web", "{image: example.com/web:1"+resources+", autoscaling: {minReplicas: 0, maxReplicas: 0}}")
	p.eventually("the Deployment", func() bool { return p.get("web").Status.ObservedGeneration > 0 && p.run("status", "web").code == 0 })
	file := func(rest string) []byte {
		return []byte("{apiVersion: apps.fairlead.dev/v1, kind: Application, metadata: {name: web}, spec: {image: 'example.com/web:1'" + resources + rest + "}}")
	}
	for rest, texts := range map[string][]string{
		", autoscaling: {minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 80}": {
			"/web: no pod is replaced; the desired number of pods goes from 0 to 1.\n", "    .spec.replicas: 0 → 1, from where it is left to the autoscaler\n",
		},
		", autoscaling: null": {
			"/web: no pod is replaced; the desired number of pods stays 0, and is left to the autoscaler or to you.\n",
			"    .spec.replicas: stays 0, and is left to the autoscaler or to you\n",
		},
	} {
		r := p.runIn(file(rest), "diff", "-f", "-")
		for _, text := range texts {
			if r.code != 1 || !strings.Contains(r.stdout, text) {
				t.Errorf("diff of %q: %+v, want %q", rest, r, text)
			}
		}
	}
	if number := p.deployment(kube).Spec.Replicas; *number != 0 {
		t.Errorf("the Deployment asks for %d pods", *number)
	}
	const scale = "spec.autoscaling sets the number of pods to 0: change its minReplicas and maxReplicas instead"
	if r := p.want(2, []string{"scale", "web", "--replicas=2"}); !strings.Contains(r.stderr, scale) {
		t.Errorf("scale says %q", r.stderr)
	}
}
