// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

var hashKey = cache.ObjectName{Namespace: "fairlead-system", Name: "key"}

func permitAll(context.Context, schema.GroupResource, string) (bool, error) { return true, nil }

// using is an Application that takes a variable from the key "password" of each Secret.
func using(name string, secrets ...string) *v1.Application {
	a := application(name)
	for i, secret := range secrets {
		a.Spec.Env = append(a.Spec.Env, corev1.EnvVar{Name: fmt.Sprintf("V%d", i), ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: "password"},
		}})
	}
	return a
}

func secret(name, password string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{"password": []byte(password)}}
}

func (w *world) setPassword(name, password string) {
	w.Helper()
	applytest.Edit(w.server, applytest.Secrets, namespace, name, func(s *corev1.Secret) { s.Data["password"] = []byte(password) })
}

// withSecrets begins with Applications and the Secrets that they use.
func withSecrets(secrets []*corev1.Secret, applications ...*v1.Application) func(*applytest.Server) {
	return func(s *applytest.Server) {
		for _, secret := range secrets {
			applytest.Put(s, applytest.Secrets, secret)
		}
		withApplications(applications...)(s)
	}
}

// rollouts returns how often the Deployment's spec has changed.
func (w *world) rollouts(name string) int64 {
	w.Helper()
	deployment := w.deployment(name)
	if deployment == nil {
		return 0
	}
	return deployment.Generation
}

func (w *world) hash(name string) string {
	return w.deployment(name).Spec.Template.Annotations[v1.AnnotationSecretsHash]
}

// payloadReads are the reads of Secrets, the key aside.
func payloadReads(r applytest.Request) bool {
	return r.Verb == "get" && r.Kind == applytest.Secrets && r.Namespace == namespace
}

func TestSecretRollsThePodsThatUseIt(t *testing.T) {
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "one"), secret("cache", "one")},
		using("web", "db"), using("api", "db", "cache"), using("other", "cache"), application("none"))}, func(w *world) {
		pass(time.Minute)
		before := map[string]string{}
		for _, name := range []string{"web", "api", "other"} {
			before[name] = w.hash(name)
			if before[name] == "" {
				w.Errorf("%s has no hash of its Secrets", name)
			}
		}
		if got := w.deployment("none").Spec.Template.Annotations; len(got) > 0 {
			w.Errorf("the pods of who uses no Secret have the annotations %v", got)
		}
		w.told()
		const canary = "correct horse battery staple"
		w.setPassword("db", canary)
		pass(debounceAfter - time.Millisecond)
		if w.rollouts("web") != 1 {
			w.Error("the pods were replaced before the change had settled")
		}
		pass(time.Minute)
		for name, want := range map[string]int64{"web": 2, "api": 2, "other": 1, "none": 1} {
			if got := w.rollouts(name); got != want {
				w.Errorf("%s is at generation %d, want %d", name, got, want)
			}
		}
		if w.hash("web") == before["web"] || w.hash("other") != before["other"] {
			w.Errorf("hashes before %v, now %s of web and %s of other", before, w.hash("web"), w.hash("other"))
		}
		// Each content once, however many Applications use it.
		if got := w.count(payloadReads); got != 3 {
			w.Errorf("%d reads of Secrets, want 3", got)
		}
		want := []string{
			"Normal ConfigChanged Secrets that the pods use have changed; rolling out pods.",
			"Normal ConfigChanged Secrets that the pods use have changed; rolling out pods.",
		}
		if diff := cmp.Diff(want, w.told()); diff != "" {
			w.Errorf("Events (-want +got):\n%s", diff)
		}
		for _, message := range w.log.find() {
			if strings.Contains(message, canary) {
				w.Errorf("the content is in the log: %s", message)
			}
		}
	})
}

// TestConfigChangeSaysWhatFollows: an Event of a changed Secret promises no rollout that does not come, and an edit of the references is none.
func TestConfigChangeSaysWhatFollows(t *testing.T) {
	const changed = "Normal ConfigChanged Secrets that the pods use have changed; "
	stopped, paused, edited := using("stopped", "db"), using("paused", "db"), using("edited", "cache")
	stopped.Spec.Replicas = new(int32(0))
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "one"), secret("cache", "one")}, stopped, paused, edited)}, func(w *world) {
		pass(time.Minute)
		w.edit("paused", func(a *v1.Application) { a.Spec.Paused = new(true) })
		pass(time.Minute)
		w.told()
		w.edit("edited", func(a *v1.Application) { a.Spec.Env = using("edited", "cache", "db").Spec.Env })
		pass(time.Minute)
		if told := w.told(); slices.ContainsFunc(told, func(event string) bool { return strings.HasPrefix(event, changed) }) {
			w.Errorf("an edit of the references has the Events %q", told)
		}
		w.setPassword("db", "two")
		pass(time.Minute)
		told := w.told()
		slices.Sort(told)
		want := []string{changed + "rolling out pods.", changed + "the rollout waits while spec.paused is true.", changed + "there are no pods to replace."}
		if diff := cmp.Diff(want, told); diff != "" {
			w.Errorf("Events (-want +got):\n%s", diff)
		}
	})
}

func TestConfigMapRollsThePodsThatUseIt(t *testing.T) {
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "settings"}, Data: map[string]string{"a": "1"}}
	web := application("web")
	web.Spec.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
	inWorld(t, setup{begin: func(s *applytest.Server) {
		applytest.Put(s, child.ConfigMap, settings)
		withApplications(web)(s)
	}}, func(w *world) {
		pass(time.Minute)
		applytest.Edit(w.server, child.ConfigMap, namespace, "settings", func(c *corev1.ConfigMap) { c.Data["a"] = "2" })
		pass(time.Minute)
		if got := w.rollouts("web"); got != 2 {
			w.Errorf("generation %d, want 2", got)
		}
		if got := w.count(func(r applytest.Request) bool { return r.Kind == applytest.Secrets }); got != 0 {
			w.Errorf("%d requests about Secrets, want none: nobody uses any", got)
		}
	})
}

// Edits one after the other are one rollout, and a series without end one in ten seconds.
func TestBurstIsOneRollout(t *testing.T) {
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "0")}, using("web", "db"))}, func(w *world) {
		pass(time.Minute)
		for i := range 8 {
			w.setPassword("db", fmt.Sprint("a", i))
			pass(time.Second)
		}
		if got := w.rollouts("web"); got != 1 {
			w.Errorf("generation %d during the edits, want 1", got)
		}
		pass(time.Minute)
		if got := w.rollouts("web"); got != 2 {
			w.Errorf("generation %d after the edits, want 2", got)
		}
		if got := w.count(payloadReads); got != 2 {
			w.Errorf("%d reads of the Secret, want 2", got)
		}
		for i := range 60 {
			w.setPassword("db", fmt.Sprint("b", i))
			pass(time.Second)
		}
		pass(time.Minute)
		if got := w.rollouts("web"); got < 7 || got > 8 {
			w.Errorf("generation %d after a minute of edits, want one for each ten seconds", got)
		}
	})
}

// What is not content changes no pod, and is not written anywhere.
func TestMetadataRollsNothing(t *testing.T) {
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "one")}, using("web", "db"))}, func(w *world) {
		pass(time.Minute)
		writes := w.count(applytest.Request.Writes)
		for i := range 3 {
			applytest.Edit(w.server, applytest.Secrets, namespace, "db", func(s *corev1.Secret) { s.Labels = map[string]string{"a": fmt.Sprint(i)} })
			pass(time.Minute)
		}
		if got := w.count(applytest.Request.Writes); got != writes {
			w.Errorf("%d writes after a new label", got-writes)
		}
		if got := w.count(payloadReads); got != 4 {
			w.Errorf("%d reads of the Secret, want one for each version", got)
		}
	})
}

func TestImmutableIsReadOnce(t *testing.T) {
	db := secret("db", "one")
	db.Immutable = new(true)
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{db}, using("web", "db"))}, func(w *world) {
		pass(time.Minute)
		applytest.Edit(w.server, applytest.Secrets, namespace, "db", func(s *corev1.Secret) { s.Labels = map[string]string{"a": "b"} })
		pass(time.Minute)
		if got := w.count(payloadReads); got != 1 {
			w.Errorf("%d reads of the Secret, want 1", got)
		}
		// Another object may have another content.
		w.server.Delete(applytest.Secrets, namespace, "db")
		applytest.Put(w.server, applytest.Secrets, secret("db", "two"))
		pass(time.Minute)
		if got := w.rollouts("web"); got != 2 {
			w.Errorf("generation %d, want 2", got)
		}
	})
}

// A restart neither writes nor reads any content, and no further one either.
func TestRestartReadsNoContent(t *testing.T) {
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "one")}, using("web", "db"), using("api", "db"))}, func(w *world) {
		pass(time.Minute)
		for range 2 {
			w.end()
			version, reads := w.server.Version(), w.count(payloadReads)
			w.start()
			pass(time.Minute)
			if got := w.server.Version(); got != version {
				w.Errorf("%d changes by the restart", got-version)
			}
			if got := w.count(payloadReads); got != reads {
				w.Errorf("%d reads of the Secret by the restart", got-reads)
			}
		}
		// What changed while the controller was down rolls the pods.
		w.end()
		w.setPassword("db", "two")
		w.start()
		pass(time.Minute)
		if got := w.rollouts("web"); got != 2 {
			w.Errorf("generation %d, want 2", got)
		}
	})
}

func TestIgnore(t *testing.T) {
	ignoring := using("web", "db")
	ignoring.Spec.ConfigChangePolicy = v1.ConfigChangeIgnore
	inWorld(t, setup{begin: withApplications(ignoring)}, func(w *world) {
		pass(time.Minute)
		if w.deployment("web") == nil || w.hash("web") != "" {
			w.Fatal("there is no Deployment, or it has a hash")
		}
		applytest.Put(w.server, applytest.Secrets, secret("db", "one"))
		w.setPassword("db", "two")
		pass(time.Minute)
		if got := w.count(func(r applytest.Request) bool { return r.Kind == applytest.Secrets }); got != 0 {
			w.Errorf("%d requests about Secrets, want none", got)
		}
		policy := func(p v1.ConfigChangePolicy, rollouts int64) {
			w.Helper()
			w.edit("web", func(a *v1.Application) { a.Spec.ConfigChangePolicy = p })
			pass(time.Minute)
			if got := w.rollouts("web"); got != rollouts {
				w.Errorf("generation %d after %s, want %d", got, p, rollouts)
			}
		}
		policy(v1.ConfigChangeRollout, 2)
		policy(v1.ConfigChangeIgnore, 2)
		policy(v1.ConfigChangeRollout, 2)
		policy(v1.ConfigChangeIgnore, 2)
		w.setPassword("db", "three")
		pass(time.Minute)
		policy(v1.ConfigChangeIgnore, 2)
		policy(v1.ConfigChangeRollout, 3)
	})
}

// A spec that changes together with its Secret, as a chart does it, makes one rollout.
func TestSpecAndSecretTogether(t *testing.T) {
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "one")}, using("web", "db"))}, func(w *world) {
		pass(time.Minute)
		w.setPassword("db", "two")
		pass(100 * time.Millisecond)
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:2" })
		pass(time.Minute)
		if got := w.rollouts("web"); got != 2 {
			w.Errorf("generation %d, want 2", got)
		}
	})
}
