// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	apiserverapp "fairlead.dev/fairlead/cmd/fairlead-apiserver/app"
	controllerapp "fairlead.dev/fairlead/cmd/fairlead-controller/app"
	"fairlead.dev/fairlead/pkg/apiserver"
)

// TestPlatformFlags: a rendering depends on these settings of the controller. Each is a flag of the same name, type and default
// there, and the same arguments come to the same settings.
func TestPlatformFlags(t *testing.T) {
	arguments := map[string]string{
		"security-profile": "baseline", "require-class": "true",
		"route-controller-namespaces": "edge,gateway", "monitoring-namespaces": "observe",
	}
	for _, set := range []bool{false, true} {
		server, controller := apiserverapp.NewOptions(), controllerapp.NewOptions()
		server.Kubeconfig, controller.Kubeconfig = cluster.Kubeconfig(), cluster.Kubeconfig()
		var ofServer, ofController cliflag.NamedFlagSets
		server.AddFlags(&ofServer)
		controller.AddFlags(&ofController)
		found := map[string]string{}
		ofServer.FlagSet("rendering").VisitAll(func(flag *pflag.Flag) {
			found[flag.Name] = arguments[flag.Name]
			same := ofController.FlagSet("platform").Lookup(flag.Name)
			if same == nil {
				t.Errorf("the controller has no flag --%s", flag.Name)
				return
			}
			if same.DefValue != flag.DefValue || same.Value.Type() != flag.Value.Type() {
				t.Errorf("--%s is a %s, %s by default, and in the controller a %s, %s", flag.Name, flag.Value.Type(), flag.DefValue, same.Value.Type(), same.DefValue)
			}
			for _, f := range []*pflag.Flag{flag, same} {
				if !set {
					continue
				}
				if err := f.Value.Set(arguments[f.Name]); err != nil {
					t.Errorf("--%s=%s: %v", f.Name, arguments[f.Name], err)
				}
			}
		})
		if diff := cmp.Diff(arguments, found); diff != "" {
			t.Errorf("flags (-want +got):\n%s", diff)
		}
		config, err := controller.Config()
		if err != nil {
			t.Fatal(err)
		}
		want := apiserver.Platform{Validation: config.Validation, RequireClass: config.RequireClass, Facts: config.Facts}
		want.Validation.ForeignServiceAccounts = true // The webhook reviews them, so a rendering need not.
		if diff := cmp.Diff(want, server.Platform); diff != "" {
			t.Errorf("with the arguments set: %v: settings (-controller +server):\n%s", set, diff)
		}
	}
	wrong := apiserverapp.NewOptions()
	wrong.Platform.Validation.SecurityProfile = "none"
	scheme, codecs := apiserver.NewScheme()
	if _, err := wrong.Config(scheme, codecs); err == nil {
		t.Error("the server takes --security-profile=none, which the controller refuses")
	}
}
