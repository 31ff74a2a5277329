// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
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

// pod template generations: a rollout is a change of the Deployment's spec.
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
		pass(quietTime - time.Millisecond)
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
			"Normal ConfigChanged Secrets that the pods use have changed; the pods are replaced",
			"Normal ConfigChanged Secrets that the pods use have changed; the pods are replaced",
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

// Without its Secret an Application does not start; its other children are there, and it says what
// it waits for. It goes on by the event.
func TestMissingSecret(t *testing.T) {
	inWorld(t, setup{begin: withApplications(using("web", "db"))}, func(w *world) {
		pass(time.Minute)
		if w.deployment("web") != nil {
			w.Error("there is a Deployment without its Secret")
		}
		if applytest.Get[*corev1.Service](w.server, child.Service, namespace, "web") == nil {
			w.Error("there is no Service")
		}
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConfigMissing)
		w.wantMessage("web", "Secret db does not exist")
		applytest.Put(w.server, applytest.Secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "db"}})
		pass(time.Second)
		w.wantMessage("web", `Secret db has no ["password"]`)
		w.setPasswordOf("db")
		pass(quietTime)
		if w.deployment("web") == nil || w.hash("web") == "" {
			w.Fatal("there is no Deployment, or none with a hash")
		}
		w.pods("web", 1)
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
		if got := w.rollouts("web"); got != 1 {
			w.Errorf("generation %d, want 1", got)
		}
		syncs := len(w.log.find("Synced"))
		pass(time.Hour)
		if got := len(w.log.find("Synced")); got != syncs {
			w.Errorf("%d syncs while nothing happened", got-syncs)
		}
	})
}

func (w *world) setPasswordOf(name string) {
	w.Helper()
	applytest.Edit(w.server, applytest.Secrets, namespace, name, func(s *corev1.Secret) { s.Data = map[string][]byte{"password": []byte("x")} })
}

func (w *world) wantMessage(name, part string) {
	w.Helper()
	got := meta.FindStatusCondition(w.application(name).Status.Conditions, v1.ConditionReady)
	if got == nil || !strings.Contains(got.Message, part) {
		w.Errorf("%s: Ready is %+v, want a message with %q", name, got, part)
	}
}

// A Secret that goes away stops no pod, and one that a new spec asks for lets the old pods run.
func TestSecretGoesMissing(t *testing.T) {
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "one")}, using("web", "db"))}, func(w *world) {
		pass(time.Minute)
		w.pods("web", 1)
		pass(time.Minute)
		// Replaced, as some tools do: nobody hears of it.
		w.told()
		w.server.Delete(applytest.Secrets, namespace, "db")
		pass(time.Second)
		applytest.Put(w.server, applytest.Secrets, secret("db", "one"))
		pass(time.Minute)
		if got := w.told(); len(got) > 0 || w.rollouts("web") != 1 {
			w.Errorf("the same content under another UID: %v, generation %d", got, w.rollouts("web"))
		}
		w.server.Delete(applytest.Secrets, namespace, "db")
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonConfigMissing)
		w.edit("web", func(a *v1.Application) { a.Spec.Replicas = new(int32(3)) })
		pass(time.Minute)
		if got := *w.deployment("web").Spec.Replicas; got != 3 {
			w.Errorf("%d replicas, want 3: scaling starts no other pods", got)
		}
		applytest.Put(w.server, applytest.Secrets, secret("db", "one"))
		pass(time.Minute)
		w.pods("web", 3)
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)

		w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:2"; a.Spec.Env = using("web", "db", "new").Spec.Env })
		pass(time.Minute)
		w.wantMessage("web", "Secret new does not exist")
		if got := w.image("web"); got == "web:2" {
			w.Error("the pods were replaced although a Secret is missing")
		}
		applytest.Put(w.server, applytest.Secrets, secret("new", "one"))
		pass(time.Minute)
		if got := w.image("web"); got != "web:2" {
			w.Errorf("the pods run %s, want web:2", got)
		}
	})
}

// An optional Secret need not be there, and rolls the pods when it comes.
func TestOptionalSecret(t *testing.T) {
	web := using("web", "db")
	web.Spec.Env[0].ValueFrom.SecretKeyRef.Optional = new(true)
	inWorld(t, setup{begin: withApplications(web)}, func(w *world) {
		pass(time.Minute)
		if w.rollouts("web") != 1 {
			w.Fatal("there is no Deployment")
		}
		applytest.Put(w.server, applytest.Secrets, secret("db", "one"))
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

// Without the permission for Secrets all else works, nothing is tried again and again, and a
// condition says what does not work.
func TestSecretsNotPermitted(t *testing.T) {
	asked := 0
	access := func(_ context.Context, resource schema.GroupResource, _ string) (bool, error) {
		asked++
		if asked < 3 {
			return false, fmt.Errorf("not yet")
		}
		return resource.Resource != "secrets", nil
	}
	inWorld(t, setup{access: access, begin: withSecrets([]*corev1.Secret{secret("db", "one")}, using("web", "db"))}, func(w *world) {
		pass(time.Hour)
		if w.deployment("web") == nil || w.hash("web") != "" {
			w.Fatal("there is no Deployment, or it has a hash")
		}
		w.wantCondition("web", v1.ConditionConfigFollowed, metav1.ConditionFalse, v1.ReasonConfigNotReadable)
		if got := w.count(func(r applytest.Request) bool { return r.Kind == applytest.Secrets }); got != 0 || asked != 3 {
			w.Errorf("%d requests about Secrets, want none; asked %d times for the permission, want 3", got, asked)
		}
	})
}

// The same where the answer was yes, and the payload is refused all the same: the pods stay.
func TestPayloadNotPermitted(t *testing.T) {
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "one")}, using("web", "db"))}, func(w *world) {
		pass(time.Minute)
		before := w.hash("web")
		w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if payloadReads(r) {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, r.Name, fmt.Errorf("no"))
			}
			return nil
		})
		w.setPassword("db", "two")
		pass(time.Minute)
		if w.rollouts("web") != 1 || w.hash("web") != before {
			w.Error("the pods were replaced")
		}
		w.wantCondition("web", v1.ConditionConfigFollowed, metav1.ConditionFalse, v1.ReasonConfigNotReadable)
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
