// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/class"
)

// TestFollow: undo writes what a revision had with the class of its time. What the class gives still, the spec does not say.
func TestFollow(t *testing.T) {
	const resources = "resources: {limits: {memory: 256Mi}, requests: {cpu: 50m, memory: 64Mi}}"
	for name, test := range map[string]struct {
		then, classThen string // the revision
		before, class   string
		want, said      string
	}{
		"the class is the same": {
			then: "image: a:1", classThen: resources, before: "image: a:2", class: resources,
			want: "image: a:1",
		},
		"a label of the class changed": {
			then: "image: a:1", classThen: resources + "\npodMetadata: {labels: {cost-center: a, team: x}}",
			before: "image: a:1", class: resources + "\npodMetadata: {labels: {cost-center: b, team: x}}",
			want: "image: a:1\npodMetadata: {labels: {cost-center: a}}",
			said: "; the spec itself says podMetadata.labels.cost-center from now on, so no change of the class reaches it",
		},
		"the class dropped a label, and changed a limit": {
			then: "image: a:1", classThen: resources + "\npodMetadata: {labels: {example.com/team: a}}",
			before: "image: a:2", class: "resources: {limits: {memory: 512Mi}, requests: {cpu: 50m, memory: 64Mi}}",
			want: "image: a:1\npodMetadata: {labels: {example.com/team: a}}\nresources: {limits: {memory: 256Mi}}",
			said: "; the spec itself says podMetadata.labels[example.com/team] and resources.limits.memory from now on, so no change of the class reaches them",
		},
		"the user had set what the class gives": {
			then: "image: a:1", classThen: resources, before: "image: a:1\nresources: {limits: {memory: 1Gi}, requests: {cpu: 50m}}", class: resources,
			want: "image: a:1\nresources: {requests: {cpu: 50m}}",
		},
		"the user had set nothing else": {
			then: "image: a:1", classThen: resources, before: "image: a:1\nresources: {limits: {memory: 1Gi}}", class: resources,
			want: "image: a:1",
		},
		"tolerations, whose items the class adds": {
			then: "image: a:1\ntolerations: [{key: own}]", classThen: "tolerations: [{key: class}]",
			before: "image: a:2\ntolerations: [{key: own}]", class: "tolerations: [{key: class}]",
			want: "image: a:1\ntolerations: [{key: own}]",
		},
		"a single value of the class changed": {
			then: "image: a:1", classThen: "priorityClassName: low\nterminationGracePeriodSeconds: 30", before: "image: a:1", class: "priorityClassName: high\nterminationGracePeriodSeconds: 30",
			want: "image: a:1\npriorityClassName: low",
			said: "; the spec itself says priorityClassName from now on, so no change of the class reaches it",
		},
		"what no class gives": {
			then: "image: a:1\nenv: [{name: A}]\nconfig: {mountPath: /etc/a, data: {a: b}}", classThen: resources, before: "image: a:1", class: resources,
			want: "image: a:1\nenv: [{name: A}]\nconfig: {mountPath: /etc/a, data: {a: b}}",
		},
		"many fields": {
			then: "image: a:1", classThen: resources + "\nnodeSelector: {a: x, b: x}", before: "image: a:1", class: "nodeSelector: {a: y, b: y}",
			want: "image: a:1\nnodeSelector: {a: x, b: x}\n" + resources,
			said: "; the spec itself says fields of nodeSelector and resources from now on, so no change of the class reaches them",
		},
		"a restart": {
			then: "image: a:1\npodMetadata: {annotations: {kubectl.kubernetes.io/restartedAt: now}}", before: "image: a:2", class: resources, classThen: resources,
			want: "image: a:1\npodMetadata: {annotations: {kubectl.kubernetes.io/restartedAt: now}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			application := func(text string) *v1.Application { return &v1.Application{Spec: decode[v1.ApplicationSpec](t, text)} }
			former := decode[v1.ApplicationDefaults](t, test.classThen)
			undone, _ := class.Merge(application(test.then), &former)
			defaults := decode[v1.ApplicationDefaults](t, test.class)
			merge := func(a *v1.Application) *v1.Application {
				merged, _ := class.Merge(a, &defaults)
				return merged
			}
			becomes := merge(undone).DeepCopy()
			undone = undone.DeepCopy()
			own, err := edit.Follow(undone, application(test.before), merge)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(becomes, merge(undone)); diff != "" {
				t.Errorf("the class makes another spec of it:\n%s", diff)
			}
			if diff := cmp.Diff(application(test.want).Spec, undone.Spec); diff != "" {
				t.Errorf("the spec (-want +got):\n%s", diff)
			}
			if got := edit.OwnFrom(own); got != test.said {
				t.Errorf("it says %q, want %q", got, test.said)
			}
		})
	}
}

func decode[T any](t *testing.T, text string) (value T) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}
