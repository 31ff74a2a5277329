// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/render/rendertest"
)

// templateVersion counts the generations of pod templates. Raise it only if the next release of the operator may
// replace pods: -update then writes a new testdata/templates/<version>.txt, and releaseNotes must say under "Pod
// template <version>" which Applications are affected, and why.
const templateVersion = 1

const releaseNotes = "../../docs/releases.md"

// The pod template of a wide corpus of specs is pinned by its hash. While the version stays, a hash never changes,
// not even by -update, which then only adds new ones.
func TestF19PodTemplatesAreStable(t *testing.T) {
	file := fmt.Sprintf("testdata/templates/%d.txt", templateVersion)
	pinned := readTemplates(t, file)
	rendered := map[string]string{}
	for name, app := range templateCorpus(t) {
		rendered[name] = hashed(t, template(t, app))
		switch was, found := pinned[name]; {
		case !found && !*update:
			t.Errorf("%s is not pinned: go test ./pkg/render -run TestPodTemplates -update", name)
		case found && was != rendered[name]:
			t.Errorf("the pod template of %s has changed: every such pod would be replaced by an upgrade. "+
				"If that is meant, raise templateVersion and write about it in %s", name, releaseNotes)
		}
	}
	for name := range pinned {
		if rendered[name] == "" && !*update {
			t.Errorf("%s is pinned, but not in the corpus", name)
		}
	}
	if *update && !t.Failed() {
		writeTemplates(t, file, rendered)
	}
	notes, err := os.ReadFile(releaseNotes)
	if err != nil {
		t.Fatal(err)
	}
	if heading := fmt.Sprintf("Pod template %d\n", templateVersion); !strings.Contains(string(notes), heading) {
		t.Errorf("%s has no heading %q", releaseNotes, strings.TrimSpace(heading))
	}
}

// unrelated are changes of a spec that do not concern the pods.
var unrelated = map[string]func(*v1.Application){
	"another number of pods": func(a *v1.Application) { a.Spec.Replicas, a.Spec.Autoscaling = new(int32(7)), nil },
	"autoscaling": func(a *v1.Application) {
		a.Spec.Replicas, a.Spec.Autoscaling = nil, &v1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 5}
	},
	"no routes": func(a *v1.Application) { a.Spec.Routes = nil },
	"another route": func(a *v1.Application) {
		a.Spec.Routes = []v1.Route{{Name: "other", Hostnames: []string{"other.example.com"}}}
	},
	"a route by Gateway API": func(a *v1.Application) {
		a.Spec.Routes = []v1.Route{{Name: "other", Type: v1.RouteHTTPRoute, Hostnames: []string{"other.example.com"}, ParentRefs: []v1.ParentReference{{Name: "shared"}}}}
	},
	"monitoring": func(a *v1.Application) { a.Spec.Monitoring = &v1.Monitoring{Interval: "30s"} },
	"no budget": func(a *v1.Application) {
		a.Spec.DisruptionBudget = &v1.DisruptionBudget{Mode: v1.DisruptionBudgetDisabled}
	},
	"no network policy":    func(a *v1.Application) { a.Spec.NetworkPolicy = nil },
	"empty network policy": func(a *v1.Application) { a.Spec.NetworkPolicy = &v1.NetworkPolicy{} },
	"another service":      func(a *v1.Application) { a.Spec.Service = &v1.Service{Type: "NodePort"} },
	"another strategy":     func(a *v1.Application) { a.Spec.Strategy = nil },
	"other rollout numbers": func(a *v1.Application) {
		a.Spec.MinReadySeconds, a.Spec.ProgressDeadlineSeconds = new(int32(3)), new(int32(99))
		a.Spec.RevisionHistoryLimit, a.Spec.Paused = new(int32(1)), new(true)
	},
	"other policies": func(a *v1.Application) {
		a.Spec.ReconcilePolicy, a.Spec.DeletionPolicy = v1.ReconcileObserve, v1.DeletionOrphan
	},
	"other labels of the Application": func(a *v1.Application) { a.Labels = map[string]string{"team": "other"} },
	"another status":                  func(a *v1.Application) { a.Status.Replicas = 9 },
}

// A feature that does not concern the pods never replaces them.
func TestUnrelatedFeaturesKeepThePodTemplate(t *testing.T) {
	check(t, func(t *rapid.T, app *v1.Application, _ render.Facts, _ []child.Desired) {
		before := template(t, app)
		what := rapid.SampledFrom(slices.Sorted(maps.Keys(unrelated))).Draw(t, "change")
		changed := app.DeepCopy()
		unrelated[what](changed)
		if diff := cmp.Diff(before, template(t, changed)); diff != "" {
			t.Fatalf("%s changes the pod template (-before +after):\n%s", what, diff)
		}
	})
}

// fataler is a test or a property.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// template returns the pod template in the form in which it is sent.
func template(t fataler, app *v1.Application) map[string]any {
	t.Helper()
	children, err := render.Children(app, render.Facts{})
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	for _, desired := range children {
		if desired.Kind == child.Deployment {
			template, _, err := unstructured.NestedMap(rendertest.Object(t, desired).Object, "spec", "template")
			if err != nil {
				t.Fatalf("read the template: %v", err)
			}
			return template
		}
	}
	t.Fatalf("there is no Deployment")
	return nil
}

func hashed(t *testing.T, template map[string]any) string {
	t.Helper()
	encoded, err := json.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8])
}

// templateCorpus are the golden Applications, and one Application for each feature.
func templateCorpus(t *testing.T) map[string]*v1.Application {
	t.Helper()
	corpus := map[string]*v1.Application{}
	golden, err := filepath.Glob(filepath.Join(goldenDirectory, "*.in.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range golden {
		corpus["golden/"+strings.TrimSuffix(filepath.Base(file), ".in.yaml")] = goldenApplication(t, file)
	}
	content, err := os.ReadFile("testdata/templates/specs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var specs map[string]v1.ApplicationSpec
	if err := yaml.UnmarshalStrict(content, &specs); err != nil {
		t.Fatal(err)
	}
	for name, spec := range specs {
		if spec.Image == "" {
			spec.Image = "registry.example.com/web:1"
		}
		app := &v1.Application{Spec: spec}
		app.Name, app.Namespace = "web", "shop"
		corpus[name] = app
	}
	return corpus
}

func readTemplates(t *testing.T, file string) map[string]string {
	t.Helper()
	pinned := map[string]string{}
	content, err := os.ReadFile(file) //nolint:gosec // made of a constant
	if os.IsNotExist(err) {
		return pinned
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(content)))
	for lines.Scan() {
		hash, name, _ := strings.Cut(lines.Text(), " ")
		pinned[name] = hash
	}
	return pinned
}

func writeTemplates(t *testing.T, file string, hashes map[string]string) {
	t.Helper()
	var content strings.Builder
	for _, name := range slices.Sorted(maps.Keys(hashes)) {
		fmt.Fprintf(&content, "%s %s\n", hashes[name], name)
	}
	if err := os.WriteFile(file, []byte(content.String()), 0o644); err != nil { //nolint:gosec // a file of the repository
		t.Fatal(err)
	}
}
