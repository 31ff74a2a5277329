// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import "testing"

func TestResources(t *testing.T) {
	run(t, []testCase{{
		name: "valid",
		spec: `resources: {requests: {cpu: 0.25, memory: 1.5Gi, ephemeral-storage: 1e9, example.com/gpu: 1, hugepages-2Mi: 4Mi, kubernetes.io/batteries: 1500m}, limits: {cpu: "1", example.com/gpu: 1, hugepages-2Mi: 4Mi, example.com/fpga: 2}}`,
	}, {
		name: "requests and limits",
		spec: `resources: {requests: {cpu: "2", memory: 2Gi, example.com/gpu: 1, example.com/fpga: 1}, limits: {cpu: "1", memory: 2G, example.com/gpu: 2}}`,
		want: []string{
			`spec.resources.requests[cpu]: Invalid value: "2": must be less than or equal to the limit of 1`,
			`spec.resources.requests[example.com/fpga]: Invalid value: "1": needs a limit of the same value, because the resource cannot be overcommitted`,
			`spec.resources.requests[example.com/gpu]: Invalid value: "1": must be equal to the limit of 2, because the resource cannot be overcommitted`,
			`spec.resources.requests[memory]: Invalid value: "2Gi": must be less than or equal to the limit of 2G`,
		},
	}, {
		name: "quantities",
		spec: `resources: {limits: {cpu: 100u, memory: 100m, ephemeral-storage: -1, example.com/gpu: 1500m, hugepages-2Mi: 3Mi, hugepages-x: 1}}`,
		want: []string{
			`spec.resources.limits[cpu]: Invalid value: "100u": must be a multiple of 1m, a thousandth of a core`,
			`spec.resources.limits[ephemeral-storage]: Invalid value: "-1": must be greater than or equal to 0`,
			`spec.resources.limits[example.com/gpu]: Invalid value: "1500m": must be an integer`,
			`spec.resources.limits[hugepages-2Mi]: Invalid value: "3Mi": must be a multiple of the page size, which is the suffix of hugepages-`,
			`spec.resources.limits[hugepages-x]: Invalid value: "1": must be a multiple of the page size, which is the suffix of hugepages-`,
			`spec.resources.limits[memory]: Invalid value: "100m": must be a whole number of bytes: the suffix m means thousandths, M megabytes, Mi mebibytes`,
		},
	}, {
		name: "fractions of a byte",
		spec: `{resources: {requests: {memory: 1Gi}, limits: {memory: 0.1Gi, ephemeral-storage: 1.3Gi}}, sidecars: [
{name: a, image: a, resources: {requests: {memory: 0.3Gi}, limits: {memory: 64Mi}}},
{name: b, image: b, resources: {requests: {memory: 0.05Mi}, limits: {memory: 357904394.666}}},
{name: c, image: c, resources: {limits: {memory: 0.3Ki, ephemeral-storage: 60.7Gi}}},
{name: d, image: d, resources: {requests: {cpu: "11", memory: 1Ki}, limits: {cpu: "10.24", memory: 102400m}}}]}`,
		want: []string{
			`spec.resources.limits[ephemeral-storage]: Invalid value: "1395864371200m": must be a whole number of bytes, and 1.3Gi is 1395864371.2: write 1331Mi or 1332Mi`,
			`spec.resources.limits[memory]: Invalid value: "107374182400m": must be a whole number of bytes, and 0.1Gi is 107374182.4: write 102Mi or 103Mi`,
			`spec.resources.requests[memory]: Invalid value: "1Gi": must be less than or equal to the limit of 0.1Gi`,
			`spec.sidecars[0].resources.requests[memory]: Invalid value: "322122547200m": must be a whole number of bytes, and 0.3Gi is 322122547.2: write 307Mi or 308Mi`,
			`spec.sidecars[1].resources.limits[memory]: Invalid value: "357904394.666": must be a whole number of bytes, and it is 357904394.666: write 341Mi or 342Mi`,
			`spec.sidecars[1].resources.requests[memory]: Invalid value: "52428800m": must be a whole number of bytes, and 0.05Mi is 52428.8: write 51Ki or 52Ki`,
			`spec.sidecars[2].resources.limits[ephemeral-storage]: Invalid value: "65176128716800m": must be a whole number of bytes, and 60.7Gi is 65176128716.8: write 60Gi or 61Gi`,
			`spec.sidecars[2].resources.limits[memory]: Invalid value: "307200m": must be a whole number of bytes: the suffix m means thousandths, M megabytes, Mi mebibytes`,
			`spec.sidecars[3].resources.limits[memory]: Invalid value: "102400m": must be a whole number of bytes: the suffix m means thousandths, M megabytes, Mi mebibytes`,
			`spec.sidecars[3].resources.requests[cpu]: Invalid value: "11": must be less than or equal to the limit of 10240m`,
			`spec.sidecars[3].resources.requests[memory]: Invalid value: "1Ki": must be less than or equal to the limit of 102400m`,
		},
	}, {
		name: "names",
		spec: `resources: {limits: {"": 1, gpu: 1, "a b": 1, requests.example.com/gpu: 1}}`,
		want: []string{
			`spec.resources.limits[]: Invalid value: "": name part must be non-empty`,
			`spec.resources.limits[]: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
			`spec.resources.limits[a b]: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
			`spec.resources.limits[gpu]: Unsupported value: "gpu": supported values: "cpu", "memory", "ephemeral-storage", "hugepages-<size>", "<domain>/<resource>"`,
			`spec.resources.limits[requests.example.com/gpu]: Invalid value: "requests.example.com/gpu": must not start with requests., and must be short enough to be prefixed with it`,
		},
	}, {
		name: "huge pages alone, and claims",
		spec: `{resources: {limits: {hugepages-2Mi: 2Mi}}, sidecars: [{name: s, image: s, resources: {claims: [{name: gpu}]}}]}`,
		want: []string{
			`spec.resources: Forbidden: huge pages need a request or limit of cpu or memory too`,
			`spec.sidecars[0].resources.claims: Forbidden: an Application has no pod resource claims to refer to`,
		},
	}})
}
