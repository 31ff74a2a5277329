// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

func (t *tool) why() *cobra.Command {
	var (
		chosen selection
		out    output
		watch  watching
	)
	cmd := &cobra.Command{
		Use:   "why NAME... [flags]",
		Short: "Say why an Application is not ready, with evidence and what to do next",
		Long: long(`
			Say in sentences what is wrong with an Application, or worth knowing: each finding with its evidence (object, field,
			message and time) and what to do next. It covers stuck deletions, conflicts, refused specs, blocked and paused
			rollouts, pods that do not serve, quota, policies, routes and drift.

			The exit code is 0 if every Application is ready, 1 if one is not, and 2 if that could not be found out. With
			--watch, the command ends when all are ready, or after --timeout.`),
		Example: examples(`
			# Why the Application web is not ready
			kubectl fairlead why web

			# The same for every Application with a label, for a program
			kubectl fairlead why -l team=shop -o json`),
		ValidArgsFunction: t.completeNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return watch.untilReady(cmd.Context(), t, func(ctx context.Context, to *screen.Screen) (bool, error) {
				err := t.explainAll(ctx, to, &chosen, out, args)
				return err == nil, err
			})
		},
	}
	out.addTo(cmd)
	chosen.addTo(cmd)
	watch.addTo(cmd, &out, "Say it again whenever it changes, until every Application is ready.")
	return cmd
}

func (t *tool) explainAll(ctx context.Context, to *screen.Screen, chosen *selection, out output, args []string) error {
	clients, err := t.clients()
	if err != nil {
		return err
	}
	applications, missing, err := chosen.readShown(ctx, t, clients, args)
	if err != nil {
		return err
	}
	ready := true
	answers := make([]why.Answer, 0, len(applications))
	for _, application := range applications {
		loaded, err := loadWhy(ctx, clients, application)
		if err != nil {
			return err
		}
		answer := why.Explain(loaded)
		ready = ready && answer.Ready
		for _, finding := range answer.Findings {
			for i := range finding.Next {
				finding.Next[i] = t.withNamespace(application.Namespace, finding.Next[i])
			}
		}
		answers = append(answers, answer)
	}
	if out.machine() {
		if err := encode(to.Writer(), out.format, answers, chosen.many(args)); err != nil {
			return err
		}
	} else {
		for i, answer := range answers {
			if i > 0 {
				to.Blank()
			}
			answer.Print(to, t.now())
		}
	}
	if !ready && missing == nil {
		return errNo
	}
	return missing
}

// loadWhy reads what belongs to the Application, and what only why asks for.
func loadWhy(ctx context.Context, clients *cluster.Clients, application *v1.Application) (*cluster.Loaded, error) {
	loaded, err := clients.Load(ctx, application)
	if err != nil {
		return nil, err
	}
	if loaded.Saved, err = isSaved(ctx, clients, loaded); err != nil {
		return nil, err
	}
	if err := clients.LoadMissingSecrets(ctx, loaded, why.Secrets(loaded)); err != nil {
		return nil, err
	}
	if err := clients.LoadUnboundClaims(ctx, loaded, why.Claims(loaded)); err != nil {
		return nil, err
	}
	if why.RefusedByQuota(application) {
		if err := clients.LoadQuotas(ctx, loaded); err != nil {
			return nil, err
		}
	}
	if why.RefusedByLimitRange(application) {
		if err := clients.LoadLimitRanges(ctx, loaded); err != nil {
			return nil, err
		}
	}
	if why.LacksClass(application) {
		if err := clients.LoadClassesMissing(ctx, loaded); err != nil {
			return nil, err
		}
	}
	if why.LeavesReplicas(loaded) {
		clients.LoadMaxReplicas(ctx, loaded)
	}
	if why.ReplicasContended(application) || why.ReplicasOverClass(loaded) || why.HasRivalAutoscaler(application) {
		err = clients.LoadScalers(ctx, loaded)
	}
	return loaded, err
}

// isSaved reports whether adopt --abort has what a Deployment was before its adoption, or before the consent to it. The digest on the
// Deployment says that the plugin saved it. That counts alone for users without permission to read Secrets; others would notice that the Secret was deleted.
func isSaved(ctx context.Context, clients *cluster.Clients, loaded *cluster.Loaded) (bool, error) {
	application := loaded.Application
	deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, application.Name)
	if deployment == nil || deployment.Annotations[adopt.AnnotationBackup] == "" {
		return false, nil
	}
	if !adopt.Taken(deployment) && !consented(deployment, application) {
		return false, nil
	}
	saved, err := clients.HasSecret(ctx, application.Namespace, adopt.BackupName(application.Name))
	if apierrors.IsForbidden(err) {
		return true, nil
	}
	return saved, err
}
