// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

const (
	testNamespace = "fairlead-system"
	testSecret    = "fairlead-serving-cert"
	testWebhooks  = "fairlead"
)

// shortPolicy has the shape of the default one with shorter lifetimes: the Rotator checks everything once an hour.
var shortPolicy = Policy{CAValidity: 30 * day, LeafValidity: 7 * day, Backdate: 10 * time.Minute, Overlap: time.Hour}

// cluster is a fake API server with a leader and a follower, in a bubble of synctest.
type cluster struct {
	*fake.Clientset
	leader, follower *SecretStore
	rotator          *Rotator
	// refusePatches makes the API server refuse to change the validating configuration.
	refusePatches atomic.Bool
}

// The fake cannot stream the initial list. Only the clientset says so, but the tests pass on typed clients.
type (
	fakeSecrets    struct{ SecretClient }
	fakeValidating struct{ ValidatingClient }
	fakeMutating   struct{ MutatingClient }
)

func (fakeSecrets) IsWatchListSemanticsUnSupported() bool    { return true }
func (fakeValidating) IsWatchListSemanticsUnSupported() bool { return true }
func (fakeMutating) IsWatchListSemanticsUnSupported() bool   { return true }

func newCluster(t *testing.T, objects ...runtime.Object) *cluster {
	t.Helper()
	client := fake.NewClientset(objects...)
	secrets := fakeSecrets{client.CoreV1().Secrets(testNamespace)}
	c := &cluster{
		Clientset: client,
		leader:    NewSecretStore(secrets, testNamespace, testSecret),
		follower:  NewSecretStore(secrets, testNamespace, testSecret),
	}
	rotator, err := NewRotator(Config{
		Store: c.leader, Names: testNames, Policy: shortPolicy,
		Configurations: []Configuration{
			ValidatingConfiguration(fakeValidating{client.AdmissionregistrationV1().ValidatingWebhookConfigurations()}, testWebhooks),
			MutatingConfiguration(fakeMutating{client.AdmissionregistrationV1().MutatingWebhookConfigurations()}, testWebhooks),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.rotator = rotator
	// This comes before anything runs, because the fake reads its reactors without a lock.
	client.PrependReactor("patch", "validatingwebhookconfigurations", func(clienttesting.Action) (bool, runtime.Object, error) {
		return c.refusePatches.Load(), nil, errors.New("refused")
	})
	run(t, c.leader.Run)
	run(t, c.follower.Run)
	return c
}

// run runs until the test ends, or until stop is called.
func run(t *testing.T, loop func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { loop(ctx) })
	stop = func() {
		cancel()
		group.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// pass lets time pass on the clock of synctest, until every goroutine has done what was due by then.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func validating(caBundles ...string) *admissionregistrationv1.ValidatingWebhookConfiguration {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: testWebhooks}}
	for i, caBundle := range caBundles {
		configuration.Webhooks = append(configuration.Webhooks, admissionregistrationv1.ValidatingWebhook{
			Name:         string(rune('a'+i)) + ".fairlead.dev",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: []byte(caBundle)},
		})
	}
	return configuration
}

func mutating() *admissionregistrationv1.MutatingWebhookConfiguration {
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: testWebhooks},
		Webhooks:   []admissionregistrationv1.MutatingWebhook{{Name: "m.fairlead.dev"}},
	}
}

// caBundles returns the caBundles of all webhooks.
func (c *cluster) caBundles(t *testing.T) [][]byte {
	t.Helper()
	var all [][]byte
	for _, configuration := range c.rotator.config.Configurations {
		hooks, err := configuration.get(t.Context())
		if err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		for _, h := range hooks {
			all = append(all, h.client.CABundle)
		}
	}
	return all
}

func (c *cluster) secret(t *testing.T) *corev1.Secret {
	t.Helper()
	secret, err := c.CoreV1().Secrets(testNamespace).Get(t.Context(), testSecret, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// requireTrusted checks that both replicas serve what every webhook configuration trusts.
func (c *cluster) requireTrusted(t *testing.T) {
	t.Helper()
	for _, store := range []*SecretStore{c.leader, c.follower} {
		if err := Healthy(store, time.Now()); err != nil {
			t.Fatal(err)
		}
		for i, caBundle := range c.caBundles(t) {
			if err := trusts(caBundle, store.last().Leaf.Certificate, time.Now()); err != nil {
				t.Errorf("%s: webhook %d: %v", time.Now(), i, err)
			}
		}
	}
}

func TestFirstStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, validating("", "old"), mutating())
		synctest.Wait()
		if err := Healthy(c.follower, time.Now()); err == nil {
			t.Error("healthy without a certificate")
		}
		run(t, c.rotator.Run)
		synctest.Wait()
		c.requireTrusted(t)
		if got := c.secret(t); got.Type != corev1.SecretTypeTLS {
			t.Errorf("the type of the Secret is %s, want %s", got.Type, corev1.SecretTypeTLS)
		}
		if got := len(c.caBundles(t)); got != 3 {
			t.Errorf("%d webhooks afterwards, want 3", got)
		}
		if !bytes.Equal(c.follower.CABundle(), c.caBundles(t)[0]) {
			t.Error("the follower's caBundle is not the one that was injected")
		}
	})
}

func TestManyLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, validating("", ""), mutating())
		run(t, c.rotator.Run)
		synctest.Wait()
		leaves, cas := map[string]bool{}, map[string]bool{}
		for range 60 {
			c.requireTrusted(t)
			leaves[string(c.follower.last().Leaf.Certificate.Raw)] = true
			cas[string(c.follower.last().CA.Certificate.Raw)] = true
			pass(day)
		}
		if len(leaves) < 12 || len(cas) != 3 {
			t.Errorf("%d leaves and %d CAs in two lives of a CA, want at least 12 and exactly 3", len(leaves), len(cas))
		}
	})
}

func TestS17NoLeafOfACANobodyTrusts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, validating(""))
		run(t, c.rotator.Run)
		synctest.Wait()
		first := c.leader.last().CA.Certificate

		c.refusePatches.Store(true)
		pass(21 * day)
		if b := c.leader.last(); b.Next.Certificate == nil || !b.CA.Certificate.Equal(first) || issuer(b) != b.CA.Certificate {
			t.Error("with a caBundle that cannot be written, the CA was not kept")
		}
		if err := trusts(c.caBundles(t)[0], c.leader.last().Leaf.Certificate, time.Now()); err != nil {
			t.Errorf("the leaf is not renewed meanwhile: %v", err)
		}

		c.refusePatches.Store(false)
		pass(3 * time.Hour)
		if b := c.leader.last(); b.CA.Certificate.Equal(first) {
			t.Error("the CA was not replaced once the caBundle could be written again")
		}
	})
}

func TestDisturbances(t *testing.T) {
	for name, disturb := range map[string]func(t *testing.T, c *cluster){
		"Secret deleted": func(t *testing.T, c *cluster) {
			if err := c.CoreV1().Secrets(testNamespace).Delete(t.Context(), testSecret, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		"Secret garbled": func(t *testing.T, c *cluster) {
			secret := c.secret(t)
			for _, key := range keys() {
				secret.Data[key] = []byte("garbled")
			}
			if _, err := c.CoreV1().Secrets(testNamespace).Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		"caBundle overwritten": func(t *testing.T, c *cluster) {
			if _, err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Update(t.Context(), validating("other", ""), metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		},
		"webhooks installed later": func(t *testing.T, c *cluster) {
			if _, err := c.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), mutating(), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, validating("", ""))
				run(t, c.rotator.Run)
				synctest.Wait()
				before := c.leader.last()
				disturb(t, c)
				synctest.Wait()
				c.requireTrusted(t)
				if !c.leader.last().Leaf.Certificate.Equal(before.Leaf.Certificate) {
					t.Error("the leaf was replaced at once, though it was good and nobody trusts another one yet")
				}
				pass(2 * time.Hour)
				c.requireTrusted(t)
				if bundle, err := decode(c.secret(t).Data); err != nil || bundle.Next.Certificate != nil || issuer(bundle) != bundle.CA.Certificate {
					t.Errorf("two hours later the Secret is not in order: %v", err)
				}
			})
		})
	}
}

// A leader that loses its lease and regains it continues. It writes nothing in between.
func TestRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, validating(""))
		stop := run(t, c.rotator.Run)
		synctest.Wait()
		stop()
		if err := c.CoreV1().Secrets(testNamespace).Delete(t.Context(), testSecret, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		pass(day)
		if secrets, err := c.CoreV1().Secrets(testNamespace).List(t.Context(), metav1.ListOptions{}); err != nil || len(secrets.Items) != 0 {
			t.Errorf("written while not leading: %v, %v", secrets.Items, err)
		}
		run(t, c.rotator.Run)
		synctest.Wait()
		c.requireTrusted(t)
	})
}
