// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/difference"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/text"
)

func (a *adopting) id() string { return a.namespace + "/" + a.name }

// checkExisting refuses to consent to an Application that another user may have written: with other pods, say, or a route to
// them. An earlier run of this command wrote what this one would write. With --existing, the user has the Application in mind,
// and reads how the pods will differ, or all that is in the way, beside what is known to be.
func (a *adopting) checkExisting(ctx context.Context, application *v1.Application, refused ...error) error {
	if a.service != nil && child.OwnedBy(a.service, application) && !child.OwnedBy(a.deployment, application) {
		a.service = nil // The Application created it where there was none, and waits for the Deployment alone.
	}
	if consented(a.deployment, application) || child.OwnedBy(a.deployment, application) {
		return nil
	}
	refused = append(refused, a.checkMarks()...)
	// The comparison needs it, with or without --existing.
	if _, err := adopt.Container(a.deployment, a.options); err != nil {
		return forReasons(append(refused, err))
	}
	existing := application.DeepCopy()
	existing.APIVersion, existing.Kind = v1.SchemeGroupVersion.String(), v1.ApplicationKind
	if a.existing {
		a.options.Harden = true // It changes this command's own Application only.
		if err := a.checkBackup(ctx); err != nil && !errors.As(err, new(apierrors.APIStatus)) {
			refused = append(refused, err)
		}
		if err := a.announce(ctx, existing, a.leaveDefaultAccount(ctx, existing, false), refused...); err != nil || existing.Spec.DeletionPolicy == v1.DeletionOrphan {
			return err
		}
		a.tool.screen().Hanging("  ! ", "Once it has adopted the Deployment, the deletion of this Application deletes the Deployment too, because its deletionPolicy is not Orphan. "+
			"To take the adoption back, first run "+a.orphanPatch())
		return nil
	}
	if len(refused) > 0 {
		return forReasons(refused)
	}
	lines, err := a.unlike(ctx, existing)
	if privileges := (*needsHardenError)(nil); errors.As(err, &privileges) {
		return fmt.Errorf("the Application exists already, and this command would not write it: run %s to consent to it as it is", a.command("--existing"))
	}
	if err != nil {
		return fmt.Errorf("the Application exists already, and this command would not write it; pass --existing to consent to it as it is: %w", err)
	}
	if len(lines) == 0 {
		return nil
	}
	to := a.tool.screen()
	to.Printf("%s: the Application exists already, and differs from the one that this command would write:", a.id())
	for _, line := range lines {
		to.Hanging("  ~ ", line)
	}
	return fmt.Errorf("%w: pass --existing to consent to that Application as it is; or delete it, and this command writes its own", errDraft)
}

// noneExists is the error if no Application of the name exists, to which the user could consent.
func (a *adopting) noneExists(notFound error) error {
	if status := apierrors.APIStatus(nil); errors.As(notFound, &status) && isMissingAPI(status) {
		return notFound
	}
	return fmt.Errorf("there is no Application %s in namespace %s, so nothing to consent to: leave out --existing, and this command writes one", a.name, a.namespace)
}

// announceLeftover says that all of what an earlier Application left behind can be taken back, which an adoption of the Deployment and the
// Service does not do.
func (a *adopting) announceLeftover() {
	if plan.IsLeftover(a.deployment) {
		a.tool.screen().Hanging("", a.id()+": the Deployment was left behind by an earlier Application. If you have its manifest, rather take all of that back: see docs/guides/take-back.md")
	}
}

// notConsented is the error about an Application of this name that adopts nothing as it is.
func (a *adopting) notConsented(application *v1.Application) error {
	fields, writer, again := "adoptionPolicy: Consented", "this command", "pass --existing"
	if application.Spec.Paused == nil || !*application.Spec.Paused {
		fields += " and paused: true"
	}
	if a.existing {
		writer, again = a.command(""), "run this command again"
	}
	return fmt.Errorf("the Application %s exists, and its adoptionPolicy is not Consented: delete it, and %s writes one that fits the Deployment; or set %s in it, and %s",
		a.name, writer, fields, again)
}

// ownedAlready is the error if the Deployment is one that the Application created, or adopted with an earlier spec. It adopts a Service that
// is in the way only by hand.
func (a *adopting) ownedAlready(application *v1.Application) error {
	message := fmt.Sprintf("the Deployment belongs to the Application %s already", a.name)
	if !a.leavesService(application) {
		return errors.New(message)
	}
	message += fmt.Sprintf(", but the Service %s does not. ", a.name)
	explain := a.tool.commandLine(a.namespace, "why "+a.name)
	if application.Spec.AdoptionPolicy == v1.AdoptionConsented {
		return fmt.Errorf("%sTo let the Application adopt it by hand, consent on the Service: %s says how", message, explain)
	}
	return fmt.Errorf("%sTo let the Application adopt it by hand, set spec.adoptionPolicy to Consented: %s then says how to consent on the Service", message, explain)
}

// leavesService reports whether a Service has no consent to its adoption that the Application could adopt.
func (a *adopting) leavesService(application *v1.Application) bool {
	return a.service != nil && plan.Adoptable(child.Service, a.service) && !child.OwnedBy(a.service, application) && !consented(a.service, application) &&
		len(application.Spec.Ports) > 0
}

// announceExisting says how far an earlier run of the command came.
func (a *adopting) announceExisting(application *v1.Application) {
	to := a.tool.screen()
	switch {
	case a.isComplete(application):
		to.Printf("%s: the Application has adopted the Deployment already.", a.id())
	case a.editing.dryRun != cmdutil.DryRunNone:
		to.Printf("%s: the Application exists; its adoption would go on.", a.id())
	default:
		to.Printf("%s: the Application exists; its adoption goes on.", a.id())
	}
	a.announceIgnored(application)
}

// announceIgnored names the flags that are about an Application that this run writes.
func (a *adopting) announceIgnored(application *v1.Application) {
	to := a.tool.screen()
	if class := a.options.Class; class != "" && class != application.Spec.ClassName {
		has := "without a class"
		if application.Spec.ClassName != "" {
			has = "with class " + application.Spec.ClassName
		}
		to.Hanging("  ! ", "--class="+class+" is not applied, because the Application exists already, "+has+". To change that, set spec.className in it.")
	}
	compared := a.existing && !consented(a.deployment, application) && !child.OwnedBy(a.deployment, application)
	if len(a.accept) > 0 && !compared {
		to.Hanging("  ! ", "--accept changes nothing, because the Application exists already: this run compares no pods.")
	}
}

// announceUnneeded names what the user accepts in vain, perhaps by a wrong path.
func (a *adopting) announceUnneeded(needed []string, why string) {
	for _, path := range a.accept {
		within := func(other string) bool {
			return strings.HasPrefix(other, path+".") || strings.HasPrefix(other, path+"[")
		}
		switch {
		case slices.Contains(needed, path):
		case slices.ContainsFunc(needed, within):
			a.tool.screen().Hanging("  ! ", "--accept='"+path+"' changes nothing: name each path below it that is lost.")
		default:
			a.tool.screen().Hanging("  ! ", "--accept='"+path+"' changes nothing: "+why)
		}
	}
}

// isComplete reports whether the controller has adopted the objects, and replaced every pod from before.
func (a *adopting) isComplete(application *v1.Application) bool {
	adopted := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionAdopted)
	return child.OwnedBy(a.deployment, application) &&
		adopted != nil && adopted.Status == metav1.ConditionTrue && adopted.ObservedGeneration == application.Generation
}

// replaceInstead says what to do about a Deployment that no Application can adopt.
func replaceInstead(err error) error {
	return fmt.Errorf("%w. So this Deployment cannot be adopted as it is. If its pods can do without that, an Application can replace it without stopping them: "+
		"see 'Move an existing Deployment' in docs/applications.md", err)
}

// checkSelector refuses a Deployment that no Application can adopt, before anything is said about the one that exists.
func (a *adopting) checkSelector(application *v1.Application) error {
	err := adopt.WithSelector(a.deployment, nil)
	if err == nil || child.OwnedBy(a.deployment, application) {
		return nil
	}
	return replaceInstead(err)
}

// unlike returns in what the children of an Application differ from those of the one that this command would write.
func (a *adopting) unlike(ctx context.Context, existing *v1.Application) (lines []string, err error) {
	draft, err := adopt.Draft(a.deployment, a.service, a.options)
	if err != nil {
		return nil, err
	}
	draft.UID = existing.UID
	checker, err := a.editing.from.checker()
	if err != nil {
		return nil, err
	}
	want, err := a.render(ctx, draft, checker)
	if err != nil {
		return nil, err
	}
	have, err := a.render(ctx, existing, checker)
	if err != nil {
		return nil, err
	}
	d, err := preview.Compare(a.tool.differ, preview.Rendering{Application: draft, Children: want.Children}, preview.Rendering{Application: existing, Children: have.Children},
		child.Snapshot{Application: existing})
	if err != nil {
		return nil, err
	}
	for _, c := range d.Children {
		if c.Kind == child.ControllerRevision.Kind {
			continue // It records what the pods have.
		}
		name := c.Kind + "/" + c.Name
		if len(c.Changes) == 0 {
			lines = append(lines, name+": "+string(c.Action))
		}
		for _, change := range c.Changes {
			lines = append(lines, name+": "+difference.Describe(change))
		}
	}
	return lines, nil
}

// wouldLose says what to do about fields of the pods that the Application does not have. A draft has all that an Application can have, so
// only one that the user wrote can have more. accepting are the flags with which the pods lose them.
func (a *adopting) wouldLose(lost, accepting []string) string {
	accept := strings.Join(accepting, " ")
	if !a.existing {
		lose := "the pods would lose what an Application does not have; if they can, pass " + accept
		if a.service != nil && slices.ContainsFunc(a.service.Spec.Ports, isUnnamed) && slices.ContainsFunc(lost, isPort) {
			lose += ". Beside the port of the Service, which has no name, an Application can have no other"
		}
		return lose
	}
	var fields []string
	for _, path := range lost {
		if field := specField(path, a.name); field != "" && !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 {
		return "the pods would lose what the Application does not have; if they can, pass " + accept
	}
	return fmt.Sprintf("the pods would lose what the Application does not have: add what they need to %s, or, if they can do without, pass %s",
		text.Enumerate(fields), accept)
}

func isUnnamed(port corev1.ServicePort) bool { return port.Name == "" }

// isPort reports whether a path is of a port of a container.
func isPort(path string) bool { return strings.Contains(path, "].ports[") }

// specField is the field of an Application that sets a path of the pod template; "" if there may be none. main is the container of the
// application.
func specField(path, main string) string {
	within := func(prefix string, fields ...string) string {
		rest, found := strings.CutPrefix(path, prefix)
		at := slices.IndexFunc(fields, func(field string) bool {
			after, same := strings.CutPrefix(rest, field)
			return same && (after == "" || after[0] == '.' || after[0] == '[')
		})
		if !found || at < 0 {
			return ""
		}
		return fields[at]
	}
	if field := within(".metadata.", "labels", "annotations"); field != "" {
		return "spec.podMetadata." + field
	}
	if field := within(".spec.containers["+main+"].", "command", "args", "workingDir", "env", "envFrom", "ports", "resources", "lifecycle",
		"livenessProbe", "readinessProbe", "startupProbe", "imagePullPolicy"); field != "" {
		return "spec." + field
	}
	switch {
	case within(".spec.", "volumes") != "", within(".spec.containers["+main+"].", "volumeMounts") != "":
		return "spec.mounts"
	case within(".spec.", "initContainers") != "":
		return "spec.initContainers"
	case within(".spec.", "containers") != "" && !strings.HasPrefix(path, ".spec.containers["+main+"]"):
		return "spec.sidecars"
	}
	if field := within(".spec.", "imagePullSecrets", "nodeSelector", "tolerations", "affinity", "topologySpreadConstraints", "priorityClassName",
		"terminationGracePeriodSeconds"); field != "" {
		return "spec." + field
	}
	return ""
}
