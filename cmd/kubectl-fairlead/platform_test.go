// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"

	"fairlead.dev/fairlead/pkg/admission"
)

// TestPlatform asks about the installation, and for what this cluster does not have.
func TestPlatform(t *testing.T) {
	p := start(t)
	p.create("broken", "{image: example.com/simulate/image-pull-error:1, replicas: 1}")
	p.create("none", "{image: example.com/web:1, replicas: 0}")
	p.want(0, []string{"status", "fla/none", "applications.apps.fairlead.dev/none", "--watch", "--timeout=60s"}, "Scaled to zero.")
	p.create("auto", "{image: example.com/web:1, resources: {requests: {cpu: 10m}}, autoscaling: {minReplicas: 0, maxReplicas: 0, targetCPUUtilizationPercentage: 50}}")
	p.want(0, []string{"status", "auto", "--watch", "--timeout=60s"}, "Scaled to zero.")
	p.eventually("the image to be missed", func() bool { return strings.Contains(p.run("get", "broken").stdout, "ImagePullFailed") })
	p.want(0, []string{"get", "fla/broken"}, "broken")
	p.want(1, []string{"why", "application/broken"}, "→ Set another image: kubectl fairlead -n "+p.namespace+" set image broken IMAGE")
	p.want(1, []string{"status", "broken", "--watch", "--timeout=3s"})
	p.want(0, []string{"doctor"}, "CRDs         ok  established, on v1.", "classes      ", "permissions  ok")
	p.want(0, []string{"classes"}, "There is no ApplicationClass: nothing is imposed.")
	for line, want := range map[string]string{
		"top broken":                  "error: this cluster serves no metrics: install metrics-server\n",
		"exec broken -- date":         "error: no pod of " + p.namespace + "/broken is ready: see 'kubectl fairlead -n " + p.namespace + " why broken'\n",
		"exec none -- date":           "error: " + p.namespace + "/none has no pods, because it asks for none: see 'kubectl fairlead -n " + p.namespace + " scale none --replicas=1'\n",
		"exec auto -- date":           "error: " + p.namespace + "/auto has no pods, because its autoscaler asks for none: set spec.autoscaling.minReplicas and maxReplicas to 1 or more\n",
		"logs none":                   "error: " + p.namespace + "/none has no pods, because it asks for none: see 'kubectl fairlead -n " + p.namespace + " scale none --replicas=1'\n",
		"why pod/broken":              "error: \"pod/broken\" is not the name of an Application: write its name alone, such as web\n",
		"undo broken --to-revision=7": "error: " + p.namespace + "/broken: there is no revision 7. Revisions: 1\n",
		"scale broken --replicas=2 --current-replicas=7": "error: " + p.namespace + "/broken: the desired number of pods is 1, not 7 as --current-replicas expects\n",
		"adopt broken --rollout":                         "error: there is nothing to roll out: the adoptionPolicy of the Application broken is not Consented, so it adopts nothing\n",
		"adopt nothing":                                  "error: deployments.apps \"nothing\" not found in namespace " + p.namespace + "\n",
		"adopt nothing --rollout":                        "error: deployments.apps \"nothing\" not found in namespace " + p.namespace + "\n",
		"eject nothing":                                  "error: there is no Application nothing in namespace " + p.namespace + ", and none left objects behind\n",
		"classes gone":                                   "error: there is no ApplicationClass \"gone\": see 'kubectl fairlead classes'\n",
		"port-forward nothing":                           "error: applications.apps.fairlead.dev \"nothing\" not found in namespace " + p.namespace + "\n",
		"logs nothing":                                   "error: applications.apps.fairlead.dev \"nothing\" not found in namespace " + p.namespace + "\n",
		"lint -f does-not.yaml":                          "error: stat does-not.yaml: no such file or directory\n",
	} {
		if r := p.want(2, strings.Fields(line)); r.stderr != want {
			t.Errorf("%s: %q, want %q", line, r.stderr, want)
		}
	}
	if r := p.want(2, []string{"timeline", "broken", "--address=http://127.0.0.1:1"}); !strings.HasPrefix(r.stderr, "error: no controller answers at http://127.0.0.1:1: start it with --debug-bind-address") {
		t.Errorf("timeline: %q", r.stderr)
	}
}

// TestDoctorFindsLeftOverWebhooks: a controller outside of the cluster was killed, and nothing answers at the URL of its webhooks.
func TestDoctorFindsLeftOverWebhooks(t *testing.T) {
	p := start(t)
	ca, _, err := cert.GenerateSelfSignedCertKey("localhost", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	name := admission.OutOfClusterConfigurationName + "-" + p.namespace
	_, configuration := admission.Configurations(name, admission.Endpoint{URL: "https://127.0.0.1:1", CABundle: ca}, "")
	configuration.Webhooks = configuration.Webhooks[:1]
	configuration.Webhooks[0].NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": p.namespace}}
	api := kubernetes.NewForConfigOrDie(p.cluster.Config()).AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := api.Create(t.Context(), configuration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := api.Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	p.eventually("the API server to ask the webhook", func() bool { return p.run("doctor").code == 1 })
	p.want(1, []string{"doctor"}, "WRONG  1 registered by URL, but they do not answer, so writes of Applications fail:", "connection refused",
		"delete what it left:", name)
}
