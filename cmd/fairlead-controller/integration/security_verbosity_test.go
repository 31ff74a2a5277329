// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/base64"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestS6NothingSecretIsLoggedAtAnyLevel runs the command at the highest level that the flags take, lets it make
// certificates, hash a tenant's Secret and review tokens, and looks for all of these in its log.
func TestS6NothingSecretIsLoggedAtAnyLevel(t *testing.T) {
	t.Parallel()
	program := build(t)
	for format, more := range map[string][]string{"text": {"--vmodule=request=10,round_trippers=10,*=10"}, "json": nil} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t, shared.Get(t))
			token := e.token("reader")
			e.let("reader", []string{"get"}, "/metrics")
			p := program.start(t, append(append(e.flags(), more...), "--v=10", "--logging-format="+format, "--operator-namespace="+e.namespace,
				"--cert-secret="+certSecret, "--metrics-bind-address=:0")...)
			e.create(db, using)
			e.waitReady("web")
			trusted := e.trusted()
			e.eventually("the metrics are served", func() (bool, string) {
				address := regexp.MustCompile(`"metrics".*address"?[=:]"[^"]*:(\d+)"`).FindStringSubmatch(p.output.String())
				if address == nil {
					return false, "no address"
				}
				code, body := e.ask("https://"+net.JoinHostPort("127.0.0.1", address[1])+"/metrics", token, trusted)
				return code == http.StatusOK, body
			})
			p.signal(syscall.SIGTERM)
			p.exits(0)
			e.wantNoSecrets(p.output.String(), token)
		})
	}
}

// wantNoSecrets looks for the content of all Secrets of the namespace, and for more, in a log that has something in it.
func (e *env) wantNoSecrets(log string, more ...string) {
	e.Helper()
	for _, about := range []string{"Synced", "/api/v1/namespaces/" + e.namespace + "/secrets", "/tokenreviews"} {
		if !strings.Contains(log, about) {
			e.Fatalf("the log does not have %s", about)
		}
	}
	for _, body := range []string{"Request Body", "Response Body"} {
		if strings.Contains(log, body) {
			e.Errorf("there is a %s in the log", body)
		}
	}
	secrets, err := e.kube.CoreV1().Secrets(e.namespace).List(e.Context(), metav1.ListOptions{})
	if err != nil {
		e.Fatal(err)
	}
	names := map[string]string{}
	for _, part := range more {
		names[part] = "token"
	}
	for _, secret := range secrets.Items {
		for key, value := range secret.Data {
			if strings.HasSuffix(key, ".crt") {
				continue // Certificates are public.
			}
			names[string(value)] = secret.Name + " " + key
		}
	}
	for _, kind := range []string{certSecret + " signer.key", certSecret + " tls.key", "fairlead-config-hash-key key", "db password"} {
		if !slices.Contains(slices.Collect(maps.Values(names)), kind) {
			e.Errorf("there is no %s to look for", kind)
		}
	}
	// Bodies in protobuf would be dumped in rows of 16 bytes, with their text beside.
	var dumped strings.Builder
	for _, row := range regexp.MustCompile(`\|(.{1,16})\|`).FindAllStringSubmatch(log, -1) {
		dumped.WriteString(row[1])
	}
	for value, name := range names {
		// Of a PEM block a line in the middle, which no other has.
		if lines := strings.Split(value, "\n"); len(lines) > 3 {
			value = lines[2]
		}
		for _, text := range []string{value, base64.StdEncoding.EncodeToString([]byte(value))} {
			if strings.Contains(log, text) || strings.Contains(dumped.String(), text) {
				e.Errorf("the log has %s", name)
			}
		}
	}
}
