// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

func TestVerbosityIsLimited(t *testing.T) {
	logging := logsapi.NewLoggingConfiguration()
	logging.Verbosity = maxVerbosity
	logging.VModule = logsapi.VModuleConfiguration{{FilePattern: "sync", Verbosity: 4}}
	if limitVerbosity(logging) {
		t.Error("levels that are allowed were lowered")
	}
	logging.Verbosity = 10
	logging.VModule = append(logging.VModule, logsapi.VModuleItem{FilePattern: "request", Verbosity: 8})
	if !limitVerbosity(logging) || logging.Verbosity != 7 || logging.VModule[0].Verbosity != 4 || logging.VModule[1].Verbosity != 7 {
		t.Errorf("the levels are %d and %v", logging.Verbosity, logging.VModule)
	}
}

// client-go logs the bodies of requests, but never in the context of the controller, whatever happens to its logger.
// Everything else is logged.
func TestBodiesAreNotLogged(t *testing.T) {
	const canary = "correct-horse-battery-staple"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db","annotations":{"a":"` + canary + `"}}}`))
	}))
	defer server.Close()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	get := func(limited bool) string {
		t.Helper()
		log.Reset()
		ctx := klog.NewContext(t.Context(), textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log), textlogger.Verbosity(10))))
		if limited {
			ctx = withoutBodies(ctx)
		}
		logger := klog.LoggerWithName(klog.LoggerWithValues(klog.FromContext(ctx), "with", "values"), "named").WithCallDepth(0)
		logger.V(maxVerbosity).Info("Everything else")
		if _, err := client.CoreV1().Secrets("shop").Get(klog.NewContext(ctx, logger), "db", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		return log.String()
	}
	if got := get(false); !strings.Contains(got, canary) {
		t.Fatalf("client-go does not log bodies any more: this test shows nothing\n%s", got)
	}
	got := get(true)
	if strings.Contains(got, canary) {
		t.Errorf("the body is logged:\n%s", got)
	}
	for _, want := range []string{"verbosity_test.go", "Everything else", `with="values"`, "named"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not logged:\n%s", want, got)
		}
	}
}
