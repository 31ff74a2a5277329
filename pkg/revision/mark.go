// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// mark is a rollback that was done: which revision failed, why, and which one runs.
type mark struct {
	from, runs revision
	cause      string
}

// rolledBack finds the rollback of what the spec asks for. The Deployment carries the mark. Where another
// client deleted the Deployment, or stripped its annotations, the status still has the numbers.
func (f facts) rolledBack() *mark {
	if f.Deployment == nil {
		return f.rolledBackByStatus("")
	}
	name := f.Deployment.Annotations[v1.AnnotationRolledBackFrom]
	cause := f.Deployment.Annotations[v1.AnnotationRolledBackBecause]
	if f.deployed.name == "" || keyInName(f.Application, name) != f.wanted {
		return f.rolledBackByStatus(cause)
	}
	from := revision{name: name, number: f.status.RolledBackFrom, spec: f.wanted}
	if known := find(f.history, named(name)); known != nil {
		from = *known
	}
	return &mark{from: from, runs: f.deployed, cause: cause}
}

// rolledBackByStatus is rolledBack where the Deployment does not have the mark. A Deployment that carries
// another revision than the status says was written after that status, and so ended the rollback.
func (f facts) rolledBackByStatus(cause string) *mark {
	from := find(f.history, numbered(f.status.RolledBackFrom))
	runs := find(f.history, numbered(f.status.Current))
	if f.status.RolledBackFrom == 0 || from == nil || runs == nil || from.spec != f.wanted {
		return nil
	}
	if f.deployed.name != "" && f.deployed.name != runs.name {
		return nil
	}
	return &mark{from: *from, runs: *runs, cause: cmp.Or(cause, f.causeByStatus(*from, *runs), v1.ReasonProgressDeadlineExceeded+".")}
}

// causeByStatus is the cause in the message of the condition RolledBack; "" if it is not there, or is cut off.
func (f facts) causeByStatus(from, runs revision) string {
	condition := meta.FindStatusCondition(f.Application.Status.Conditions, v1.ConditionRolledBack)
	if condition == nil {
		return ""
	}
	const gap = "\x00"
	before, after, _ := strings.Cut(rolledBackMessage(f.Application, from, runs, gap), gap)
	cause, begins := strings.CutPrefix(condition.Message, before)
	// The status adds until when that holds.
	end := strings.LastIndex(cause, strings.TrimSuffix(after, "."))
	if !begins || end < 0 {
		return ""
	}
	return cause[:end]
}
