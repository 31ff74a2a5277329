// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package classes says what ApplicationClasses impose, and which Applications use them. It is pure.
package classes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/class"
)

// Class is one ApplicationClass. Its JSON is stable: fields are added, never changed.
type Class struct {
	Name    string `json:"name"`
	Default bool   `json:"default,omitempty"`
	// NotDefault is why a class with the annotation is not the default.
	NotDefault string `json:"notDefault,omitempty"`
	// Namespaces is the selector of its namespaces; empty selects all.
	Namespaces string `json:"namespaces,omitempty"`
	// Defaults and Limits are a line for each field: its path and value.
	Defaults []string `json:"defaults,omitempty"`
	Limits   []string `json:"limits,omitempty"`
	// Applications use it, as namespace/name.
	Applications []string `json:"applications,omitempty"`
	// NotReady has the reasons of those that are not ready, such as that they break the limits of the class.
	NotReady map[string]string `json:"notReady,omitempty"`
	// Held has why the children of some may lack what the class gives now, such as that they are pinned to a revision.
	Held map[string]string `json:"held,omitempty"`

	// unlisted means that the user may not list Applications, so count is what is known: the number in the status of the class. It
	// is -1 if that is about an older class.
	unlisted bool
	count    int32
}

// classOf is the name of an Application's class: the one that it names, else the default, whose rules it may break; "" if it
// has none.
func classOf(application *v1.Application) string {
	status := &application.Status
	switch {
	case application.Spec.ClassName != "":
		return application.Spec.ClassName
	case status.RefusedClass != nil:
		return status.RefusedClass.Name
	case status.Class != nil:
		return status.Class.Name
	default:
		return ""
	}
}

// whyNotReady is the reason why an Application is not ready; "" if it is.
func whyNotReady(application *v1.Application) string {
	ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
	switch {
	case ready == nil || application.Status.ObservedGeneration != application.Generation:
		return v1.ReasonNotObserved
	case ready.Status != metav1.ConditionTrue:
		return ready.Reason
	default:
		return ""
	}
}

// Of returns the classes of the names, or all.
func Of(all []v1.ApplicationClass, applications []v1.Application, names []string) ([]Class, error) {
	var found []Class
	for i := range all {
		c := &all[i]
		if len(names) > 0 && !slices.Contains(names, c.Name) {
			continue
		}
		defaults, err := fields(c.Spec.Defaults)
		if err != nil {
			return nil, err
		}
		limits, err := fields(c.Spec.Limits)
		if err != nil {
			return nil, err
		}
		shown := Class{Name: c.Name, Default: class.IsMarkedDefault(c), Defaults: defaults, Limits: limits}
		if not := meta.FindStatusCondition(c.Status.Conditions, v1.ConditionDefault); shown.Default && not != nil && not.Status == metav1.ConditionFalse {
			shown.Default, shown.NotDefault = false, not.Message
		}
		if c.Spec.NamespaceSelector != nil {
			shown.Namespaces = metav1.FormatLabelSelector(c.Spec.NamespaceSelector)
		}
		for j := range applications {
			if application := &applications[j]; classOf(application) == c.Name {
				shown.add(application)
			}
		}
		slices.Sort(shown.Applications)
		found = append(found, shown)
	}
	for _, name := range names {
		if !slices.ContainsFunc(found, func(c Class) bool { return c.Name == name }) {
			return nil, fmt.Errorf("there is no ApplicationClass %q: see 'kubectl fairlead classes'", name)
		}
	}
	slices.SortFunc(found, func(a, b Class) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// add adds an Application that uses the class.
func (c *Class) add(application *v1.Application) {
	name := application.Namespace + "/" + application.Name
	c.Applications = append(c.Applications, name)
	if reason := whyNotReady(application); reason != "" {
		if c.NotReady == nil {
			c.NotReady = map[string]string{}
		}
		c.NotReady[name] = reason
	}
	if held := class.Held(application); held != "" {
		if c.Held == nil {
			c.Held = map[string]string{}
		}
		c.Held[name] = held
	}
}

// fields writes each set field in a line. Objects are taken apart, lists are not.
func fields(value any) ([]string, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(encoded, &tree); err != nil {
		return nil, err
	}
	var lines []string
	if err := walk("", tree, &lines); err != nil {
		return nil, err
	}
	slices.Sort(lines)
	return lines, nil
}

func walk(path string, value any, lines *[]string) error {
	object, isObject := value.(map[string]any)
	if isObject && len(object) > 0 {
		for key, inner := range object {
			if err := walk(strings.TrimPrefix(path+"."+key, "."), inner, lines); err != nil {
				return err
			}
		}
		return nil
	}
	if value == nil {
		return nil
	}
	encoded, err := json.Marshal(value)
	*lines = append(*lines, path+": "+string(encoded))
	return err
}

// Unlisted says of classes that the user may not list their Applications.
func Unlisted(all []v1.ApplicationClass, found []Class) {
	for i := range found {
		found[i].unlisted, found[i].count = true, -1
		for j := range all {
			if all[j].Name == found[i].Name && all[j].Status.ObservedGeneration == all[j].Generation {
				found[i].count = all[j].Status.Applications
			}
		}
	}
}

func (c Class) usedBy() []string {
	switch {
	case !c.unlisted:
		lines := make([]string, 0, len(c.Applications))
		for _, name := range c.Applications {
			lines = append(lines, name+c.marks(name))
		}
		return lines
	case c.count < 0:
		return []string{"not shown"}
	case c.count == 1:
		return []string{"1 Application, not shown"}
	case c.count == 0:
		return nil
	default:
		return []string{fmt.Sprintf("%d Applications, not shown", c.count)}
	}
}

// marks says behind the name of an Application why it is not ready, and why its children may lack what the class gives. One word is enough
// where both are the same.
func (c Class) marks(name string) string {
	reason, held := c.NotReady[name], c.Held[name]
	switch {
	case reason == "" && held == "":
		return ""
	case reason == "" || held == "" || strings.EqualFold(reason, strings.ReplaceAll(held, " ", "")):
		return " (" + cmp.Or(reason, held) + ")"
	default:
		return " (" + reason + ", " + held + ")"
	}
}

// Print writes the classes as text.
func Print(to *screen.Screen, found []Class) {
	if len(found) == 0 {
		to.Line("There is no ApplicationClass: nothing is imposed.")
	}
	for i, c := range found {
		if i > 0 {
			to.Blank()
		}
		title := to.Paint(screen.Bold, c.Name)
		if c.Default {
			title += "  default"
		}
		to.Line(title)
		if c.NotDefault != "" {
			to.Row("Default", "no: "+c.NotDefault)
		}
		to.Row("Namespaces", cmp.Or(c.Namespaces, "all"))
		rows(to, "Defaults", c.Defaults)
		rows(to, "Limits", c.Limits)
		rows(to, "Used by", c.usedBy())
	}
}

func rows(to *screen.Screen, label string, lines []string) {
	if len(lines) == 0 {
		to.Row(label, "none")
	}
	for _, line := range lines {
		to.Row(label, line)
		label = ""
	}
}
