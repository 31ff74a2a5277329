// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"slices"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestS18EveryUserWriteIsQueued compares the flow-control component with the roles of users. The API server stores an
// Application as a whole even if a user writes only its scale, so each such write waits in the queue of its namespace.
func TestS18EveryUserWriteIsQueued(t *testing.T) {
	schemas := typed[flowcontrolv1.FlowSchema](t, parse(t, []byte(readFile(t, "artifacts/components/flow-control/flow-control.yaml"))), "FlowSchema")
	at := slices.IndexFunc(schemas, func(schema *flowcontrolv1.FlowSchema) bool { return schema.Name == "fairlead-applications" })
	if at < 0 {
		t.Fatal("there is no FlowSchema fairlead-applications")
	}
	var queued []flowcontrolv1.ResourcePolicyRule
	for _, rule := range schemas[at].Spec.Rules {
		queued = append(queued, rule.ResourceRules...)
	}
	written := 0
	for _, p := range permissions(t, parse(t, []byte(readFile(t, "artifacts/rbac/users/roles.yaml")))) {
		if !slices.Contains(p.rule.APIGroups, v1.GroupName) {
			continue
		}
		for _, resource := range p.rule.Resources {
			for _, verb := range []string{"create", "update", "patch"} {
				if !slices.Contains(p.rule.Verbs, verb) {
					continue
				}
				written++
				if !slices.ContainsFunc(queued, func(rule flowcontrolv1.ResourcePolicyRule) bool {
					return slices.Contains(rule.Resources, resource) && slices.Contains(rule.Verbs, verb)
				}) {
					t.Errorf("%s allows to %s %s, and no queue is for that", p.role, verb, resource)
				}
			}
		}
	}
	if written == 0 {
		t.Error("no role allows a user to write an Application")
	}
}
