// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stored is a revision as Helm stores it.
func stored(t *testing.T, number, content string) corev1.Secret {
	t.Helper()
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	if _, err := writer.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "sh.helm.release.v1.web.v" + number,
			Labels: map[string]string{"owner": "helm", "name": "web", "version": number, "status": "deployed", "modifiedAt": "1", "team": "a"},
		},
		Type: secretType, Data: map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString(compressed.Bytes()))},
	}
}

const ninth = `{"name":"web","info":{"status":"deployed","description":"d","rollback_revision":7,"new":1},"version":9,"manifest":"m","config":{"big":12345678901234567890}}`

// The newest is the one with the highest number, not the last by name. What is not understood stays as it is.
func TestNext(t *testing.T) {
	newest, err := Newest([]corev1.Secret{stored(t, "8", `{"info":{},"version":8}`), stored(t, "9", ninth), {Type: secretType}})
	if err != nil || newest.Number != 9 || newest.Status != Deployed || newest.Description != "d" || newest.Manifest != "m" {
		t.Fatalf("got %+v, %v", newest, err)
	}
	now := time.Unix(1700000000, 0).UTC()
	secret, err := newest.Next("fewer", "without b", now)
	if err != nil {
		t.Fatal(err)
	}
	if secret.Name != "sh.helm.release.v1.web.v10" || secret.Namespace != "shop" || secret.Type != secretType {
		t.Errorf("got Secret %s/%s of type %s", secret.Namespace, secret.Name, secret.Type)
	}
	wantLabels := map[string]string{"owner": "helm", "name": "web", "version": "10", "status": "pending-upgrade", "createdAt": "1700000000", "team": "a"}
	if diff := cmp.Diff(wantLabels, secret.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	next, err := Read(secret)
	if err != nil || next.Previous() != "sh.helm.release.v1.web.v9" {
		t.Fatalf("read: %v; the previous one is %s", err, next.Previous())
	}
	secret, err = next.With(Deployed, now)
	if err != nil || secret.Labels["status"] != "deployed" || secret.Labels["modifiedAt"] != "1700000000" {
		t.Fatalf("%v, labels %v", err, secret.Labels)
	}
	content, err := decode(secret.Data["release"])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"web","info":{"status":"deployed","description":"without b","new":1,"last_deployed":"2023-11-14T22:13:20Z"},"version":10,"manifest":"fewer","config":{"big":12345678901234567890}}`
	if diff := cmp.Diff(canonical(t, want), canonical(t, string(content))); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	if newest.Status != Deployed || newest.Number != 9 || newest.secret.Labels["version"] != "9" {
		t.Errorf("the revision before changed: %+v", newest)
	}
}

// canonical orders the fields, and keeps the digits of numbers.
func canonical(t *testing.T, text string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	ordered, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(ordered)
}

// Who may write Secrets may write anything into one that looks like Helm's.
func TestUnreadable(t *testing.T) {
	if _, err := Newest(nil); err == nil {
		t.Error("no Secret: want an error")
	}
	bomb := stored(t, "9", strings.Repeat(" ", 64<<20+1))
	for name, secret := range map[string]corev1.Secret{
		"not JSON": stored(t, "9", "{"), "no info": stored(t, "9", `{"version":9}`), "info of null": stored(t, "9", `{"info":null,"version":9}`), "a version of text": stored(t, "9", `{"info":{},"version":"9"}`),
		"a bomb": bomb, "no base64": {Type: secretType, ObjectMeta: bomb.ObjectMeta, Data: map[string][]byte{"release": []byte("!")}},
		"no gzip": {Type: secretType, ObjectMeta: bomb.ObjectMeta, Data: map[string][]byte{"release": []byte("e30=")}},
		"empty":   {Type: secretType, ObjectMeta: bomb.ObjectMeta},
	} {
		if _, err := Newest([]corev1.Secret{secret}); err == nil || !strings.Contains(err.Error(), "sh.helm.release.v1.web.v9") {
			t.Errorf("%s: got %v, want an error that names the Secret", name, err)
		}
	}
}

const manifest = `---
# Source: shop/templates/a.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {text: "a --- b"}
---
# only a comment
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: other
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
---
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: web}
`

func TestTake(t *testing.T) {
	deployment, service := Object{"apps/v1", "Deployment", "web"}, Object{"v1", "Service", "web"}
	objects := []Object{deployment, service}
	rest, taken, err := Take(manifest, "shop", "shop", objects)
	if err != nil {
		t.Fatal(err)
	}
	wantTaken := "---\n# Source: shop/templates/a.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {text: \"a --- b\"}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n"
	if diff := cmp.Diff(wantTaken, taken); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
	wantRest := "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: other\n---\napiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: web}\n"
	if diff := cmp.Diff(wantRest, rest); diff != "" {
		t.Errorf("rest (-want +got):\n%s", diff)
	}
	again, err := Objects(Join(rest, taken))
	if diff := cmp.Diff([]Object{deployment, {"serving.knative.dev/v1", "Service", "web"}, deployment, service}, again); err != nil || diff != "" {
		t.Errorf("joined: %v (-want +got):\n%s", err, diff)
	}
	for name, manifest := range map[string]string{"that is not YAML": "kind: [", "with a List": "apiVersion: v1\nkind: List\nitems: []\n"} {
		if _, _, err := Take(manifest, "shop", "shop", objects); err == nil {
			t.Errorf("a manifest %s: want an error", name)
		}
	}
}

// A name comes from an annotation, and must not select other Secrets.
func TestSelector(t *testing.T) {
	if _, err := Selector("web,status=deployed"); err == nil {
		t.Error("a name with a comma: want an error")
	}
	if selector, err := Selector("web"); err != nil || selector.String() != "name=web,owner=helm" {
		t.Errorf("got %v, %v", selector, err)
	}
}
