// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"crypto/elliptic"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"
)

func TestIssuedCertificates(t *testing.T) {
	b := fresh(t, start)
	ca, leaf := b.CA.Certificate, b.Leaf.Certificate
	if !ca.IsCA || !ca.MaxPathLenZero || ca.KeyUsage != x509.KeyUsageCertSign || !ca.NotAfter.Equal(start.Add(365*day)) {
		t.Errorf("CA: got IsCA %t, MaxPathLenZero %t, key usage %b, until %s", ca.IsCA, ca.MaxPathLenZero, ca.KeyUsage, ca.NotAfter)
	}
	if leaf.IsCA || len(leaf.ExtKeyUsage) != 1 || leaf.ExtKeyUsage[0] != x509.ExtKeyUsageServerAuth || !leaf.NotBefore.Equal(start.Add(-10*time.Minute)) {
		t.Errorf("leaf: got IsCA %t, extended usages %v, from %s", leaf.IsCA, leaf.ExtKeyUsage, leaf.NotBefore)
	}
	for _, certificate := range []*x509.Certificate{ca, leaf} {
		if certificate.SerialNumber.BitLen() < 64 {
			t.Errorf("serial number %s of %s is too short to be random", certificate.SerialNumber, certificate.Subject)
		}
		if public, ok := certificate.PublicKey.(interface{ Params() *elliptic.CurveParams }); ok && public.Params().Name != "P-256" {
			t.Errorf("curve of %s: %s", certificate.Subject, public.Params().Name)
		}
	}
}

func TestEncodedBundlesComeBack(t *testing.T) {
	first := fresh(t, start)
	withNext := do(t, first, CreateNextCA, start.Add(250*day))
	for name, b := range map[string]Bundle{
		"first start": first,
		"with next":   withNext,
		"promoted":    do(t, withNext, Promote, start.Add(251*day)),
	} {
		t.Run(name, func(t *testing.T) {
			data, err := encode(b)
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := decode(data)
			if err != nil {
				t.Fatal(err)
			}
			again, err := encode(decoded)
			if err != nil || !equal(data, again) {
				t.Errorf("not the same again: %v", err)
			}
		})
	}
	if before, after := encodeCAs(t, withNext), encodeCAs(t, do(t, withNext, Promote, start.Add(251*day))); before != after {
		t.Error("a promotion changes the caBundle")
	}
}

func encodeCAs(t *testing.T, b Bundle) string {
	t.Helper()
	data, err := encode(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(data[KeyCABundle])
}

func TestDecodeKeepsWhatIsGood(t *testing.T) {
	good, stranger := fresh(t, start), fresh(t, start)
	strange, err := encode(stranger)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		damage func(data map[string][]byte)
		says   string
		want   func(Bundle) bool
	}{
		"garbled leaf": {
			func(data map[string][]byte) { data[KeyLeafCertificate] = []byte("-----BEGIN CERTIFICATE-----\nAAAA\n") },
			KeyLeafCertificate, func(b Bundle) bool { return b.Leaf == KeyPair{} && b.CA.Key != nil },
		},
		"key of another leaf": {
			func(data map[string][]byte) { data[KeyLeafKey] = strange[KeyLeafKey] },
			"does not belong to the certificate", func(b Bundle) bool { return b.Leaf.Key == nil && b.Leaf.Certificate != nil },
		},
		"key of another CA": {
			func(data map[string][]byte) { data[KeyCAKey] = strange[KeyCAKey] },
			"does not belong to the certificate", func(b Bundle) bool { return b.CA.Key == nil && b.Leaf.Key != nil && len(b.CAs()) == 1 },
		},
		"CA lost, still in the caBundle": {
			func(data map[string][]byte) { delete(data, KeyCACertificate) },
			KeyCACertificate, func(b Bundle) bool { return b.CA.Certificate == nil && len(b.Previous) == 1 && issuer(b) != nil },
		},
		"caBundle lost": {
			func(data map[string][]byte) { delete(data, KeyCABundle) },
			KeyCABundle, func(b Bundle) bool { return issuer(b) != nil },
		},
		"a leaf for a CA": {
			func(data map[string][]byte) {
				data[KeyCACertificate], data[KeyCAKey] = data[KeyLeafCertificate], data[KeyLeafKey]
			},
			"is not a CA", func(b Bundle) bool { return b.CA == KeyPair{} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := encode(good)
			if err != nil {
				t.Fatal(err)
			}
			c.damage(data)
			b, err := decode(data)
			if err == nil || !strings.Contains(err.Error(), c.says) || !c.want(b) {
				t.Errorf("got %+v, %v", b, err)
			}
		})
	}
}

// listener counts its notifications.
type listener struct{ calls int }

func (l *listener) Enqueue() { l.calls++ }

func TestServingKeepsTheLastGood(t *testing.T) {
	good, stranger := fresh(t, start), fresh(t, start)
	renewed := do(t, good, IssueLeaf, start.Add(60*day))
	s, l := &serving{name: "test"}, &listener{}
	s.AddListener(l)
	for i, c := range []struct {
		offer   Bundle
		now     time.Time
		taken   bool
		notices int
	}{
		{offer: good, now: start, taken: true, notices: 1},
		{offer: good, now: start, taken: true, notices: 1}, // Nothing new.
		{offer: Bundle{CA: good.CA}, now: start, taken: false, notices: 1},
		{offer: Bundle{CA: good.CA, Leaf: stranger.Leaf}, now: start, taken: false, notices: 1},
		{offer: renewed, now: start, taken: false, notices: 1}, // From a leader whose clock is far ahead.
		{offer: renewed, now: start.Add(60 * day), taken: true, notices: 2},
		{offer: good, now: start.Add(100 * day), taken: false, notices: 2}, // Expired.
	} {
		err := s.serve(c.offer, c.now)
		if (err == nil) != c.taken || l.calls != c.notices {
			t.Errorf("offer %d: got %v and %d notices, want taken %t and %d notices", i, err, l.calls, c.taken, c.notices)
		}
	}
	if !s.last().Leaf.Certificate.Equal(renewed.Leaf.Certificate) {
		t.Error("does not serve the last good leaf")
	}
}

func TestInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := Names{DNSNames: []string{"localhost"}, IPs: []net.IP{net.IPv4(127, 0, 0, 1)}}
		store, err := NewInMemoryStore(names, shortPolicy)
		if err != nil {
			t.Fatal(err)
		}
		first, _ := store.CurrentCertKeyContent()
		rotator, err := NewRotator(Config{Store: store, Names: names, Policy: shortPolicy})
		if err != nil {
			t.Fatal(err)
		}
		run(t, rotator.Run)
		synctest.Wait()
		if now, _ := store.CurrentCertKeyContent(); !bytes.Equal(now, first) {
			t.Error("the certificate of the start was replaced at once")
		}
		pass(90 * day)
		if err := Healthy(store, time.Now()); err != nil {
			t.Error(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(store.CABundle())
		if _, err := store.last().Leaf.Certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: "127.0.0.1"}); err != nil {
			t.Error(err)
		}
	})
	if _, err := NewInMemoryStore(Names{}, Policy{}); err == nil {
		t.Error("a store without a policy")
	}
}

func TestHealthy(t *testing.T) {
	s := &serving{name: "Secret a/b"}
	for _, c := range []struct {
		serve Bundle
		now   time.Time
		says  string
	}{
		{Bundle{}, start, "Secret a/b has no serving certificate yet"},
		{fresh(t, start), start, ""},
		{fresh(t, start), start.Add(91 * day), "expired at 2026-05-30"},
		{fresh(t, start), start.Add(-day), "not valid before 2026-03-01"},
	} {
		_ = s.serve(c.serve, start)
		err := Healthy(s, c.now)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("at %s: got %v, want %q", c.now, err, c.says)
		}
	}
	files, err := dynamiccertificates.NewStaticCertKeyContent("files", s.encoded[KeyLeafCertificate], s.encoded[KeyLeafKey])
	if err != nil {
		t.Fatal(err)
	}
	if err := Healthy(files, start); err != nil {
		t.Errorf("a certificate from elsewhere: %v", err)
	}
}

func TestMetrics(t *testing.T) {
	s := &InMemoryStore{serving: serving{name: "test"}}
	registry := metrics.NewKubeRegistry()
	if err := RegisterMetrics(registry.CustomRegister, s); err != nil {
		t.Fatal(err)
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader("")); err != nil {
		t.Errorf("without a certificate: %v", err)
	}
	if err := s.serve(fresh(t, start), start); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`
# HELP fairlead_serving_ca_not_after_seconds [ALPHA] Unix time at which the CA that signs the serving certificates expires.
# TYPE fairlead_serving_ca_not_after_seconds gauge
fairlead_serving_ca_not_after_seconds %d
# HELP fairlead_serving_certificate_not_after_seconds [ALPHA] Unix time at which the serving certificate of this replica expires.
# TYPE fairlead_serving_certificate_not_after_seconds gauge
fairlead_serving_certificate_not_after_seconds %d
`, start.Add(365*day).Unix(), start.Add(90*day).Unix())
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
