// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// waiting says what a wait for the controller waits for, if it lasts.
type waiting struct {
	tool  *tool
	began time.Time
	named bool   // whether the user knows what the wait is for.
	said  string // is what the condition Ready said last.
}

func (t *tool) wait() *waiting { return &waiting{tool: t, began: time.Now()} }

// pollInterval is between two looks at what a wait is for.
const pollInterval = 500 * time.Millisecond

// on prints once what the controller has still to do, unless it does that at once, and what to do if there is no controller.
func (w *waiting) on(what string) {
	if w.named || time.Since(w.began) < pollInterval {
		return
	}
	w.named = true
	w.tool.screen().Hanging("  ", fmt.Sprintf("Waiting up to %s for the controller to %s. If no controller runs, start it: 'kubectl fairlead doctor' looks for one.", controllerTimeout, what))
}

// isLong reports whether the wait takes longer than a controller that is at work does.
func (w *waiting) isLong() bool { return time.Since(w.began) >= 3*time.Second }

// look prints what the condition Ready says about the present generation, once, and again if that changes.
func (w *waiting) look(now *v1.Application) {
	w.quote(now, meta.FindStatusCondition(now.Status.Conditions, v1.ConditionReady))
}

// quote is look for another condition.
func (w *waiting) quote(now *v1.Application, condition *metav1.Condition) {
	if condition == nil || condition.Status == metav1.ConditionTrue || condition.ObservedGeneration != now.Generation || !w.isLong() || condition.Message == w.said {
		return
	}
	w.said = condition.Message
	w.tool.screen().Hanging("  ", "Still waiting. The Application says: "+w.said)
}

// next says what to do when the wait is over.
func (w *waiting) next() string {
	if w.said == "" {
		return ": see 'kubectl fairlead doctor', and run the command again"
	}
	return ". The Application says: " + strings.TrimSuffix(w.said, ".") + ". Solve that, and run the command again"
}

// awaitGone waits until a deleted Application is gone, or another one has its name.
func awaitGone(ctx context.Context, t *tool, clients *cluster.Clients, application *v1.Application) error {
	waits := t.wait()
	err := wait.PollUntilContextTimeout(ctx, pollInterval, controllerTimeout, true, func(ctx context.Context) (bool, error) {
		now, err := clients.Fairlead.AppsV1().Applications(application.Namespace).Get(ctx, application.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && now.UID != application.UID {
			return true, nil
		}
		if err == nil {
			if slices.Contains(now.Finalizers, v1.FinalizerOrphan) {
				waits.on("end the Application")
			}
			waits.look(now)
		}
		return false, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("the Application is being deleted, but was not gone within %s%s", controllerTimeout, waits.next())
	}
	if err != nil {
		return fmt.Errorf("wait for the end of the Application, then run the command again: %w", err)
	}
	return nil
}
