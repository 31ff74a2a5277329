// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/fairlead/artifacts/crds"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/nearest"
	"fairlead.dev/fairlead/pkg/admission"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/crdschema"
)

// Rule is the kind of a check.
type Rule string

// The rules, in the order in which they are checked. What breaks one of the first three is not checked further.
const (
	Syntax     Rule = "syntax"
	Schema     Rule = "schema"
	CEL        Rule = "cel"
	Validation Rule = "validation"
	ClassLimit Rule = "class"
	Together   Rule = "together"
	Effect     Rule = "effect"
)

// Rules are all rules with what they check.
func Rules() map[Rule]string {
	return map[Rule]string{
		Syntax:     "The file is YAML or JSON.",
		Schema:     "The object meets the schema of the CRD: known fields of the right type, in their limits.",
		CEL:        "The object meets the CEL rules of the CRD.",
		Validation: "The object meets the rules of the webhooks and of the sync.",
		ClassLimit: "The Application has a class that allows it, and stays within its limits.",
		Together:   "No file has an object twice, and no two Applications claim the same host name, or the same path under it.",
		Effect:     "Each field has an effect, and the one that was likely meant. What breaks this rule is a warning.",
	}
}

// Problem is something wrong with a document.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Object  string `json:"object,omitempty"`
	Field   string `json:"field,omitempty"`
	Rule    Rule   `json:"rule"`
	Message string `json:"message"`
	// Warning means that the API server accepts the object, and warns; that it accepts it if an unknown class allows it; or that it refuses it
	// in server-side apply alone.
	Warning bool `json:"warning,omitempty"`
}

// EndsChecks reports whether the object was not checked further.
func (p Problem) EndsChecks() bool { return p.Rule == Syntax || p.Rule == Schema || p.Rule == CEL }

// Checker checks documents.
type Checker struct {
	resources map[string]*crdschema.Resource
	// Options are those of the controller.
	Options validation.Options
	// Classes are those that are known, and Namespace is what they select by. Without any class, what a class would
	// say is not checked.
	Classes   []*v1.ApplicationClass
	Namespace class.Namespace
	// NewNamespaces are the labels of those that the files create before their Applications, by name.
	NewNamespaces map[string]map[string]string
	// ClassesKnown means that there are no classes but these, even if there are none.
	ClassesKnown bool
	// Offline takes every class to select the namespace, because only a cluster knows its labels.
	Offline bool
	// unreadable are the names of classes that break the schema or a CEL rule.
	unreadable []string
	// earlier are the Applications that were checked already and whose class is known.
	earlier []*v1.Application
}

// NewChecker makes a Checker with the CRDs of this version.
func NewChecker(options validation.Options) (*Checker, error) {
	resources, err := crdschema.LoadFS(crds.Files)
	if err != nil {
		return nil, err
	}
	return &Checker{resources: resources, Options: options}, nil
}

// AddClasses takes in the ApplicationClasses of the documents. It returns what breaks a rule, and warnings.
func (c *Checker) AddClasses(ctx context.Context, documents []*Document) []Problem {
	var problems []Problem
	for _, d := range documents {
		if d.Kind != kindClass || d.syntax != nil {
			continue
		}
		read := &v1.ApplicationClass{}
		if found := c.store(ctx, d, read); len(found) > 0 {
			problems, c.unreadable = append(problems, found...), append(c.unreadable, d.Name)
			continue
		}
		errs := validation.ValidateApplicationClass(read)
		d.quoteQuantities(errs)
		broken := d.problems(Validation, errs)
		if len(broken) == 0 {
			broken = append(d.warnings(admission.IneffectiveInClass(read)), d.valueless(c.resources[d.Kind].Structural)...)
		}
		problems = append(problems, broken...)
		if c.Offline {
			read.Spec.NamespaceSelector = nil
		}
		c.Classes = append(c.Classes, read)
	}
	return problems
}

// KnowsClass reports whether it is known what the class of this name says, or that there is none. The name "" stands for the default class.
func (c *Checker) KnowsClass(name string) bool {
	switch {
	case name != "" && slices.Contains(c.unreadable, name):
		return false
	case c.ClassesKnown:
		return true
	case name == "":
		return len(c.Classes) > 0
	default:
		return slices.ContainsFunc(c.Classes, func(known *v1.ApplicationClass) bool { return known.Name == name })
	}
}

// Application checks a document and returns the Application as it would be stored.
func (c *Checker) Application(ctx context.Context, d *Document) (*v1.Application, []Problem) {
	application := &v1.Application{}
	if problems := c.store(ctx, d, application); len(problems) > 0 {
		return nil, problems
	}
	v1.SetDefaults(application)
	return application, nil
}

// Check checks an Application by all rules.
func (c *Checker) Check(ctx context.Context, d *Document) []Problem {
	application, problems := c.Application(ctx, d)
	if len(problems) > 0 {
		return problems
	}
	var claimed []Problem
	rules := c.rules(application)
	unknown := !c.KnowsClass(application.Spec.ClassName)
	if unknown && application.Spec.ClassName != "" {
		application.Spec.ClassName, rules.Classes = "", nil // Not known, and it may let Applications share host names.
	} else {
		claimed = d.problems(Together, c.claims(application))
	}
	resolution := class.Resolve(application, rules)
	errs, reason := resolution.Validate(c.Options)
	if reason == v1.ReasonClassNotFound && len(c.Classes) > 0 {
		// The cluster may have the class.
		errs[0].Detail = "none of the files has an ApplicationClass of this name: pass it with --class-file, or name another one"
	}
	d.quoteQuantities(errs)
	rule := Validation
	if strings.HasPrefix(reason, "Class") {
		rule = ClassLimit
	}
	problems = append(d.problems(rule, errs), claimed...)
	for i := range problems {
		// A class may give the request.
		switch needs := strings.Contains(problems[i].Message, validation.NeedsRequest); {
		case needs && unknown:
			problems[i].Warning, problems[i].Message = true, problems[i].Message+", unless its class does; pass the classes with --class-file"
		case needs && len(c.Classes) > 0 && resolution.Applied == nil:
			problems[i].Message += ", or name a class that does in spec.className: no class of the files is the default"
		}
	}
	if !slices.ContainsFunc(problems, func(problem Problem) bool { return !problem.Warning }) {
		warnings := append(admission.Ineffective(&application.Spec), admission.DroppedDefaults(application, rules)...)
		if !unknown { // A class may give labels to the pods, and a deadline to the rollout.
			warnings = slices.Concat(warnings, admission.SpreadsNothing(application, resolution.Application), admission.LateProbes(application, resolution.Application))
		} else if application.Spec.ProgressDeadlineSeconds != nil {
			warnings = append(warnings, admission.LateProbes(application, application)...)
		}
		problems = slices.Concat(problems, d.warnings(warnings), d.valueless(c.resources[d.Kind].Structural))
	}
	return problems
}

// warnings are those of the webhooks. Most begin with the path of a field in the spec, and some with an annotation or a label.
func (d *Document) warnings(all []string) []Problem {
	problems := make([]Problem, 0, len(all))
	for _, message := range all {
		path := "spec"
		if field, rest, found := strings.Cut(message, ": "); found && strings.HasPrefix(field, "spec.") {
			path, message = field, rest
		} else if rest, found := strings.CutPrefix(message, "the annotation "); found {
			path = "metadata.annotations[" + firstWord(rest) + "]"
		} else if rest, found := strings.CutPrefix(message, "the label "); found {
			path = "metadata.labels[" + firstWord(rest) + "]"
		}
		problems = append(problems, d.warning(path, message))
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return problems
}

func (d *Document) warning(path, message string) Problem {
	return Problem{
		File: d.File, Line: d.line(path), Object: fmt.Sprintf("%s/%s", d.Kind, d.Name), Field: path, Rule: Effect, Message: message, Warning: true,
	}
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// store does what an API server does before it stores an object, and decodes it.
func (c *Checker) store(ctx context.Context, d *Document, into any) []Problem {
	if d.syntax != nil {
		return []Problem{{File: d.File, Line: d.line(""), Rule: Syntax, Message: d.syntax.Error()}}
	}
	resource := c.resources[d.Kind]
	object := runtime.DeepCopyJSON(d.object)
	if version, _ := object["apiVersion"].(string); resource == nil || version != v1.SchemeGroupVersion.String() {
		return d.problems(Schema, field.ErrorList{d.wrongVersion(version)})
	}
	form := checkForm(d, resource, object)
	if d.Kind == v1.ApplicationKind {
		c.removeEmptyClass(object)
		if err := setDefaults(object); err != nil {
			return []Problem{{File: d.File, Line: d.line(""), Object: d.Kind + "/" + d.Name, Rule: Schema, Message: err.Error()}}
		}
	}
	if errs := checkMetadata(object); len(form)+len(errs) > 0 {
		return d.problems(Schema, withSchema(slices.Concat(form, errs), checkSchema(resource, object)))
	}
	generateName(object)
	if errs := checkSchema(resource, object); len(errs) > 0 {
		return d.problems(Schema, errs)
	}
	if errs := resource.CheckRules(ctx, object); len(errs) > 0 {
		return d.problems(CEL, d.withEmpty(errs))
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, into, true); err != nil {
		return []Problem{{File: d.File, Line: d.line(""), Object: d.Kind + "/" + d.Name, Rule: Schema, Message: err.Error()}}
	}
	return nil
}

// generateName gives an object a name as the API server does, which checks the name afterwards, with letters that stand for random ones.
func generateName(object map[string]any) {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if prefix, _ := metadata["generateName"].(string); name == "" && prefix != "" {
		const longest, random = 58, "xxxxx"
		metadata["name"] = prefix[:min(len(prefix), longest)] + random
	}
}

// withSchema adds the errors of the schema that those of the form and of the metadata do not explain. A missing field may be an unknown
// one of the same map, and what has no path may be about any value.
func withSchema(errs, ofSchema field.ErrorList) field.ErrorList {
	isExplained := func(err *field.Error) bool {
		return strings.Trim(strings.TrimPrefix(err.Field, "<nil>"), ".") == "" || slices.ContainsFunc(errs, func(cause *field.Error) bool {
			path, known := dotted.Replace(err.Field), dotted.Replace(cause.Field)
			isMisspelt := err.Type == field.ErrorTypeRequired && cause.Type == field.ErrorTypeForbidden && strings.HasPrefix(known, parentOf(path))
			return isMisspelt || strings.HasPrefix(path+".", known+".")
		})
	}
	return slices.Concat(errs, slices.DeleteFunc(ofSchema, isExplained))
}

// dotted has a key of a map as .key, since it is [key] in some paths, and .key in others.
var dotted = strings.NewReplacer("[", ".", "]", "")

// parentOf is the dotted path of the map that has the field, with the dot behind it.
func parentOf(path string) string { return path[:strings.LastIndex(path, ".")+1] }

// checkForm wants known fields with values of the right kind. It removes the unknown ones.
func checkForm(d *Document, resource *crdschema.Resource, object map[string]any) field.ErrorList {
	errs := wrongKinds(d, resource.Structural)
	isWithin := func(path string) func(*field.Error) bool {
		return func(err *field.Error) bool {
			return strings.HasPrefix(dotted.Replace(path), dotted.Replace(err.Field)+".")
		}
	}
	var unknown field.ErrorList
	for _, path := range resource.Unknown(object) {
		if !slices.ContainsFunc(errs, isWithin(path)) {
			unknown = append(unknown, unknownField(d, resource, path))
		}
	}
	return slices.Concat(errs, unknown, unknownMetadata(resource, object))
}

// unknownMetadata returns an error for each unknown field of the metadata, and removes it. The schema of a CRD allows them all.
func unknownMetadata(resource *crdschema.Resource, object map[string]any) field.ErrorList {
	metadata, _ := object["metadata"].(map[string]any)
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		known := metadataFields()
		if slices.Contains(known, key) {
			continue
		}
		message := unknownMessage
		if hint := hintFor(resource, "metadata."+key); hint != "" {
			message = "unknown field: " + hint
		} else if meant := nearest.To(key, known); meant != "" {
			message = didYouMean(meant)
		}
		errs = append(errs, field.Forbidden(field.NewPath("metadata", key), message))
		delete(metadata, key)
	}
	return errs
}

var (
	// metadataFields are the names of all fields of the metadata, and fieldsOfSpec those of the spec of an Application.
	metadataFields = sync.OnceValue(namesOfFields[metav1.ObjectMeta])
	fieldsOfSpec   = sync.OnceValue(namesOfFields[v1.ApplicationSpec])
	// podFieldNames are those of a Deployment, of a pod and of a container, and serviceFieldNames those of a Service.
	podFieldNames = sync.OnceValue(func() []string {
		return slices.Concat(namesOfFields[appsv1.DeploymentSpec](), namesOfFields[corev1.PodSpec](), namesOfFields[corev1.Container]())
	})
	serviceFieldNames = sync.OnceValue(namesOfFields[corev1.ServiceSpec])
)

func namesOfFields[T any]() []string {
	var names []string
	for of := range reflect.TypeFor[T]().Fields() {
		name, _, _ := strings.Cut(of.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// checkMetadata checks what every object needs, and the labels that the webhook reserves.
func checkMetadata(object map[string]any) field.ErrorList {
	metadata := &metav1.PartialObjectMetadata{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, metadata); err != nil {
		return nil // The schema has a better message.
	}
	path := field.NewPath("metadata")
	var errs field.ErrorList
	if metadata.Name == "" && metadata.GenerateName == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	errs = append(errs, metav1validation.ValidateLabels(metadata.Labels, path.Child("labels"))...)
	errs = append(errs, apivalidation.ValidateAnnotations(metadata.Annotations, path.Child("annotations"))...)
	if metadata.Kind != v1.ApplicationKind {
		// The rules of the webhook for the names of Applications are stricter, and have their own message.
		errs = append(errs, wrongName(path.Child("name"), metadata.Name, false)...)
		return append(errs, wrongName(path.Child("generateName"), metadata.GenerateName, true)...)
	}
	for _, key := range slices.Sorted(maps.Keys(metadata.Labels)) {
		if strings.HasPrefix(key, v1.ReservedPrefix) {
			errs = append(errs, field.Forbidden(path.Child("labels").Key(key), "labels with the prefix "+v1.ReservedPrefix+" are reserved for what Fairlead creates"))
		}
	}
	return errs
}

// wrongName says why the API server would not take the name, or the prefix of one, of an object of its CRDs.
func wrongName(path *field.Path, name string, prefix bool) (errs field.ErrorList) {
	if name == "" {
		return nil
	}
	for _, message := range apivalidation.NameIsDNSSubdomain(name, prefix) {
		errs = append(errs, field.Invalid(path, name, message))
	}
	return errs
}

func (d *Document) problems(rule Rule, errs field.ErrorList) []Problem {
	problems := make([]Problem, 0, len(errs))
	for _, err := range errs {
		path := strings.Trim(strings.TrimPrefix(err.Field, "<nil>"), ".")
		problems = append(problems, Problem{
			File: d.File, Line: d.line(path), Object: fmt.Sprintf("%s/%s", d.Kind, d.Name), Field: path, Rule: rule, Message: err.ErrorBody(),
		})
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return problems
}
