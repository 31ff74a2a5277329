// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// mergeCase is written as users write it. What is taken is what has to be added to the spec, unless
// merged says otherwise.
type mergeCase struct {
	name     string
	spec     string
	defaults string
	// merged are the fields of the spec that come out, all of them; taken what status tells.
	merged string
	taken  string
}

func TestMerge(t *testing.T) {
	for _, group := range [][]mergeCase{resourcesCases, rolloutCases, schedulingCases, podCases, routeCases, routeTypeCases, networkPolicyCases, monitoringCases} {
		for _, test := range group {
			t.Run(test.name, func(t *testing.T) {
				application := &v1.Application{Spec: decode[v1.ApplicationSpec](t, test.spec)}
				application.Name = "web"
				defaults := decode[v1.ApplicationDefaults](t, test.defaults)
				given, givenDefaults := application.DeepCopy(), defaults.DeepCopy()
				merged, taken := Merge(application, &defaults)
				if diff := cmp.Diff(decode[v1.ApplicationSpec](t, test.merged), merged.Spec); diff != "" {
					t.Errorf("merged (-want +got):\n%s", diff)
				}
				switch {
				case test.taken == "":
					if taken != nil || merged != application {
						t.Errorf("took %+v; want nothing, and the Application itself", taken)
					}
				case taken == nil:
					t.Error("took nothing")
				default:
					if diff := cmp.Diff(decode[v1.ApplicationDefaults](t, test.taken), *taken); diff != "" {
						t.Errorf("taken (-want +got):\n%s", diff)
					}
				}
				if diff := cmp.Diff(given, application) + cmp.Diff(givenDefaults, &defaults); diff != "" {
					t.Errorf("what was given is changed (-before +after):\n%s", diff)
				}
			})
		}
	}
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	if err := yaml.UnmarshalStrict([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

func TestMergeWithoutDefaults(t *testing.T) {
	application := &v1.Application{}
	for _, defaults := range []*v1.ApplicationDefaults{nil, {}, {Routes: &v1.RouteDefaults{}, PodMetadata: &v1.PodMetadata{}}} {
		if merged, taken := Merge(application, defaults); merged != application || taken != nil {
			t.Errorf("%+v: merged %+v, taken %+v; want the Application itself", defaults, merged, taken)
		}
	}
}

var resourcesCases = []mergeCase{{
	name:     "resources: all",
	defaults: `resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}`,
	merged:   `resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}`,
	taken:    `resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}`,
}, {
	name:     "resources: by name",
	spec:     `resources: {requests: {cpu: 1}}`,
	defaults: `resources: {requests: {cpu: 100m, memory: 64Mi}}`,
	merged:   `resources: {requests: {cpu: 1, memory: 64Mi}}`,
	taken:    `resources: {requests: {memory: 64Mi}}`,
}, {
	name:     "resources: all are set",
	spec:     `resources: {requests: {cpu: 1}, limits: {memory: 1Gi}}`,
	defaults: `resources: {requests: {cpu: 100m}, limits: {memory: 128Mi}}`,
	merged:   `resources: {requests: {cpu: 1}, limits: {memory: 1Gi}}`,
}, {
	name:     "resources: a request above the Application's limit gives way",
	spec:     `resources: {limits: {memory: 32Mi}}`,
	defaults: `resources: {requests: {cpu: 100m, memory: 64Mi}}`,
	merged:   `resources: {requests: {cpu: 100m}, limits: {memory: 32Mi}}`,
	taken:    `resources: {requests: {cpu: 100m}}`,
}, {
	name:     "resources: a limit below the Application's request gives way",
	spec:     `resources: {requests: {memory: 1Gi}}`,
	defaults: `resources: {limits: {memory: 128Mi}}`,
	merged:   `resources: {requests: {memory: 1Gi}}`,
}, {
	name:     "resources: of devices request and limit are the same",
	spec:     `resources: {limits: {nvidia.com/gpu: 2}}`,
	defaults: `resources: {requests: {nvidia.com/gpu: 1}}`,
	merged:   `resources: {limits: {nvidia.com/gpu: 2}}`,
}}

var rolloutCases = []mergeCase{{
	name:     "rollback: a named revision leaves the policy to the class",
	spec:     `rollback: {toRevision: 1}`,
	defaults: `rollback: {policy: OnFailure}`,
	merged:   `rollback: {policy: OnFailure, toRevision: 1}`,
	taken:    `rollback: {policy: OnFailure}`,
}, {
	name:     "rollback: nothing in it",
	spec:     `rollback: {}`,
	defaults: `rollback: {policy: OnFailure}`,
	merged:   `rollback: {policy: OnFailure}`,
	taken:    `rollback: {policy: OnFailure}`,
}, {
	name:     "rollback: a named revision, and no policy of the class",
	spec:     `rollback: {toRevision: 1}`,
	defaults: `progressDeadlineSeconds: 60`,
	merged:   `{rollback: {toRevision: 1}, progressDeadlineSeconds: 60}`,
	taken:    `progressDeadlineSeconds: 60`,
}, {
	name:     "rollback: a policy",
	spec:     `rollback: {policy: Never, toRevision: 1}`,
	defaults: `rollback: {policy: OnFailure}`,
	merged:   `rollback: {policy: Never, toRevision: 1}`,
}, {
	name:     "strategy: type",
	defaults: `strategy: {type: Recreate}`,
	merged:   `strategy: {type: Recreate}`,
	taken:    `strategy: {type: Recreate}`,
}, {
	name:     "strategy: halves",
	spec:     `strategy: {rollingUpdate: {maxSurge: 1}}`,
	defaults: `strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 50%, maxUnavailable: 10%}}`,
	merged:   `strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 10%}}`,
	taken:    `strategy: {rollingUpdate: {maxUnavailable: 10%}}`,
}, {
	name:     "strategy: an Application that rolls does not take Recreate",
	spec:     `strategy: {rollingUpdate: {maxSurge: 1}}`,
	defaults: `strategy: {type: Recreate}`,
	merged:   `strategy: {rollingUpdate: {maxSurge: 1}}`,
}, {
	name:     "strategy: an Application that is recreated takes no rollingUpdate",
	spec:     `strategy: {type: Recreate}`,
	defaults: `strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}`,
	merged:   `strategy: {type: Recreate}`,
}, {
	name:     "strategy: a second zero gives way",
	spec:     `strategy: {rollingUpdate: {maxSurge: 0}}`,
	defaults: `strategy: {rollingUpdate: {maxUnavailable: 0%, maxSurge: 1}}`,
	merged:   `strategy: {rollingUpdate: {maxSurge: 0}}`,
}, {
	name:     "progressDeadlineSeconds",
	defaults: `progressDeadlineSeconds: 120`,
	merged:   `progressDeadlineSeconds: 120`,
	taken:    `progressDeadlineSeconds: 120`,
}, {
	name:     "progressDeadlineSeconds: set",
	spec:     `progressDeadlineSeconds: 60`,
	defaults: `progressDeadlineSeconds: 120`,
	merged:   `progressDeadlineSeconds: 60`,
}, {
	name:     "progressDeadlineSeconds: gives way to minReadySeconds",
	spec:     `minReadySeconds: 120`,
	defaults: `progressDeadlineSeconds: 120`,
	merged:   `minReadySeconds: 120`,
}, {
	name:     "terminationGracePeriodSeconds",
	spec:     `lifecycle: {preStop: {sleep: {seconds: 10}}}`,
	defaults: `terminationGracePeriodSeconds: 10`,
	merged:   `{lifecycle: {preStop: {sleep: {seconds: 10}}}, terminationGracePeriodSeconds: 10}`,
	taken:    `terminationGracePeriodSeconds: 10`,
}, {
	name:     "terminationGracePeriodSeconds: set, to nothing",
	spec:     `terminationGracePeriodSeconds: 0`,
	defaults: `terminationGracePeriodSeconds: 10`,
	merged:   `terminationGracePeriodSeconds: 0`,
}, {
	name:     "terminationGracePeriodSeconds: gives way to a longer preStop of a sidecar",
	spec:     `sidecars: [{name: proxy, lifecycle: {preStop: {sleep: {seconds: 11}}}}]`,
	defaults: `terminationGracePeriodSeconds: 10`,
	merged:   `sidecars: [{name: proxy, lifecycle: {preStop: {sleep: {seconds: 11}}}}]`,
}}
