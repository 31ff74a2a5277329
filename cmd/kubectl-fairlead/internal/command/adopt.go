// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// adopting is one adoption: the objects, and what the user decided.
type adopting struct {
	tool            *tool
	clients         *cluster.Clients
	editing         editing
	options         adopt.Options
	accept          []string
	namespace, name string
	deployment      *appsv1.Deployment
	service         *corev1.Service // nil if there is none
	autoscalers     []*autoscalingv2.HorizontalPodAutoscaler
	existing        bool
	fromHelm        bool
	draft           *v1.Application // of a dry run
	digest          string          // of the backup, if this run wrote or checked it
	release         *release        // nil if no Helm release has the objects, or had them before an earlier run
	lost            *lostService    // that an abort creates again; nil if the Service is still there
}

func (t *tool) adopt() *cobra.Command {
	a := &adopting{tool: t, editing: editing{tool: t}}
	var rollout, abort bool
	out := &a.editing.out
	cmd := &cobra.Command{
		Use:   "adopt NAME [flags]",
		Short: "Let an Application take over a Deployment and its Service that run already",
		Long: long(`
			Write the Application for the Deployment NAME and the Service of that name, say how the pods will differ, save both
			objects in the Secret NAME-before-adoption, consent to their adoption by this Application alone, and let it adopt
			them. No pod is replaced: the rollout is paused until you release it with --rollout. Until then --abort takes all of
			it back.

			What the Application would lose is named by its path, and needs --accept=PATH. What it cannot express is refused.
			With --from-helm, a Helm release gives up the two objects, in a revision of its own, and keeps the others. The
			objects of Argo CD and Flux are refused: take them out of the tool first.

			An Application of the name that exists already may be another user's. With --existing you consent to it as it is, and
			read how its pods will differ. Without such an Application, --existing is refused.`),
		Example: examples(`
			# Say what the adoption of the Deployment web would change
			kubectl fairlead adopt web --harden --dry-run=client

			# Adopt it, look, and replace the pods
			kubectl fairlead adopt web --harden
			kubectl fairlead adopt web --rollout

			# Adopt what a chart installed
			kubectl fairlead adopt web --harden --from-helm`),
		Args: oneName("Deployment"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if rollout && abort {
				return usageError(cmd.CommandPath(), "pass --rollout or --abort, but not both")
			}
			if a.existing && a.options.Class != "" {
				return usageError(cmd.CommandPath(), "pass --class or --existing, but not both: an Application that exists says itself which class it has")
			}
			if err := a.start(cmd, args[0]); err != nil {
				return err
			}
			programs, do := out.divert(t), a.run
			switch {
			case abort:
				return a.abort(cmd.Context())
			case rollout:
				do = a.rollOut
			}
			if err := do(cmd.Context()); err != nil || out.format == "" {
				return err
			}
			return a.print(cmd.Context(), programs)
		},
	}
	out.addTo(cmd, formatName)
	cmd.Flags().StringVar(&a.options.Container, "container", "", "The application's container, if there are several.")
	cmd.Flags().StringVar(&a.options.Class, "class", "", "The ApplicationClass that the Application names, if it is not to have the default one.")
	cmdutil.CheckErr(cmd.RegisterFlagCompletionFunc("class", t.completeClasses))
	cmd.Flags().BoolVar(&a.options.Harden, "harden", false, "Leave what the pods do not say about their privileges to Fairlead's defaults, which are restricted.")
	cmd.Flags().BoolVar(&a.existing, "existing", false, "Consent to the Application of this name that exists already, as it is.")
	cmd.Flags().BoolVar(&a.fromHelm, "from-helm", false, "Take the objects out of the Helm release that has them.")
	cmd.Flags().StringSliceVar(&a.accept, "accept", nil, "Paths of the pod template that the pods may lose; with --rollout, containers of other clients that they may have.")
	cmd.Flags().BoolVar(&rollout, "rollout", false, "Replace the pods of an adopted Deployment.")
	cmd.Flags().BoolVar(&abort, "abort", false, "Take the adoption back, and delete the Application; possible until --rollout.")
	a.editing.addTo(cmd)
	cmd.Flags().Lookup("class-file").Hidden = false // Without the class, no comparison says how the pods will differ.
	return cmd
}

// start connects, and reads the flags.
func (a *adopting) start(cmd *cobra.Command, name string) (err error) {
	if a.editing.dryRun, err = cmdutil.GetDryRunStrategy(cmd); err != nil {
		return err
	}
	if a.clients, err = a.tool.clients(); err != nil {
		return err
	}
	if a.name, err = deploymentName(name); err != nil {
		return err
	}
	a.namespace, _, err = a.tool.factory.ToRawKubeConfigLoader().Namespace()
	return err
}

// run adopts, up to the point where the pods could be replaced.
func (a *adopting) run(ctx context.Context) error {
	if err := a.read(ctx); err != nil {
		return err
	}
	if err := a.findRelease(ctx); err != nil {
		return err
	}
	application, err := a.clients.Fairlead.AppsV1().Applications(a.namespace).Get(ctx, a.name, metav1.GetOptions{})
	if err == nil {
		err = a.checkSelector(application)
	}
	switch {
	case err == nil && child.OwnedBy(a.deployment, application) && application.Spec.AdoptionPolicy != v1.AdoptionConsented:
		return a.ownedAlready(application)
	case err == nil && application.Spec.AdoptionPolicy != v1.AdoptionConsented && plan.IsLeftover(a.deployment):
		return fmt.Errorf("the Deployment %s was left behind by an earlier Application: take it back into the Application %[1]s as docs/guides/take-back.md says", a.name)
	case err == nil && application.Spec.AdoptionPolicy != v1.AdoptionConsented:
		refused := a.notConsented(application)
		if !a.existing {
			return refused
		}
		corrected := application.DeepCopy()
		corrected.Spec.AdoptionPolicy = v1.AdoptionConsented
		return cmp.Or(a.checkExisting(ctx, corrected, refused), refused)
	case err == nil && child.OwnedBy(a.deployment, application) && !a.isComplete(application) && a.leavesService(application):
		return a.ownedAlready(application) // The controller would wait for that consent.
	case err == nil:
		if err := a.checkExisting(ctx, application); err != nil {
			return err
		}
		a.announceExisting(application)
		if a.isComplete(application) {
			return a.endRelease(ctx)
		}
		if err := a.checkRollout(a.deployment); err != nil && !child.OwnedBy(a.deployment, application) {
			return err
		}
	case !apierrors.IsNotFound(err):
		return err
	case a.existing:
		return a.noneExists(err)
	default:
		if err := a.checkBackup(ctx); err != nil {
			return a.withRefusal(ctx, err)
		}
		if application, err = a.create(ctx); err != nil || application == nil {
			return err
		}
	}
	if a.editing.dryRun != cmdutil.DryRunNone {
		a.notWritten()
		return nil
	}
	if !child.OwnedBy(a.deployment, application) {
		if err := a.backUp(ctx, application); err != nil {
			return err
		}
		if a.release != nil {
			if err := a.release.takeOut(ctx); err != nil {
				return err
			}
		}
		if err := a.consent(ctx, application); err != nil {
			return err
		}
	}
	if err := a.endRelease(ctx); err != nil {
		return err
	}
	return a.enforce(ctx, application)
}

// command is another run of the command, with the flag if it is not empty.
func (a *adopting) command(flag string) string {
	return a.tool.commandLine(a.namespace, strings.TrimSpace("adopt "+a.name+" "+flag))
}

// readDeployment reads what runs the pods.
func (a *adopting) readDeployment(ctx context.Context) (err error) {
	a.deployment, err = a.clients.Kube.AppsV1().Deployments(a.namespace).Get(ctx, a.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		if lost := a.lostDeployment(ctx); lost != nil {
			return lost
		}
		return misspeltDeployment(ctx, a.clients, types.NamespacedName{Namespace: a.namespace, Name: a.name}, a.tool.notFound(err))
	}
	return err
}

// read reads what runs.
func (a *adopting) read(ctx context.Context) error {
	err := a.readDeployment(ctx)
	if err != nil {
		return err
	}
	if a.service, err = a.clients.Kube.CoreV1().Services(a.namespace).Get(ctx, a.name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
		a.service = nil
	} else if err != nil {
		return err
	}
	autoscalers, err := a.clients.Kube.AutoscalingV2().HorizontalPodAutoscalers(a.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("find out whether an autoscaler scales the Deployment: %w", err)
	}
	for i := range autoscalers.Items {
		if target := autoscalers.Items[i].Spec.ScaleTargetRef; target.Kind == child.Deployment.Kind && target.Name == a.name {
			a.options.Scaled = true
			a.autoscalers = append(a.autoscalers, &autoscalers.Items[i])
		}
	}
	return nil
}

// errDraft ends an adoption that would lose something.
var errDraft = errors.New("nothing was written")

// forReasons is the error of an adoption that is refused, with a line for each reason if there are several; nil without any.
func forReasons(reasons []error) error {
	switch len(reasons) {
	case 0:
		return nil
	case 1:
		return reasons[0]
	}
	said := make([]string, 0, len(reasons))
	for _, reason := range reasons {
		said = append(said, "- "+reason.Error())
	}
	return fmt.Errorf("%w, for %d reasons:\n%s", errDraft, len(reasons), strings.Join(said, "\n"))
}

// create writes the Application, and creates it. It returns nil in a dry run.
func (a *adopting) create(ctx context.Context) (*v1.Application, error) {
	marks := a.checkMarks()
	draft, err := adopt.Draft(a.deployment, a.service, a.options)
	if inexpressible := (*adopt.RefusedError)(nil); errors.As(adopt.WithSelector(a.deployment, err), &inexpressible) {
		return nil, forReasons(append(marks, a.inexpressible(inexpressible))) // The user learns at once all that is in the way.
	}
	if err := cmp.Or(forReasons(marks), err); err != nil {
		return nil, err
	}
	a.announceLeftover()
	account := a.leaveDefaultAccount(ctx, draft, true)
	if err := a.announce(ctx, draft, account); err != nil {
		return nil, err
	}
	options := metav1.CreateOptions{FieldManager: fieldManager}
	switch a.editing.dryRun {
	case cmdutil.DryRunClient:
		a.notWritten()
		if a.draft = draft; a.editing.out.format != "" {
			return nil, nil
		}
		text, err := yaml.Marshal(withoutStatus(draft))
		fmt.Fprintf(a.tool.Out, "---\n%s", text)
		return nil, err
	case cmdutil.DryRunServer:
		options.DryRun = []string{metav1.DryRunAll}
	case cmdutil.DryRunNone:
	}
	// They are not the Application's before the adoption, which takes marks of a Helm release off first.
	a.tool.warned.mute(fmt.Sprintf("Deployment %q in namespace %q ", a.name, a.namespace), fmt.Sprintf("Service %q in namespace %q ", a.name, a.namespace))
	created, err := a.clients.Fairlead.AppsV1().Applications(a.namespace).Create(ctx, draft, options)
	if err != nil {
		return nil, needsClass(err)
	}
	if a.editing.dryRun != cmdutil.DryRunNone {
		a.draft = created
		a.notWritten()
		return nil, nil
	}
	return created, nil
}

// announce says what the adoption by the Application would change. It fails if that is impossible, or not accepted, with all reasons that it
// can find out, and those that are known already.
func (a *adopting) announce(ctx context.Context, application *v1.Application, account string, refused ...error) error {
	if err := a.checkAutoscalers(); err != nil {
		refused = append(refused, err)
	}
	if err := a.checkRollout(a.deployment); err != nil {
		refused = append(refused, err)
	}
	staying, err := a.staying(ctx, application)
	if err != nil {
		return cmp.Or(forReasons(refused), err)
	}
	differences, others, found, err := a.compare(ctx, application)
	refused = append(refused, found...)
	if err != nil {
		return cmp.Or(forReasons(refused), err)
	}
	to := a.tool.screen()
	printChanges(to, a.id(), podsThatRun(a.deployment), differences)
	for _, said := range others.describe() {
		to.Hanging("  ", said)
	}
	a.announceRolloutBefore()
	if err := a.announceShared(ctx, others); err != nil {
		return cmp.Or(forReasons(refused), err)
	}
	lost := make([]string, 0, len(differences.Lost))
	var missing, unaccepted []string
	for _, change := range differences.Lost {
		lost = append(lost, change.Path)
		if !slices.Contains(a.accept, change.Path) && !mustStay(change.Path, refused) {
			unaccepted = append(unaccepted, change.Path)
			missing = append(missing, "--accept='"+change.Path+"'")
		}
	}
	a.announceUnneeded(lost, "nothing is lost there.")
	if len(missing) > 0 {
		loss := errors.New(a.wouldLose(unaccepted, missing))
		if len(refused) == 0 {
			return fmt.Errorf("%w: %w", errDraft, loss)
		}
		refused = append(refused, loss)
	}
	if len(refused) > 0 {
		return forReasons(refused)
	}
	mentions, err := a.mentions(application)
	if err != nil {
		return err
	}
	for _, said := range append(staying, mentions, account) {
		if said != "" {
			to.Hanging("  ", said)
		}
	}
	if a.release != nil {
		kept, err := a.release.others(ctx)
		if err != nil {
			return err
		}
		printRelease(to, a.release, kept)
	}
	return nil
}
