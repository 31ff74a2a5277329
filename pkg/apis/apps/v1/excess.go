// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"
	"reflect"
	"strings"
)

// What an Application may cost. The API server stores objects of 1.5 MB, and a user writes as many as
// the quota of the namespace allows. Each list has a limit of its own, but what a controller pays for
// is their product, and the sum of everything.
const (
	// MaxRoutePaths is how many paths an Application may have, counted under each of its hostnames: an
	// Ingress repeats the paths of a route for each hostname.
	MaxRoutePaths = 512
	// MaxSpecBytes is how much memory the spec may take without the content of config.data, which is
	// never repeated and has a limit of its own.
	MaxSpecBytes = 512 << 10
	// MaxConfigBytes is how long the file names and contents of config.data may be together. They are in
	// the Application, in its ConfigMap and in the revisions of its history.
	MaxConfigBytes = 256 << 10
	// MaxLabels is how many labels an Application may have: each child gets a copy.
	MaxLabels = 64
	// LargeCost is the WriteCost above which an Application is large. An Application with a few sidecars, routes or dozens of
	// variables costs less. A tenant can write many that are just below it, ten times a second.
	LargeCost = 8 << 10
	// elementCost is how many bytes cost the API server as much as an element of a list, such as a variable of a container.
	elementCost = 128
)

// Excess is why an Application is refused as too large.
//
// +k8s:deepcopy-gen=false
// +k8s:openapi-gen=false
type Excess struct {
	// Path is that of the field.
	Path []string
	// Message says what is too much, what the limit is and what to do.
	Message string
}

// FindExcess returns why the Application is too large, or nil. It is cheap: it looks at the object once, and not at its
// products. Whoever is about to spend more than that on an Application calls it first.
func (a *Application) FindExcess() *Excess {
	if message, marked := a.Annotations[AnnotationExcess]; marked {
		return &Excess{Path: []string{"spec"}, Message: message}
	}
	if n := a.Spec.routePaths(); n > MaxRoutePaths {
		return &Excess{[]string{"spec", "routes"}, fmt.Sprintf(
			"the routes have %d paths, counted under each hostname; at most %d are allowed: use fewer, or several Applications", n, MaxRoutePaths)}
	}
	if n := a.Spec.wildcards(); n > MaxWildcards {
		return &Excess{[]string{"spec", "routes"}, fmt.Sprintf(
			"the routes have %d wildcard hostnames; at most %d are allowed: use several Applications", n, MaxWildcards)}
	}
	if n := len(a.Labels); n > MaxLabels {
		return &Excess{[]string{"metadata", "labels"}, fmt.Sprintf(
			"there are %d labels; at most %d are allowed, because each child gets a copy", n, MaxLabels)}
	}
	if n := a.Spec.configBytes(); n > MaxConfigBytes {
		return &Excess{[]string{"spec", "config", "data"}, fmt.Sprintf(
			"file names and contents have %d bytes together; at most %d are allowed: use a ConfigMap or volume of your own", n, MaxConfigBytes)}
	}
	rest := a.Spec
	rest.Config = nil
	if n := footprint(&rest, MaxSpecBytes); n > MaxSpecBytes {
		return &Excess{[]string{"spec"}, fmt.Sprintf(
			"the spec takes more than %d bytes of memory without config.data: shorten it, or use several Applications", MaxSpecBytes)}
	}
	return nil
}

// WriteCost is what a change of the Application costs the API server, as the number of bytes that would cost as much. It
// is an estimate: each element of a list counts elementCost more than its bytes, since server-side apply tracks it, and
// each path counts under each hostname. An Application that is too large costs as much as the largest allowed one.
func (a *Application) WriteCost() int {
	const most = MaxConfigBytes + MaxSpecBytes
	if _, marked := a.Annotations[AnnotationExcess]; marked {
		return most
	}
	rest := a.Spec
	rest.Config = nil
	c := counter{limit: most, perElement: elementCost}
	c.pointedTo(reflect.ValueOf(&rest))
	return min(a.Spec.configBytes()+a.Spec.routeCost()+c.bytes, most)
}

// IsLarge reports whether the Application waits for its turn: the controller syncs the large ones of a namespace one after the
// other, with rests between them.
func (a *Application) IsLarge() bool { return a.WriteCost() > LargeCost }

// WithoutExcess returns what remains to be kept of an Application that is too large: who it is, what
// was said about it, and what is to become of its children. It asks for no host name and refers to
// nothing. The annotation AnnotationExcess says why; the original has not changed.
func (a *Application) WithoutExcess(excess *Excess) *Application {
	kept := &Application{TypeMeta: a.TypeMeta, ObjectMeta: a.ObjectMeta, Status: a.Status}
	kept.Labels, kept.OwnerReferences = nil, nil
	kept.Annotations = map[string]string{AnnotationExcess: excess.Message}
	kept.Spec.ClassName = a.Spec.ClassName
	kept.Spec.ReconcilePolicy = a.Spec.ReconcilePolicy
	kept.Spec.DeletionPolicy = a.Spec.DeletionPolicy
	return kept
}

// String is the field and what is wrong with it.
func (e *Excess) String() string { return strings.Join(e.Path, ".") + ": " + e.Message }

// routePaths counts the paths under each host name. It multiplies lengths and looks at no path.
func (s *ApplicationSpec) routePaths() int {
	n := 0
	for i := range s.Routes {
		n += len(s.Routes[i].Hostnames) * max(1, len(s.Routes[i].Paths))
	}
	return n
}

// configBytes is the length of the file names and contents of config.data.
func (s *ApplicationSpec) configBytes() int {
	if s.Config == nil {
		return 0
	}
	n := 0
	for name, content := range s.Config.Data {
		n += len(name) + len(content)
	}
	return n
}

// routeCost is the cost of an Ingress, which repeats the paths of a route for each hostname.
func (s *ApplicationSpec) routeCost() int {
	cost := 0
	for i := range s.Routes {
		route := &s.Routes[i]
		for j := range route.Paths {
			cost += max(len(route.Hostnames), 1) * (len(route.Paths[j].Path) + elementCost)
		}
	}
	return cost
}
