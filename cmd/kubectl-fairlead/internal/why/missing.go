// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/reference"
	"fairlead.dev/fairlead/pkg/text"
)

const (
	// noticed ends the advice to create what pods wait for.
	noticed = "; the controller notices it."
	// orOptional is the other way out where something is missing.
	orOptional = "Or mark the reference optional: true."
)

// missingConfig explains pods that wait for a ConfigMap or Secret.
func missingConfig(f facts) []Finding {
	if f.ready == nil || f.ready.Reason != v1.ReasonConfigMissing || f.ready.Status == metav1.ConditionTrue {
		return nil
	}
	finding := Finding{
		Reason: v1.ReasonConfigMissing, What: "The pods need a ConfigMap or Secret, or a key of one, that does not exist. New pods that need it wait.",
		Evidence: []Evidence{f.conditionEvidence(f.ready)},
		Next:     append([]string{f.toCreate(f.ready.Message, "") + noticed, orOptional}, f.wayBackFromMissing()...),
	}
	if f.holdsChange() && f.rollsBack() {
		finding.What += " The policy OnFailure does not roll back for that: the running pods stay as they are, and the change waits."
	}
	if number, pinned := OtherRevision(f.app); number > 0 {
		of := fmt.Sprintf("revision %d", number)
		finding.What = fmt.Sprintf("The pods of %s need a ConfigMap or Secret, or a key of one, that does not exist. New pods that need it wait.", of)
		finding.Next = []string{f.toCreate(f.ready.Message, of) + noticed}
		switch needed := MissingForSpec(f.app) != ""; {
		case needed && pinned: // The pods of the spec would wait for it too.
		case needed:
			finding.Next = append(finding.Next, "Or correct the reference in the spec, whose pods need it too, so that they roll out instead.")
		case pinned:
			finding.Next = append(finding.Next, "Or let the pods of the spec run: "+edit.Unpin(f.app.Name))
		default:
			finding.Next = append(finding.Next, "Or change the pods in the spec, so that they roll out instead.")
		}
	}
	return []Finding{finding}
}

// holdsChange reports whether the Deployment has not got the pods of the spec, because they would wait. None of them can fail, so there is
// nothing to roll back.
func (f facts) holdsChange() bool {
	return f.observed() && slices.ContainsFunc(f.app.Status.Resources, func(resource v1.ResourceStatus) bool {
		live := f.live(resource)
		return resource.Kind == child.Deployment.Kind && resource.State == v1.ResourcePending && resource.Message != "" &&
			strings.Contains(f.ready.Message, resource.Message) && live != nil && child.OwnedBy(live, f.app)
	})
}

// wayBackFromMissing is offered while the last healthy revision needs nothing of what the pods of the spec wait for.
func (f facts) wayBackFromMissing() []string {
	revisions := edit.History(f.Objects)
	i := slices.IndexFunc(revisions, func(r edit.Revision) bool { return r.LastHealthy })
	if i < 0 || !f.observed() || neededBy(&f.app.Spec, f.ready.Message) == "" {
		return nil
	}
	restored := f.app.DeepCopy()
	if _, err := edit.Undo(revisions[i], f.Children, false)(restored); err != nil || neededBy(&restored.Spec, f.ready.Message) != "" || f.refusesUndo(revisions[i]) {
		return nil
	}
	return []string{f.goBackTo(revisions[i].Number, "")}
}

// MissingForSpec is what the controller says about the ConfigMaps and Secrets, or keys, that are missing and that the pods of the spec
// need; "" if the spec needs none. It may have said so of an earlier revision, or before an edit that it has not seen yet.
func MissingForSpec(app *v1.Application) string {
	ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady)
	if ready != nil && ready.Reason == v1.ReasonSuspended {
		return missingBeforeSuspension(app)
	}
	if ready == nil || ready.Reason != v1.ReasonConfigMissing {
		return ""
	}
	if number, _ := OtherRevision(app); number == 0 && ready.ObservedGeneration == app.Generation {
		return ready.Message
	}
	return neededBy(&app.Spec, ready.Message)
}

// missingBeforeSuspension is what the controller said about the Deployment before it was suspended. Ready does not say that any more.
func missingBeforeSuspension(app *v1.Application) string {
	i := slices.IndexFunc(app.Status.Resources, func(resource v1.ResourceStatus) bool {
		return resource.Group == child.Deployment.Group && resource.Kind == child.Deployment.Kind && resource.State == v1.ResourcePending
	})
	if i < 0 {
		return ""
	}
	needed := neededBy(&app.Spec, app.Status.Resources[i].Message)
	if needed == "" {
		return ""
	}
	return needed + " The controller said so before the suspension."
}

// neededBy is the part of the message about what a spec needs; "" if it needs none of that.
func neededBy(spec *v1.ApplicationSpec, message string) string {
	references := reference.FromSpec(spec)
	var needed []string
	for _, match := range missingClause.FindAllStringSubmatch(message, -1) {
		i := slices.IndexFunc(references, func(r reference.Reference) bool { return r.String() == match[1] })
		if i < 0 {
			continue
		}
		lacks := func(key string) bool { return strings.Contains(match[2], strconv.Quote(key)) }
		needs := references[i].Required
		if strings.HasPrefix(match[2], "has no key") {
			needs = slices.ContainsFunc(references[i].Keys, lacks)
		}
		if needs {
			needed = append(needed, match[0])
		}
	}
	if len(needed) == 0 {
		return ""
	}
	return strings.Join(needed, "; ") + "."
}

// missingClause finds what is missing: an object, or keys of one.
var missingClause = regexp.MustCompile(`((?:ConfigMap|Secret) \S+) (does not exist|cannot be read[^;.]*|has no keys? "[^"]*"(?:, "[^"]*")*)`)

// OtherRevision returns the earlier revision whose pods need what is missing, and whether spec.rollback.toRevision asks for it. The number
// is 0 if the pods of the spec need it. It may wait, so that status.revision does not have it yet; only the message does.
func OtherRevision(app *v1.Application) (number int64, pinned bool) {
	ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady)
	if ready == nil || ready.Reason != v1.ReasonConfigMissing || ready.ObservedGeneration != app.Generation {
		return 0, false
	}
	if pin := edit.PinOf(app); pin > 0 {
		return pin, true
	}
	match := goesBack.FindStringSubmatch(ready.Message)
	if match == nil {
		return 0, false
	}
	number, _ = strconv.ParseInt(match[1]+match[2], 10, 64)
	return number, false
}

// goesBack finds the earlier revision that runs instead of the spec, or waits to.
var goesBack = regexp.MustCompile(`^Revision (\d+) runs instead|Fairlead goes back to revision (\d+),`)

// toCreate is what to do about the message of ConfigMissing, which names objects without some keys, objects that do not exist,
// or both, without the end of the sentence. of is the revision whose pods need them; "" if that is the one of the spec.
func (f facts) toCreate(message, of string) string {
	var steps, names []string
	for _, match := range absent.FindAllStringSubmatch(message, -1) {
		names = append(names, match[1]+f.withKeys(match[1], of))
	}
	for _, match := range withoutKeys.FindAllStringSubmatch(message, -1) {
		keys, _, _ := strings.Cut(match[2], " ")
		step := fmt.Sprintf("add %s to %s", match[2], match[1])
		if of == "" {
			step += fmt.Sprintf(", or correct the %s in the spec", keys)
		}
		steps = append(steps, step)
	}
	if len(steps) == 0 && len(names) == 0 {
		names = []string{"the object, with the keys that the spec names"}
	}
	if len(names) > 0 {
		steps = append([]string{"create " + strings.Join(names, " and ")}, steps...)
	}
	return text.Capitalize(strings.Join(steps, "; "))
}

// withKeys names the keys that the new object needs, if it needs any.
func (f facts) withKeys(object, of string) string {
	const most = 3
	if of != "" {
		return ", with the keys that " + of + " names"
	}
	references := reference.FromSpec(&f.app.Spec)
	at := slices.IndexFunc(references, func(r reference.Reference) bool { return r.String() == object })
	switch {
	case at < 0:
		return " with the keys that the pods need"
	case len(references[at].Keys) == 0:
		return ""
	case len(references[at].Keys) == 1:
		return fmt.Sprintf(" with the key %q", references[at].Keys[0])
	case len(references[at].Keys) > most:
		return ", with the keys that the spec names"
	}
	keys := make([]string, 0, most)
	for _, key := range references[at].Keys {
		keys = append(keys, strconv.Quote(key))
	}
	return " with the keys " + strings.Join(keys, ", ")
}

// absent finds the objects that do not exist.
var absent = regexp.MustCompile(`((?:ConfigMap|Secret) \S+) does not exist`)

// withoutKeys finds the objects that lack keys.
var withoutKeys = regexp.MustCompile(`((?:ConfigMap|Secret) \S+) has no (keys? [^;]+)`)
