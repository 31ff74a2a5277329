// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
)

// breaks makes the server unable to decrypt the Secret broken: it neither gets it nor lists any.
func (w *world) breaks() (repair func()) {
	w.Helper()
	return w.server.Intercept(func(_ context.Context, r applytest.Request) error {
		if r.Kind == applytest.Secrets && (r.Verb == "list" || r.Verb == "get" && r.Name == "broken") {
			return apierrors.NewInternalError(errors.New("unable to transform key /registry/secrets/other/broken"))
		}
		return nil
	})
}

// One Secret that cannot be decrypted does not stop who uses another one: pods keep the hash that they have, everything else
// goes on, and what has changed meanwhile is found when the list works again.
func TestSecretsThatCannotBeListed(t *testing.T) {
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "one")}, using("web", "db"))}, func(w *world) {
		w.serves("web")
		before := w.hash("web")
		w.end()
		repair := w.breaks()
		w.start()
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
		w.wantCondition("web", v1.ConditionConfigWatched, metav1.ConditionFalse, v1.ReasonConfigNotReadable)
		message := meta.FindStatusCondition(w.application("web").Status.Conditions, v1.ConditionConfigWatched).Message
		if want := "Secret db do not replace pods: Secrets cannot be listed (InternalError)"; !strings.Contains(message, want) || strings.Contains(message, "other") {
			w.Errorf("it says %q, want %q in it, and no Secret of another namespace", message, want)
		}
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:2" })
		w.setPassword("db", "two")
		w.serves("web")
		if w.image("web") != "web:2" || w.hash("web") != before {
			w.Errorf("the Deployment runs %s with the hash %q, want web:2 with %q", w.image("web"), w.hash("web"), before)
		}
		repair()
		pass(2 * time.Minute)
		if w.hash("web") == before || w.rollouts("web") != 3 {
			w.Errorf("the hash is %q after %d rollouts, want another than %q after 3", w.hash("web"), w.rollouts("web"), before)
		}
		w.serves("web")
		if got := meta.FindStatusCondition(w.application("web").Status.Conditions, v1.ConditionConfigWatched); got != nil && got.Status != metav1.ConditionTrue {
			w.Errorf("ConfigWatched is %+v after the repair", got)
		}
	})
}

// An Application without pods gets its own Secret by name. It starts if that can be read, waits if it does not exist or
// cannot be read, and is not rolled again when the list works.
func TestFirstRolloutWhileSecretsCannotBeListed(t *testing.T) {
	inWorld(t, setup{begin: func(s *applytest.Server) {
		applytest.Put(s, applytest.Secrets, secret("db", "one"))
		applytest.Put(s, applytest.Secrets, secret("broken", "one"))
	}}, func(w *world) {
		repair := w.breaks()
		for name, secret := range map[string]string{"web": "db", "late": "later", "stuck": "broken"} {
			applytest.Put(w.server, applytest.Applications, using(name, secret))
		}
		pass(time.Minute)
		if w.rollouts("web") != 1 || w.hash("web") == "" {
			w.Error("an Application whose Secret can be read has no Deployment with a hash")
		}
		w.wantMessage("late", "Secret later does not exist")
		w.wantMessage("stuck", "Secret broken cannot be read (InternalError)")
		if w.deployment("late") != nil || w.deployment("stuck") != nil {
			w.Error("there are pods that cannot start")
		}
		applytest.Put(w.server, applytest.Secrets, secret("later", "one"))
		pass(time.Minute)
		if w.rollouts("late") != 1 {
			w.Error("no Deployment although the Secret is there")
		}
		repair()
		pass(2 * time.Minute)
		for _, name := range []string{"web", "late", "stuck"} {
			if w.rollouts(name) != 1 || w.hash(name) == "" {
				w.Errorf("%s: %d rollouts, want one with a hash", name, w.rollouts(name))
			}
		}
	})
}
