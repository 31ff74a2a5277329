// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	started  = `{"auditID":"1","stage":"ResponseStarted","verb":"watch","user":{"username":"a"},"objectRef":{"resource":"pods"}}` + "\n"
	ended    = `{"auditID":"1","stage":"ResponseComplete","verb":"watch","user":{"username":"a"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200}}` + "\n"
	reviewed = `{"auditID":"2","stage":"ResponseComplete","verb":"create","user":{"username":"a"},"objectRef":{"resource":"selfsubjectaccessreviews"}}` + "\n"
	listed   = `{"auditID":"3","stage":"ResponseComplete","verb":"list","user":{"username":"a"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200}}` + "\n"
	patched  = `{"auditID":"4","stage":"ResponseComplete","verb":"patch","user":{"username":"system:serviceaccount:s:c","extra":{"authentication.kubernetes.io/pod-name":["c-1"]}},"objectRef":{"apiGroup":"apps","resource":"deployments","subresource":"scale","namespace":"shop","name":"web"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-02T03:04:05.000006Z"}` + "\n"
	halfLine = `{"stage":"ResponseComplete","verb":"del`
)

func TestSince(t *testing.T) {
	log := Log{File: filepath.Join(t.TempDir(), "audit.log")}
	write := func(text string) {
		t.Helper()
		file, err := os.OpenFile(log.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(patched)
	offset, err := log.End()
	if err != nil {
		t.Fatal(err)
	}
	write(started + listed + reviewed + patched + ended + halfLine)

	got, next, err := log.Since(offset, isWrite)
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{{
		ID: "4", Stage: ResponseComplete, Verb: "patch", User: "system:serviceaccount:s:c", Pod: "c-1", APIGroup: "apps", Resource: "deployments", Subresource: "scale",
		Namespace: "shop", Name: "web", Code: 200, Received: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if text := got[0].String(); text != "03:04:05.000 patch deployments/scale shop/web -> 200 (c-1)" {
		t.Errorf("got %q", text)
	}

	write(`ete","objectRef":{"resource":"nodes"}}` + "\n")
	rest, _, err := log.Since(next, isWrite)
	if err != nil {
		t.Fatal(err)
	}
	if len(rest) != 1 || rest[0].Target() != "nodes" {
		t.Errorf("after the half line was completed, got %v", rest)
	}

	watches, _, err := log.Since(offset, func(e *Event) bool { return e.Verb == "watch" })
	if err != nil {
		t.Fatal(err)
	}
	if len(watches) != 1 || watches[0].Stage != ResponseComplete {
		t.Errorf("a watch that began and ended is %v, want one request, in its last stage", watches)
	}
}

func isWrite(e *Event) bool { return e.IsWrite() }

func TestGarbledLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(file, []byte("{]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := (Log{File: file}).Since(0, isWrite); err == nil {
		t.Error("a line that cannot be read went unnoticed")
	}
}

// A reader that continues at the end of a log that is being written must start with a complete line.
func TestEndIsBeforeAHalfLine(t *testing.T) {
	long := `{"verb":"` + strings.Repeat("x", 10_000)
	for name, test := range map[string]struct {
		content string
		want    int
	}{
		"empty":             {"", 0},
		"whole lines":       {listed + ended, len(listed + ended)},
		"half a line":       {listed + halfLine, len(listed)},
		"half a long line":  {listed + long, len(listed)},
		"only half a line":  {halfLine, 0},
		"only a long half":  {long, 0},
		"a long whole line": {long + "\n", len(long) + 1},
	} {
		file := filepath.Join(t.TempDir(), "audit.log")
		if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if end, err := (Log{File: file}).End(); err != nil || end != int64(test.want) {
			t.Errorf("%s: the end is %d, %v, want %d", name, end, err, test.want)
		}
	}
}
