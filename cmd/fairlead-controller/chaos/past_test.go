// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
)

// past is what was done to a namespace, as far as an oracle must know it to judge the end.
type past struct {
	mu *sync.Mutex
	// specs are, for each Application, what its specs asked for, in order. A deletion asks for nothing.
	specs map[string][]asked
	// settled is when an Application was seen to be what its spec says, in order.
	settled map[string][]time.Time
	// orphans are the Applications that may have left children behind.
	orphans map[string]bool
	// mustStay are children that an Application left behind, by UID.
	mustStay map[string]string
	// hands are the UIDs of objects that a user changed or deleted.
	hands map[string]bool
	// foreigners are objects of others, by UID.
	foreigners map[string]foreigner
}

// asked is which children one spec asks for, from a moment on.
type asked struct {
	from     time.Time
	children map[string]bool
}

type foreigner struct {
	kind   child.Kind
	object *unstructured.Unstructured
}

func newPast() past {
	return past{
		mu: &sync.Mutex{}, specs: map[string][]asked{}, settled: map[string][]time.Time{}, orphans: map[string]bool{},
		mustStay: map[string]string{}, hands: map[string]bool{}, foreigners: map[string]foreigner{},
	}
}

// specified is called before a spec is sent.
func (p past) specified(application *v1.Application) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := asked{time.Now(), map[string]bool{}}
	// Whether a route is an Ingress may depend on which APIs are served; then neither is asked for all the time.
	without, _ := render.Children(application, render.Facts{WithoutHTTPRoutes: true})
	with, _ := render.Children(application, render.Facts{})
	for _, d := range without {
		if slices.ContainsFunc(with, func(other child.Desired) bool { return other.Ref == d.Ref }) {
			next.children[d.Kind.Resource+" "+d.Name] = true
		}
	}
	p.specs[application.Name] = append(p.specs[application.Name], next)
	if application.Spec.DeletionPolicy == v1.DeletionOrphan {
		p.orphans[application.Name] = true
	}
}

// deleted is called before an Application is deleted.
func (p past) deleted(name string, orphan bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.specs[name] = append(p.specs[name], asked{from: time.Now()})
	p.orphans[name] = p.orphans[name] || orphan
}

func (p past) orphaned(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.orphans[name] = true
}

func (p past) touched(uid string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hands[uid] = true
}

func (p past) foreignCreated(kind child.Kind, object *unstructured.Unstructured) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.foreigners[string(object.GetUID())] = foreigner{kind, object}
}

func (p past) foreignDeleted(uid string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.foreigners, uid)
}

func (p past) leftBehind(uid, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mustStay[uid] = what
}

// settle is called when an Application is Ready, and nothing disturbs its controller. before is when it was read.
func (p past) settle(name string, before time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if all := p.specs[name]; len(all) > 0 && all[len(all)-1].from.Before(before) {
		p.settled[name] = append(p.settled[name], before)
	}
}

// isSettled reports whether nothing was asked for since the Application settled.
func (p past) isSettled(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, settled := p.specs[name], p.settled[name]
	return len(all) > 0 && len(settled) > 0 && settled[len(settled)-1].After(all[len(all)-1].from)
}

// wrongDelete says what is wrong with a delete of the controller, or "": every spec that may have been in force asked for
// the child.
func (p past) wrongDelete(w write) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, all := range p.specs {
		first := 0
		for _, settled := range p.settled[name] {
			for i, a := range all {
				if settled.Before(w.sent) && !a.from.After(settled) {
					first = i
				}
			}
		}
		inForce := slices.DeleteFunc(slices.Clone(all[first:]), func(a asked) bool { return a.from.After(w.at) })
		wanted := len(inForce) > 0
		for _, a := range inForce {
			wanted = wanted && a.children[w.resource+" "+w.name]
		}
		if wanted {
			return fmt.Sprintf("the controller deleted %s %s, which Application %s asked for all the time", w.resource, w.name, name)
		}
	}
	return ""
}
