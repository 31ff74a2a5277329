// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// inClasses are classes and Applications in memory.
type inClasses struct {
	classes      []*v1.ApplicationClass
	applications []*v1.Application
	// namespaces are the labels of those that are cached.
	namespaces map[string]map[string]string
	// change may change the Config further.
	change func(*Config)
}

func (c *inClasses) Classes() ([]*v1.ApplicationClass, error) { return c.classes, nil }

func (c *inClasses) OfClass(name string) ([]*v1.Application, error) {
	var found []*v1.Application
	for _, a := range c.applications {
		if a.Spec.ClassName == name {
			found = append(found, a)
		}
	}
	return found, nil
}

func (c *inClasses) Application(name cache.ObjectName) (*v1.Application, bool, error) {
	i := slices.IndexFunc(c.applications, func(a *v1.Application) bool { return cache.MetaObjectToName(a) == name })
	if i < 0 {
		return nil, false, nil
	}
	return c.applications[i], true, nil
}

func (c *inClasses) NamespaceLabels(name string) (map[string]string, bool) {
	labels, found := c.namespaces[name]
	return labels, found
}

func (c *inClasses) handler(t *testing.T) *Handler {
	t.Helper()
	return (&cluster{config: func(config *Config) {
		config.Classes = c
		if c.change != nil {
			c.change(config)
		}
	}}).handler(t)
}

func applicationClass(name string, isDefault bool, change func(*v1.ApplicationClassSpec)) *v1.ApplicationClass {
	class := &v1.ApplicationClass{TypeMeta: metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.ApplicationClassKind}}
	class.Name = name
	if isDefault {
		class.Annotations = map[string]string{v1.AnnotationDefaultClass: "true"}
	}
	if change != nil {
		change(&class.Spec)
	}
	return class
}

func inClass(name string) func(*v1.Application) {
	return func(a *v1.Application) { a.Spec.ClassName = name }
}

// The default class is stamped where none is named, and nothing else of it.
func TestClassStamp(t *testing.T) {
	withDefaults := func(s *v1.ApplicationClassSpec) { s.Defaults = &v1.ApplicationDefaults{PriorityClassName: "low"} }
	for _, test := range []struct {
		name    string
		classes []*v1.ApplicationClass
		given   func(*v1.Application)
		want    string
	}{
		{"no class", nil, nil, ""},
		{"no default", []*v1.ApplicationClass{applicationClass("gold", false, nil)}, nil, ""},
		{"default", []*v1.ApplicationClass{applicationClass("gold", false, nil), applicationClass("standard", true, withDefaults)}, nil, `[{"op":"add","path":"/spec/className","value":"standard"}]`},
		{"named", []*v1.ApplicationClass{applicationClass("standard", true, nil)}, inClass("gold"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			handler := (&inClasses{classes: test.classes}).handler(t)
			if diff := cmp.Diff(test.want, string(ask(t, handler, MutatePath, review(t, application(test.given), nil)).Patch)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}

// An Application is validated with the defaults and limits of its class.
func TestClassIsValidated(t *testing.T) {
	strict := applicationClass("standard", true, func(s *v1.ApplicationClassSpec) {
		s.Limits = &v1.ApplicationLimits{AllowedRegistries: []string{"ghcr.io/acme"}}
	})
	handler := (&inClasses{classes: []*v1.ApplicationClass{strict}}).handler(t)
	for name, given := range map[string]func(*v1.Application){"by name": inClass("standard"), "by default": nil} {
		contains(t, messageOf(ask(t, handler, ValidatePath, review(t, application(given), nil))),
			[]string{"spec.image", "registry.example.com/web:1", `ApplicationClass "standard" allows images of ghcr.io/acme`})
		t.Log(name)
	}
}

// A missing class is accepted, since it may follow, with a warning. The warning names no class of other namespaces.
func TestMissingClass(t *testing.T) {
	var many []*v1.ApplicationClass
	for _, name := range []string{"j", "i", "h", "g", "f", "e", "d", "c", "b", "a"} {
		many = append(many, applicationClass(name, false, nil))
	}
	for _, test := range []struct {
		name    string
		classes []*v1.ApplicationClass
		want    string
	}{
		{"none", nil, `No class selects namespace "shop"`},
		{"some", []*v1.ApplicationClass{applicationClass("standard", false, nil), applicationClass("gold", false, forTeam("a")), applicationClass("secret", false, forTeam("b"))}, `Classes for namespace "shop": gold, standard`},
		{"many", many, `Classes for namespace "shop": a, b, c, d, e, f, g, h and 2 more`},
	} {
		t.Run(test.name, func(t *testing.T) {
			handler := (&inClasses{classes: test.classes, namespaces: map[string]map[string]string{"shop": {"team": "a"}}}).handler(t)
			response := ask(t, handler, ValidatePath, review(t, application(inClass("gld")), nil))
			want := []string{`ApplicationClass "gld" does not exist; the Application waits for it. ` + test.want}
			if diff := cmp.Diff(want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("allowed %t %s, warnings (-want +got):\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}

func classReview(t *testing.T, operation admissionv1.Operation, updated, old *v1.ApplicationClass) *admissionv1.AdmissionReview {
	t.Helper()
	question := review(t, updated, nil)
	question.Request.Kind.Kind, question.Request.Resource.Resource = v1.ApplicationClassKind, v1.ApplicationClassResource
	question.Request.Namespace, question.Request.Operation = "", operation
	if old != nil {
		question.Request.OldObject = raw(t, old)
	}
	if updated == nil {
		question.Request.Object.Raw = nil
	}
	return question
}

func TestClassDeletion(t *testing.T) {
	for _, test := range []struct {
		name         string
		class        *v1.ApplicationClass
		applications []*v1.Application
		required     bool
		want         string
	}{
		{"nobody has it", applicationClass("gold", false, nil), []*v1.Application{application(nil), application(inClass("other"))}, false, ""},
		{"named", applicationClass("gold", false, nil), []*v1.Application{application(inClass("gold"))}, false, "in use by 1 Application (shop/web): set another class in spec.className, or remove that field; then delete it"},
		{"named, and the default", applicationClass("gold", true, nil), []*v1.Application{application(inClass("gold"))}, false, "in use by 1 Application (shop/web): " +
			"remove its annotation applicationclass.apps.fairlead.dev/is-default, then set another class in spec.className, or remove that field; then delete it"},
		{"where every Application needs a class", applicationClass("gold", false, nil), []*v1.Application{application(inClass("gold"))}, true, "in use by 1 Application (shop/web): set another class in spec.className; then delete it"},
		{
			"by default, where every Application needs a class", applicationClass("gold", true, nil), []*v1.Application{application(nil)}, true, "in use by 1 Application (shop/web): " +
				"set another class in spec.className, or mark another class as default, then remove its annotation applicationclass.apps.fairlead.dev/is-default; then delete it",
		},
		{
			"named and by default, where every Application needs a class", applicationClass("gold", true, nil),
			[]*v1.Application{application(nil), application(func(a *v1.Application) { a.Name, a.Spec.ClassName = "api", "gold" })}, true, "in use by 2 Applications (shop/api, shop/web): " +
				"set another class in spec.className, or, for those that name none, mark another class as default, then remove its annotation applicationclass.apps.fairlead.dev/is-default; then delete it",
		},
		{
			"named, and the default, where every Application needs a class", applicationClass("gold", true, nil), []*v1.Application{application(inClass("gold"))}, true, "in use by 1 Application (shop/web): " +
				"set another class in spec.className, then remove its annotation applicationclass.apps.fairlead.dev/is-default; then delete it",
		},
		{"by default", applicationClass("gold", true, nil), []*v1.Application{application(nil)}, false, "in use by 1 Application (shop/web): remove its annotation applicationclass.apps.fairlead.dev/is-default; then delete it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			handler := (&inClasses{
				classes: []*v1.ApplicationClass{test.class}, applications: test.applications, change: func(c *Config) { c.RequireClass = test.required },
			}).handler(t)
			response := ask(t, handler, ValidateClassPath, classReview(t, admissionv1.Delete, nil, test.class))
			if got := messageOf(response); response.Allowed != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("allowed %t: %s", response.Allowed, got)
			}
			if !response.Allowed && response.Result.Code != http.StatusConflict {
				t.Errorf("the code is %d", response.Result.Code)
			}
		})
	}
}

func TestClassIsRefusedAndWarnedOf(t *testing.T) {
	invalid := applicationClass("gold", false, func(s *v1.ApplicationClassSpec) {
		s.Defaults = &v1.ApplicationDefaults{PriorityClassName: "Not A Name"}
	})
	handler := (&inClasses{classes: []*v1.ApplicationClass{applicationClass("standard", true, nil)}}).handler(t)
	contains(t, messageOf(ask(t, handler, ValidateClassPath, classReview(t, admissionv1.Create, invalid, nil))), []string{"spec.defaults.priorityClassName", "Not A Name"})
	// What is stored already is not held against a label.
	if response := ask(t, handler, ValidateClassPath, classReview(t, admissionv1.Update, invalid, invalid)); !response.Allowed {
		t.Errorf("an update of something else: %s", messageOf(response))
	}
	response := ask(t, handler, ValidateClassPath, classReview(t, admissionv1.Create, applicationClass("gold", true, nil), nil))
	if !response.Allowed || len(response.Warnings) != 1 || !strings.Contains(response.Warnings[0], "standard is marked as default too") {
		t.Errorf("a second default: allowed %t, warnings %q", response.Allowed, response.Warnings)
	}
	meant := applicationClass("gold", false, nil)
	meant.Annotations = map[string]string{v1.AnnotationDefaultClass: "yes"}
	response = ask(t, handler, ValidateClassPath, classReview(t, admissionv1.Create, meant, nil))
	const want = `the annotation applicationclass.apps.fairlead.dev/is-default is "yes": only "true" makes the class a default`
	if !response.Allowed || len(response.Warnings) != 1 || response.Warnings[0] != want {
		t.Errorf("allowed %t, warnings %q, want %q", response.Allowed, response.Warnings, want)
	}
}

// A warning about a second default class names the one that applies.
func TestSecondDefaultIsWarnedOf(t *testing.T) {
	created := func(name string, second int64) *v1.ApplicationClass {
		class := applicationClass(name, true, nil)
		class.CreationTimestamp = metav1.Unix(second, 0)
		return class
	}
	unmarked := func(class *v1.ApplicationClass) *v1.ApplicationClass {
		class.Annotations = nil
		return class
	}
	const also, applies = " is marked as default too; where both select a namespace, ", " applies, because it "
	for name, test := range map[string]struct {
		others       []*v1.ApplicationClass
		updated, old *v1.ApplicationClass
		want         string
	}{
		"created later":                   {[]*v1.ApplicationClass{created("da", 1)}, created("db", 2), nil, "ApplicationClass da" + also + "db" + applies + "was created later"},
		"the same second, second by name": {[]*v1.ApplicationClass{created("da", 1)}, created("db", 1), nil, "ApplicationClass da" + also + "da" + applies + "was created in the same second and comes first by name"},
		"the same second, first by name":  {[]*v1.ApplicationClass{created("da", 1)}, created("d", 1), nil, "ApplicationClass da" + also + "d" + applies + "was created in the same second and comes first by name"},
		"an older class is marked":        {[]*v1.ApplicationClass{created("da", 2)}, created("db", 1), unmarked(created("db", 1)), "ApplicationClass da" + also + "da" + applies + "was created later"},
		"the newest of two others":        {[]*v1.ApplicationClass{created("da", 1), created("dc", 3)}, created("db", 2), nil, "ApplicationClass dc" + also + "dc" + applies + "was created later"},
		"another that is not marked":      {[]*v1.ApplicationClass{unmarked(created("da", 1))}, created("db", 2), nil, ""},
		"marked already, something else":  {[]*v1.ApplicationClass{created("da", 1)}, created("db", 2), created("db", 2), ""},
	} {
		operation := admissionv1.Create
		if test.old != nil {
			operation = admissionv1.Update
		}
		handler := (&inClasses{classes: test.others}).handler(t)
		response := ask(t, handler, ValidateClassPath, classReview(t, operation, test.updated, test.old))
		if got := strings.Join(response.Warnings, "\n"); !response.Allowed || got != test.want {
			t.Errorf("%s: allowed %t, warnings %q, want %q", name, response.Allowed, got, test.want)
		}
	}
}

// What platform teams mean and a class does not say is warned of when a request begins to say it.
func TestClassMistakesAreWarnedOf(t *testing.T) {
	const marker = `the annotation ingressclass.kubernetes.io/is-default-class has no effect here: applicationclass.apps.fairlead.dev/is-default: "true" makes the class a default`
	const bare = `the annotation is-default has no effect here: applicationclass.apps.fairlead.dev/is-default: "true" makes the class a default`
	const label = `the label applicationclass.apps.fairlead.dev/is-default has no effect: as an annotation, with the value "true", it makes the class a default`
	const unit = `spec.defaults.resources.limits[memory]: 256 means 256 bytes; a mebibyte is Mi, as in 64Mi`
	const (
		images      = "spec.limits.allowedRegistries: it is empty, so the class allows no image and no Application: leave the field out to allow every image"
		none        = "spec.limits.maxReplicas: it is 0, so the class allows only an Application with replicas: 0: leave the field out to allow any number"
		annotations = "spec.limits.allowedAnnotations: cert-manager.io allows the one annotation that is called so; cert-manager.io/* allows those with this prefix"
	)
	class := applicationClass("gold", false, func(s *v1.ApplicationClassSpec) {
		s.Limits = &v1.ApplicationLimits{AllowedRegistries: []string{}, MaxReplicas: new(int32(0)), AllowedAnnotations: []string{"cert-manager.io", "example.com/a", "example.com/*", "plain"}}
		s.Defaults = &v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256")}}}
	})
	class.Annotations = map[string]string{"ingressclass.kubernetes.io/is-default-class": "true", "is-default": "true", "example.com/note": "x"}
	class.Labels = map[string]string{v1.AnnotationDefaultClass: "true"}
	handler := (&inClasses{}).handler(t)
	response := ask(t, handler, ValidateClassPath, classReview(t, admissionv1.Create, class, nil))
	if diff := cmp.Diff([]string{marker, bare, label, unit, images, none, annotations}, response.Warnings); diff != "" || !response.Allowed {
		t.Errorf("allowed %t %s, warnings (-want +got):\n%s", response.Allowed, messageOf(response), diff)
	}
	if response = ask(t, handler, ValidateClassPath, classReview(t, admissionv1.Update, class, class)); len(response.Warnings) > 0 {
		t.Errorf("as before: %q", response.Warnings)
	}
}

// TestMissingDefaultLimits: a class may leave all limits to its Applications. With some, it most likely means to set those that it requires.
func TestMissingDefaultLimits(t *testing.T) {
	const missing = "spec.defaults.resources.limits: there is none for %[1]s, and requireResourceLimits asks for one, so an Application that sets no %[1]s limit is refused: add %[1]s"
	limits := func(names ...corev1.ResourceName) corev1.ResourceList {
		list := corev1.ResourceList{}
		for _, name := range names {
			list[name] = resource.MustParse("50M")
			if name == corev1.ResourceCPU {
				list[name] = resource.MustParse("1")
			}
		}
		return list
	}
	for _, test := range []struct {
		name     string
		required *bool
		limits   corev1.ResourceList
		want     []string
	}{
		{name: "no cpu", required: new(true), limits: limits(corev1.ResourceMemory), want: []string{fmt.Sprintf(missing, "cpu")}},
		{name: "no memory", required: new(true), limits: limits(corev1.ResourceCPU), want: []string{fmt.Sprintf(missing, "memory")}},
		{name: "both", required: new(true), limits: limits(corev1.ResourceCPU, corev1.ResourceMemory)},
		{name: "none", required: new(true)},
		{name: "another resource", required: new(true), limits: limits(corev1.ResourceEphemeralStorage), want: []string{fmt.Sprintf(missing, "cpu"), fmt.Sprintf(missing, "memory")}},
		{name: "not required", required: new(false), limits: limits(corev1.ResourceMemory)},
		{name: "left out", limits: limits(corev1.ResourceMemory)},
	} {
		t.Run(test.name, func(t *testing.T) {
			class := applicationClass("gold", false, func(s *v1.ApplicationClassSpec) {
				s.Limits = &v1.ApplicationLimits{RequireResourceLimits: test.required}
				s.Defaults = &v1.ApplicationDefaults{Resources: &corev1.ResourceRequirements{Limits: test.limits}}
			})
			response := ask(t, (&inClasses{}).handler(t), ValidateClassPath, classReview(t, admissionv1.Create, class, nil))
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("allowed %t %s, warnings (-want +got):\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}

// The webhook for classes is the only one that a deletion waits for, and it is about nothing else.
func TestClassWebhook(t *testing.T) {
	_, validating := Configurations("any", Endpoint{URL: "https://127.0.0.1:1"}, "fairlead-system")
	for _, w := range validating.Webhooks {
		for _, rule := range w.Rules {
			for _, operation := range rule.Operations {
				aboutClasses := cmp.Equal(rule.Resources, []string{v1.ApplicationClassResource})
				if (operation == admissionregistrationv1.Delete) && !aboutClasses || aboutClasses != (w.Name == ValidatingClassWebhookName) {
					t.Errorf("%s is asked about %s of %v", w.Name, operation, rule.Resources)
				}
			}
		}
	}
}

// TestMissingPullSecretOfClass: an Application that begins to be of a class needs the class's Secrets in its own namespace.
func TestMissingPullSecretOfClass(t *testing.T) {
	const missing = `Secret "regcred" does not exist in namespace "shop", so the nodes pull the image without its credentials: class standard names it`
	class := applicationClass("standard", true, func(spec *v1.ApplicationClassSpec) {
		spec.Defaults = &v1.ApplicationDefaults{ImagePullSecrets: []corev1.LocalObjectReference{{Name: "regcred"}}}
	})
	needs := func(a *v1.Application) {
		a.Spec.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "regcred"}}}}
	}
	for _, test := range []struct {
		name         string
		cluster      cluster
		updated, old *v1.Application
		want         []string
	}{
		{name: "missing", updated: application(image("web:1")), want: []string{missing}},
		{name: "there", cluster: cluster{exist: []string{"Secret/regcred"}}, updated: application(image("web:1"))},
		{name: "not readable", cluster: cluster{unreadable: true, allowed: []string{"web"}}, updated: application(image("web:1"))},
		{name: "missing as before", updated: application(image("web:2")), old: application(image("web:1"))},
		{name: "that the pods begin to need", updated: application(needs), old: application(image("web:1")), want: []string{`Secret "regcred" does not exist in namespace "shop", and the pods need it`}},
		{name: "that the pods need, too", updated: application(needs), want: []string{`Secret "regcred" does not exist in namespace "shop", and the pods need it`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.cluster.config = func(config *Config) { config.Classes = &inClasses{classes: []*v1.ApplicationClass{class}} }
			question := review(t, test.updated, nil)
			if test.old != nil {
				question = review(t, test.updated, test.old)
			}
			response := ask(t, test.cluster.handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}
