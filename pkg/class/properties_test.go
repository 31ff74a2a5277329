// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// defaults generates those of classes: what an Application may say, a class may say for it.
func defaults() *rapid.Generator[*v1.ApplicationDefaults] {
	return rapid.Custom(func(t *rapid.T) *v1.ApplicationDefaults {
		spec := rendertest.Specs().Draw(t, "like")
		drawn := &v1.ApplicationDefaults{
			Resources:                     spec.Resources,
			Strategy:                      spec.Strategy,
			ProgressDeadlineSeconds:       spec.ProgressDeadlineSeconds,
			TopologySpreadConstraints:     spec.TopologySpreadConstraints,
			NodeSelector:                  spec.NodeSelector,
			Tolerations:                   spec.Tolerations,
			PriorityClassName:             spec.PriorityClassName,
			ImagePullSecrets:              spec.ImagePullSecrets,
			PodMetadata:                   spec.PodMetadata,
			NetworkPolicy:                 spec.NetworkPolicy,
			TerminationGracePeriodSeconds: spec.TerminationGracePeriodSeconds,
			Rollback:                      oneOf(t, "rollback", nil, &v1.DefaultRollback{Policy: v1.RollbackOnFailure}),
			Monitoring:                    oneOf(t, "monitoring", nil, &v1.Monitoring{}, &v1.Monitoring{Port: "metrics", Interval: "30s"}),
		}
		if len(spec.Routes) > 0 {
			drawn.Routes = &v1.RouteDefaults{IngressClassName: spec.Routes[0].IngressClassName, Annotations: spec.Routes[0].Annotations}
			if tls := spec.Routes[0].TLS; tls != nil {
				drawn.Routes.TLS = &v1.RouteTLSDefaults{SecretName: tls.SecretName, Redirect: oneOf(t, "redirect", nil, new(true), new(false))}
			}
			drawn.Routes.Type = oneOf(t, "type", "", v1.RouteAuto, v1.RouteIngress)
			if rapid.Bool().Draw(t, "Gateway") {
				drawn.Routes.Type = oneOf(t, "type with Gateway", "", v1.RouteHTTPRoute)
				drawn.Routes.ParentRefs = []v1.ParentReference{{Name: "shared", Namespace: "infra"}}
			}
		}
		return drawn
	})
}

// applications generates Applications of which some have HTTPRoutes and monitoring.
func applications() *rapid.Generator[*v1.Application] {
	return rapid.Custom(func(t *rapid.T) *v1.Application {
		application := rendertest.Applications().Draw(t, "application")
		spec := &application.Spec
		if len(spec.Ports) > 0 && spec.Ports[0].Protocol != corev1.ProtocolUDP && spec.Ports[0].Protocol != corev1.ProtocolSCTP {
			spec.Monitoring = oneOf(t, "monitoring", nil, &v1.Monitoring{}, &v1.Monitoring{Path: "/own"})
		}
		for i := range spec.Routes {
			route := &spec.Routes[i]
			if !rapid.Bool().Draw(t, "is by a Gateway") {
				continue
			}
			route.Type = oneOf(t, "type", "", v1.RouteAuto, v1.RouteHTTPRoute)
			route.ParentRefs = []v1.ParentReference{{Name: "own", SectionName: oneOf(t, "listener", "", "http", "https")}}
			if route.TLS != nil && !route.OnHTTP() {
				route.TLS.Redirect = oneOf(t, "redirect", nil, new(true), new(false))
			}
		}
		return application
	})
}

func oneOf[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

func checkMerge(t *testing.T, property func(t *rapid.T, application, merged *v1.Application, defaults, taken *v1.ApplicationDefaults)) {
	t.Helper()
	fixedseed.Check(t, func(t *rapid.T) {
		application, defaults := applications().Draw(t, "application"), defaults().Draw(t, "defaults")
		merged, taken := Merge(application, defaults)
		property(t, application, merged, defaults, taken)
	})
}

func TestMergingTwiceChangesNothingMore(t *testing.T) {
	checkMerge(t, func(t *rapid.T, _, merged *v1.Application, defaults, _ *v1.ApplicationDefaults) {
		if again, taken := Merge(merged, defaults); again != merged {
			t.Fatalf("taken the second time: %+v", taken)
		}
	})
}

// What the Application says is in what comes out, at the same place: no field is replaced.
func TestTheApplicationAlwaysWins(t *testing.T) {
	checkMerge(t, func(t *rapid.T, application, merged *v1.Application, _, _ *v1.ApplicationDefaults) {
		if lost := missing("spec", tree(t, application.Spec), tree(t, merged.Spec)); lost != "" {
			t.Fatal(lost)
		}
	})
}

// What status tells is the whole truth: the spec together with it is what is applied.
func TestTakenIsWhatMakesTheDifference(t *testing.T) {
	checkMerge(t, func(t *rapid.T, application, merged *v1.Application, _, taken *v1.ApplicationDefaults) {
		again, _ := Merge(application, taken)
		if diff := cmp.Diff(merged, again); diff != "" {
			t.Fatalf("merged with all defaults, and with those that were taken (-all +taken):\n%s", diff)
		}
	})
}

func TestMergeChangesNothingThatIsGiven(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		application, defaults := applications().Draw(t, "application"), defaults().Draw(t, "defaults")
		before, beforeDefaults := application.DeepCopy(), defaults.DeepCopy()
		Merge(application, defaults)
		if diff := cmp.Diff(before, application) + cmp.Diff(beforeDefaults, defaults); diff != "" {
			t.Fatalf("changed (-before +after):\n%s", diff)
		}
	})
}

// A class that is valid makes no valid Application invalid: what contradicts it gives way.
func TestDefaultsKeepAnApplicationValid(t *testing.T) {
	checkMerge(t, func(t *rapid.T, _, merged *v1.Application, defaults, _ *v1.ApplicationDefaults) {
		if errs := validation.ValidateApplicationClass(&v1.ApplicationClass{Spec: v1.ApplicationClassSpec{Defaults: defaults}}); len(errs) > 0 {
			t.Fatalf("the class: %v", errs.ToAggregate())
		}
		if errs := validation.ValidateApplication(merged, validation.Options{SecurityProfile: "privileged", ForeignServiceAccounts: true}); len(errs) > 0 {
			t.Fatalf("the Application: %v", errs.ToAggregate())
		}
	})
}

func tree(t *rapid.T, value any) any {
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var decoded any
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

// missing names the first thing of part that whole does not have at the same place, or "".
func missing(path string, part, whole any) string {
	switch part := part.(type) {
	case map[string]any:
		whole, _ := whole.(map[string]any)
		for key, value := range part {
			if found := missing(path+"."+key, value, whole[key]); found != "" {
				return found
			}
		}
	case []any:
		whole, _ := whole.([]any)
		for i, value := range part {
			if i >= len(whole) {
				return fmt.Sprintf("%s has %d items of %d", path, len(whole), len(part))
			}
			if found := missing(fmt.Sprintf("%s[%d]", path, i), value, whole[i]); found != "" {
				return found
			}
		}
	default:
		if part != whole {
			return fmt.Sprintf("%s is %v, was %v", path, whole, part)
		}
	}
	return ""
}
