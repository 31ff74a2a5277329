// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package difference describes the effect of a change of an Application to users.
package difference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/reference"
	"fairlead.dev/fairlead/pkg/text"
)

// Print writes the difference: first what becomes of the pods, then each child. missing is the ConfigMap or Secret for which new pods wait,
// if they do. refused is why another Application's routes keep the spec from being carried out, if they do.
func Print(to *screen.Screen, name string, d preview.Difference, missing, refused string) {
	switch {
	case d.Empty() && refused != "" && d.Pods.Stopped == "":
		to.Line(name + ": nothing changes. " + NotCarriedOut(refused))
		return
	case d.Empty() && missing != "" && d.Pods.Stopped == "":
		to.Line(name + ": nothing changes. What is stored already waits: " + missing)
		return
	case d.Empty():
		to.Line(name + ": nothing changes." + halted(d.Pods) + pinned(d.Pods))
		return
	case refused != "" && d.Pods.Stopped == "":
		to.Line(to.Paint(screen.Bold, name+": ") + "no child changes and no pod is replaced. " + NotCarriedOut(refused))
		to.Line("Once that is solved: " + deferred(d, missing, Headline))
	default:
		to.Line(to.Paint(screen.Bold, name+": ") + deferred(d, missing, Headline) + ofSpecs(d))
	}
	for _, c := range d.Children {
		to.Blank()
		mark, color := "~", screen.Yellow
		switch c.Action {
		case preview.Create:
			mark, color = "+", screen.Green
		case preview.Delete:
			mark, color = "-", screen.Red
		case preview.Blocked:
			mark, color = "!", screen.Red
		case preview.Update, preview.Adopt:
		}
		to.Line(to.Paint(color, mark+" "+c.Kind+"/"+c.Name) + "  " + string(c.Action))
		if c.Reason != "" {
			to.Hanging("    ", c.Reason)
		}
		for _, change := range c.Changes {
			to.Hanging("    ", describeIn(d, c, change))
		}
	}
}

// ofSpecs says what the changes of children are about while none is changed: the children may differ from both specs.
func ofSpecs(d preview.Difference) string {
	updates := slices.ContainsFunc(d.Children, func(c preview.Child) bool { return c.Action == preview.Update })
	if d.Pods.Stopped == "" || !updates {
		return ""
	}
	return " Below is how the two specs differ; the children may differ from both."
}

// NotCarriedOut says why another Application's routes keep a spec from being carried out.
func NotCarriedOut(refused string) string {
	return "Such a spec is not carried out (" + v1.ReasonRouteConflict + "): " + refused
}

// Headline says what becomes of the pods.
func Headline(d preview.Difference) string {
	pods := d.Pods
	var said string
	switch {
	case pods.Stopped != "":
		said = fmt.Sprintf("until it is resumed, no child changes and no pod is replaced (reconcilePolicy: %s).", pods.Stopped)
		if goesOn := GoesOn(pods.Unfinished, pods.Live, pods.Strategy); goesOn != "" {
			said = fmt.Sprintf("until it is resumed, no child changes, and Fairlead replaces no pod (reconcilePolicy: %s).", pods.Stopped) + goesOn
		}
	case pods.Unlisted:
		said = "what becomes of the pods is not known, because you may not list deployments. The rest compares with what the stored spec asks for."
	case isForeign(d):
		return "no pod changes, because the Deployment does not belong to the Application."
	case pods.After != nil && *pods.After == 0 && (pods.Replaced || pods.Held > 0):
		said = "no pod is replaced, because none is asked for."
		if pods.Before != nil && *pods.Before > 0 {
			said = fmt.Sprintf("no pod is replaced; the desired number of pods goes from %d to 0.", *pods.Before)
		}
	case pods.Started > 0:
		said = started(pods.Started) + ", because a paused rollout goes on."
	case pods.Replaced:
		if allKept(pods) {
			said = "no pod is replaced, because all of them are of that revision already."
			break
		}
		wanted := cmp.Or(pods.After, pods.Asked)
		if pods.Live == 0 && !pods.LiveUnknown {
			said = none(pods, wanted)
			break
		}
		if enoughKept(pods) {
			others := "the others are"
			if *wanted == 1 {
				others = "the other one is"
			}
			said = stopped(pods.Live-*wanted) + ", and none is started: " + others + " of that revision already." + scaled(pods)
			if pods.Paused {
				said += " Kubernetes does that while rollouts are paused too, once " + others + " available."
			}
			break
		}
		said = fmt.Sprintf("%s replaced, because of %s.", replaced(pods), because(pods))
		if pods.Kept > 0 {
			said += " The others stay, because they are of that revision already."
		}
		if pods.Outage && pods.Kept == 0 {
			said += " The strategy may leave no pod ready meanwhile, so that requests fail."
		}
		if pods.Strategy == appsv1.RecreateDeploymentStrategyType {
			said += " With strategy Recreate, requests fail meanwhile."
		}
		switch {
		case pods.Paused && pods.Kept < 0:
			said += " No pod starts while rollouts are paused." // Perhaps enough pods have the template, so that Kubernetes stops the rest.
		case pods.Paused:
			said += waits + newFiles(d)
		}
		said += scaled(pods)
	case pods.Held > 0 && len(pods.Because) > 0:
		said = fmt.Sprintf("%s replaced, because of %s: a paused rollout goes on.", howManyOf(pods.Held, pods.Live), because(pods)) + scaled(pods)
	case pods.Held > 0:
		said = fmt.Sprintf("%s replaced, because a paused rollout goes on.", howManyOf(pods.Held, pods.Live)) + scaled(pods)
	case pods.Before == nil && pods.After == nil, pods.Before != nil && pods.After != nil && *pods.Before == *pods.After:
		said = "no pod is replaced."
	case pods.Before != nil && pods.After != nil:
		said = fmt.Sprintf("no pod is replaced; the desired number of pods goes from %d to %d.", *pods.Before, *pods.After)
	case pods.After != nil:
		said = fmt.Sprintf("%d pods are asked for.", *pods.After)
		if *pods.After == 1 {
			said = "1 pod is asked for."
		}
	case staysAt(pods):
		said = fmt.Sprintf("no pod is replaced; the desired number of pods stays %d, and is left %s.", *pods.Before, leftTo(d))
	default:
		said = fmt.Sprintf("no pod is replaced; the number of pods is left %s.", leftTo(d))
	}
	return said + pinned(pods)
}

// waits says that a pause holds the pods back.
const waits = " It waits while rollouts are paused."

// Waits reports whether Headline says that a pause holds the pods back, and which files it does not.
func Waits(d preview.Difference) bool { return strings.Contains(Headline(d), waits) }

// allKept reports whether all pods have the template of the change already.
func allKept(pods preview.Pods) bool { return pods.Replaced && pods.Kept > 0 && pods.Kept >= pods.Live }

// enoughKept reports whether as many pods as are asked for have the template of the change already. Kubernetes then stops the rest, and it
// does so for a paused Deployment too: it scales the other ReplicaSets to 0 once the pods of the present one are available.
func enoughKept(pods preview.Pods) bool {
	wanted := cmp.Or(pods.After, pods.Asked)
	return pods.Replaced && wanted != nil && pods.Kept >= *wanted
}

// TakesBack reports whether the change takes back what waits while rollouts are paused, or a rollout that the pause has stopped half-way:
// all pods are as it wants them, or enough of them are, and nothing changes when rollouts go on.
func TakesBack(d preview.Difference) bool {
	pods := d.Pods
	if wanted := cmp.Or(pods.After, pods.Asked); wanted != nil && *wanted == 0 {
		return false
	}
	return pods.Paused && pods.Stopped == "" && pods.Pinned == 0 && !isForeign(d) && (allKept(pods) || enoughKept(pods))
}

// isForeign reports whether another owner has the Deployment.
func isForeign(d preview.Difference) bool {
	return slices.ContainsFunc(d.Children, func(c preview.Child) bool { return c.Kind == child.Deployment.Kind && c.Action == preview.Blocked })
}

// because names the fields that replace pods.
func because(pods preview.Pods) string {
	fields := make([]string, 0, len(pods.Because))
	for _, change := range pods.Because {
		fields = append(fields, cmp.Or(content(pods, change), ofPod(change)))
	}
	const most = 3
	if len(fields) > most {
		fields = append(fields[:most], fmt.Sprintf("%d more", len(fields)-most))
	}
	return strings.Join(fields, ", ")
}

// content names the ConfigMaps or Secrets if their hash is what changes; "" if they are not known, or it is another field.
func content(pods preview.Pods, change preview.Change) string {
	kind := reference.ConfigMap
	if strings.HasSuffix(change.Path, "["+v1.AnnotationSecretsHash+"]") {
		kind = reference.Secret
	} else if !strings.HasSuffix(change.Path, "["+v1.AnnotationConfigMapsHash+"]") {
		return ""
	}
	var names []string
	for _, one := range pods.Contents {
		if name, found := strings.CutPrefix(one, string(kind)+" "); found {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("the changed content of %s %s", kind, strings.Join(names, " or "))
}

// scaled says that the number of pods changes beside what is said of those that run.
func scaled(pods preview.Pods) string {
	if pods.Before == nil || pods.After == nil || *pods.Before == *pods.After {
		return ""
	}
	return fmt.Sprintf(" The desired number of pods goes from %d to %d.", *pods.Before, *pods.After)
}

// halted says that Fairlead stops changing children, or has stopped.
func halted(pods preview.Pods) string {
	if pods.Stopped == "" {
		return ""
	}
	return fmt.Sprintf(" Fairlead changes no child until you resume the Application (reconcilePolicy: %s).", pods.Stopped) + GoesOn(pods.Unfinished, pods.Live, pods.Strategy)
}

// newFiles says that a pause does not hold back the ConfigMap of spec.config, from which running pods read.
func newFiles(d preview.Difference) string {
	for _, c := range d.Children {
		if c.Kind == child.ConfigMap.Kind && c.Action == preview.Update {
			return fmt.Sprintf(" ConfigMap %s changes at once, and running pods see its new files within about a minute.", c.Name)
		}
	}
	return ""
}

// pinned says that the spec does not decide about the pods.
func pinned(pods preview.Pods) string {
	if pods.Pinned == 0 {
		return ""
	}
	return fmt.Sprintf(" The pods stay at revision %d until you remove spec.rollback.toRevision.", pods.Pinned)
}

// none says why a new template replaces no pod: there is none.
func none(pods preview.Pods, wanted *int32) string {
	switch {
	case wanted != nil && *wanted == 0:
		return "no pod is replaced, because none is asked for."
	case pods.Paused:
		return "no pod is replaced, because there is none, and none starts while rollouts are paused."
	default:
		return "no pod is replaced, because there is none yet." + scaled(pods)
	}
}

// replaced are the pods that a new template replaces.
func replaced(pods preview.Pods) string {
	if pods.Kept < 0 {
		return "the pods of the failed revision are"
	}
	return howManyOf(pods.Live-pods.Kept, pods.Live)
}

func howMany(pods preview.Pods) string {
	switch {
	case pods.Live == 1:
		return "1 pod is"
	case pods.Live > 1:
		return fmt.Sprintf("all %d pods are", pods.Live)
	default:
		return "all pods are"
	}
}

func started(number int32) string {
	if number == 1 {
		return "1 pod is started"
	}
	return fmt.Sprintf("%d pods are started", number)
}

// stopped are the pods that a rollout that is taken back started beside those that stay.
func stopped(number int32) string {
	if number == 1 {
		return "1 pod is stopped"
	}
	return fmt.Sprintf("%d pods are stopped", number)
}

func howManyOf(some, all int32) string {
	switch {
	case some == 1 && all > 1:
		return fmt.Sprintf("1 of %d pods is", all)
	case some < all:
		return fmt.Sprintf("%d of %d pods are", some, all)
	}
	return howMany(preview.Pods{Live: all})
}

// Describe writes one change: the path, and the values before and after. A long value is cut.
func Describe(change preview.Change) string {
	return describe(change, func(v any) string {
		const most = 160
		encoded := value(v)
		if len(encoded) > most {
			return encoded[:most] + "…"
		}
		return encoded
	})
}

// DescribeWhole is Describe with whole values, for a user who accepts them.
func DescribeWhole(change preview.Change) string { return describe(change, value) }

func describe(change preview.Change, value func(any) string) string {
	switch {
	case change.Before == nil:
		return fmt.Sprintf("%s: added %s", pathOf(change), value(change.After))
	case change.After == nil:
		return fmt.Sprintf("%s: removed %s", pathOf(change), value(change.Before))
	default:
		return fmt.Sprintf("%s: %s → %s", pathOf(change), value(change.Before), value(change.After))
	}
}

// value is JSON, which shows what is a text and what is a number. A shell's && stays readable.
func value(v any) string {
	var encoded strings.Builder
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(encoded.String(), "\n")
}

// Sentence is the headline as a sentence of its own, with the reason of what is blocked.
func Sentence(d preview.Difference) string { return withBlocked(text.Capitalize(Headline(d)), d) }

// WithoutDeployment is the sentence about an Application that has no Deployment, so that no field replaces a pod. missing is the
// ConfigMap or Secret for which it waits, if it does.
func WithoutDeployment(d preview.Difference, missing string) string {
	start := "Its pods start"
	if after := d.Pods.After; after != nil && *after != 1 {
		start = fmt.Sprintf("%d pods start", *after)
	} else if after != nil {
		start = "1 pod starts"
	}
	start += " once it can be written"
	if d.Pods.Paused {
		start += " and rollouts go on"
	}
	if after := d.Pods.After; after != nil && *after == 0 {
		start = "None is asked for"
	}
	said := withBlocked("The Deployment does not exist, so no pod is replaced. "+start+"."+pinned(d.Pods), d)
	if missing != "" {
		said += " That waits: " + missing
	}
	return said
}

// Deferred is the sentence about pods that wait for a ConfigMap or Secret, which missing describes. The number of pods changes at once.
func Deferred(d preview.Difference, missing string) string { return deferred(d, missing, Sentence) }

func deferred(d preview.Difference, missing string, said func(preview.Difference) string) string {
	after := d.Pods.After
	if missing == "" || !StartsPods(d) || after != nil && *after == 0 || d.Pods.Stopped != "" {
		return said(d)
	}
	if !RollsOut(d) {
		return said(d) + " " + missing
	}
	now := strings.Replace(scaled(d.Pods), ".", " at once.", 1)
	if now != "" {
		d.Pods.After = d.Pods.Before
	}
	return said(d) + " That waits: " + missing + now
}
