// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/revision"
)

// Target is the revision that undo goes back to: the given one, else the last healthy one, unless it is what runs and what
// the spec says; then the one before. asksFor is the revision of the spec, which need not be there yet; 0 if the spec is
// not carried out.
func Target(revisions []Revision, asksFor, number int64) (Revision, error) {
	if number > 0 {
		return numbered(revisions, number)
	}
	running := slices.IndexFunc(revisions, func(r Revision) bool { return r.Current })
	healthy := slices.IndexFunc(revisions, func(r Revision) bool { return r.LastHealthy })
	elsewhere := running >= 0 && revisions[running].Number != asksFor || slices.ContainsFunc(revisions, func(r Revision) bool { return r.RolledBack })
	switch {
	case healthy >= 0 && (healthy != running || elsewhere):
		return revisions[healthy], nil
	case running < 0:
		return Revision{}, errNoFormer
	case elsewhere:
		return revisions[running], nil
	default:
		return before(revisions[running], revisions[running+1:])
	}
}

var errNoFormer = errors.New("there is no former revision to go back to")

func numbered(revisions []Revision, number int64) (Revision, error) {
	if i := slices.IndexFunc(revisions, func(r Revision) bool { return r.Number == number }); i >= 0 {
		return revisions[i], nil
	}
	if len(revisions) == 0 {
		return Revision{}, fmt.Errorf("there is no revision %d: the Application has no revisions yet", number)
	}
	return Revision{}, fmt.Errorf("there is no revision %d. Revisions: %s", number, numbersOf(revisions))
}

// numbersOf lists revisions, the oldest first.
func numbersOf(revisions []Revision) string {
	numbers := make([]string, 0, len(revisions))
	for _, r := range slices.Backward(revisions) {
		numbers = append(numbers, strconv.FormatInt(r.Number, 10))
	}
	return strings.Join(numbers, ", ")
}

// before is the newest of the former revisions that has other pods and was healthy.
func before(running Revision, former []Revision) (Revision, error) {
	var same, failed []Revision
	for _, r := range former {
		switch {
		case r.SamePods(&running):
			same = append(same, r)
		case r.WasHealthy:
			return r, nil
		default:
			failed = append(failed, r)
		}
	}
	const samePods = "have the same pods, apart from restarts and the content of ConfigMaps and Secrets"
	switch {
	case len(failed) > 0:
		others := ""
		if healthy := slices.DeleteFunc(same, func(r Revision) bool { return !r.WasHealthy }); len(healthy) > 0 {
			others = fmt.Sprintf(": those that were (%s) %s", numbersOf(healthy), samePods) // history shows them as healthy.
		}
		return Revision{}, fmt.Errorf("%w that was healthy%s. To go back to one that was not, name it with --to-revision: %s", errNoFormer, others, numbersOf(failed))
	case len(same) > 0:
		return Revision{}, fmt.Errorf("%w: those that there are (%s) %s", errNoFormer, numbersOf(same), samePods)
	default:
		return Revision{}, errNoFormer
	}
}

// GoesFurther reports whether undo chose the target, and an older revision exists, so that the user may name one.
func GoesFurther(revisions []Revision, target Revision, number int64) bool {
	return number == 0 && slices.ContainsFunc(revisions, func(r Revision) bool { return r.Number < target.Number })
}

// Undo takes the pods of the revision. The spec decides about the pods again, if it named a revision. further says that undo may go
// further back.
func Undo(target Revision, children []child.Object, further bool) Edit {
	return func(application *v1.Application) (string, error) {
		for _, live := range children {
			object, ok := live.(*appsv1.ControllerRevision)
			if !ok || object.Name != target.Name {
				continue
			}
			restored, err := revision.Restore(application, object)
			if err != nil {
				return "", err
			}
			onlyRestart := PinOf(application) == 0 && differInRestart(&application.Spec, &restored.Spec)
			application.Spec = restored.Spec
			what := fmt.Sprintf("the pods of revision %d (%s) in the spec", target.Number, target.Image)
			if pinned := PinOf(application); pinned > 0 {
				what += fmt.Sprintf("; rollback.toRevision %d is removed", pinned)
				if application.Spec.Rollback.ToRevision = nil; *application.Spec.Rollback == (v1.Rollback{}) {
					application.Spec.Rollback = nil
				}
			}
			what += target.caution()
			if onlyRestart {
				what += "; that only takes a restart back"
			}
			if onlyRestart && further {
				what += ". To go further back, name a revision with --to-revision"
			}
			return what, nil
		}
		return "", fmt.Errorf("the ControllerRevision %s is gone", target.Name)
	}
}

// SamePods reports whether two Applications, with the defaults of their classes, ask for the same pods, but for the time of a restart.
func SamePods(a, b *v1.Application) bool {
	return revision.SamePods(WithoutRestart(&a.Spec), WithoutRestart(&b.Spec))
}

// Describes reports whether the Application, with the defaults of its class, asks for the pods of the revision.
func (r *Revision) Describes(application *v1.Application) bool {
	return revision.Describes(r.Name, application)
}

// Pin names the revision in spec.rollback.toRevision. It is for one that no spec describes, because the class of the Application decides what
// differs from it.
func Pin(target Revision) Edit {
	return func(application *v1.Application) (string, error) {
		if application.Spec.Rollback == nil {
			application.Spec.Rollback = &v1.Rollback{}
		}
		application.Spec.Rollback.ToRevision = &target.Number
		return fmt.Sprintf("revision %d (%s) in spec.rollback.toRevision, because the class decides what differs from it%s; to follow the class again: %s",
			target.Number, target.Image, target.caution(), Unpin(application.Name)), nil
	}
}

// Unpin is the command that removes spec.rollback.toRevision.
func Unpin(name string) string {
	return fmt.Sprintf(`kubectl patch applications.apps.fairlead.dev %s --type=merge --patch '{"spec":{"rollback":{"toRevision":null}}}'`, name)
}

// differInRestart reports whether two specs differ in the time of a restart, and in nothing else.
func differInRestart(a, b *v1.ApplicationSpec) bool {
	time := func(spec *v1.ApplicationSpec) string {
		if spec.PodMetadata == nil {
			return ""
		}
		return spec.PodMetadata.Annotations[v1.AnnotationRestartedAt]
	}
	return time(a) != time(b) && equality.Semantic.DeepEqual(WithoutRestart(a), WithoutRestart(b))
}

// WithoutRestart is the spec without the time of a restart.
func WithoutRestart(spec *v1.ApplicationSpec) *v1.ApplicationSpec {
	spec = spec.DeepCopy()
	if spec.PodMetadata == nil {
		spec.PodMetadata = &v1.PodMetadata{}
	}
	delete(spec.PodMetadata.Annotations, v1.AnnotationRestartedAt)
	return spec
}

// caution is what to know before going back to a revision; "" if it was healthy.
func (r *Revision) caution() string {
	switch {
	case r.LastHealthy:
		return ""
	case r.RolledBack || r.WasRolledBack:
		return fmt.Sprintf("; revision %d was rolled back before, because it failed", r.Number)
	case r.held:
		return fmt.Sprintf("; no pod of revision %d has started, because the adoption holds the pods", r.Number)
	case r.Waits:
		return fmt.Sprintf("; no pod of revision %d has started, because rollouts are paused", r.Number)
	case r.Current:
		return fmt.Sprintf("; revision %d runs, and has not been healthy since it was rolled out", r.Number)
	case r.NeverHealthy:
		return fmt.Sprintf("; revision %d was never healthy", r.Number)
	default:
		return ""
	}
}
