// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// version is an Application as it once was, and what a tool that knows only kstatus made of it.
type version struct {
	*v1.Application
	kstatus kstatus.Status
}

// history has every version of the Applications of a namespace, in order, as a client sees them
// that watches. A state that was passed quickly is here too, and each version keeps the
// promises of checkVersion; so a test neither misses a state nor has to look for broken promises.
type history struct {
	mu       sync.Mutex
	versions map[string][]version // by name
	broken   []string
}

// record begins a history. Call it before the first Application is made.
func (e *env) record() *history {
	e.Helper()
	ctx, cancel := context.WithCancel(e.Context())
	watcher, err := e.resource(v1.SchemeGroupVersion.WithKind(v1.ApplicationKind)).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		cancel()
		e.Fatalf("watch Applications: %v", err)
	}
	h := &history{versions: map[string][]version{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watcher.ResultChan() {
			if ctx.Err() == nil { // The end of the test is told as an error.
				h.add(event)
			}
		}
		if ctx.Err() == nil {
			h.add(watch.Event{Type: watch.Error})
		}
	}()
	e.Cleanup(func() {
		cancel()
		watcher.Stop()
		<-done
		for _, broken := range h.broken {
			e.Errorf("a promise was broken: %s", broken)
		}
	})
	return h
}

func (h *history) add(event watch.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	u, ok := event.Object.(*unstructured.Unstructured)
	if !ok || event.Type == watch.Error {
		h.broken = append(h.broken, fmt.Sprintf("the watch of Applications ended early: %v", event))
		return
	}
	next, err := newVersion(u)
	if err != nil {
		h.broken = append(h.broken, err.Error())
		return
	}
	if event.Type == watch.Deleted {
		delete(h.versions, next.Name)
		return
	}
	seen := h.versions[next.Name]
	for _, broken := range checkVersion(seen, next) {
		h.broken = append(h.broken, fmt.Sprintf("%s, in %s", broken, describe(next.Application)))
	}
	h.versions[next.Name] = append(seen, next)
}

func newVersion(u *unstructured.Unstructured) (version, error) {
	application := &v1.Application{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, application); err != nil {
		return version{}, err
	}
	result, err := kstatus.Compute(u)
	if err != nil {
		return version{}, err
	}
	return version{application, result.Status}, nil
}

// checkVersion says which promises the next version of an Application breaks.
func checkVersion(seen []version, next version) (broken []string) {
	promise := func(kept bool, what string, args ...any) {
		if !kept {
			broken = append(broken, fmt.Sprintf(what, args...))
		}
	}
	is := func(kind string) bool { return meta.IsStatusConditionTrue(next.Status.Conditions, kind) }
	ready, reconciling, stalled := is(v1.ConditionReady), is(v1.ConditionReconciling), is(v1.ConditionStalled)
	promise(!ready || !reconciling, "Ready and Reconciling")
	promise(!ready || !stalled, "Ready and Stalled")
	promise(!stalled || !reconciling, "Stalled and Reconciling")

	observed := next.Status.ObservedGeneration == next.Generation
	switch {
	case next.DeletionTimestamp != nil:
		promise(next.kstatus == kstatus.TerminatingStatus, "kstatus says %s of one that is being deleted", next.kstatus)
	case observed && ready:
		promise(next.kstatus == kstatus.CurrentStatus, "kstatus says %s although Ready", next.kstatus)
	case observed && stalled:
		promise(next.kstatus == kstatus.FailedStatus, "kstatus says %s although Stalled", next.kstatus)
	default:
		promise(next.kstatus == kstatus.InProgressStatus, "kstatus says %s although not observed, or neither Ready nor Stalled", next.kstatus)
	}
	if ready {
		for _, resource := range next.Status.Resources {
			promise(resource.State != v1.ResourceFailed && resource.State != v1.ResourceConflict, "Ready although %s %s is %s", resource.Kind, resource.Name, resource.State)
		}
	}
	for _, condition := range next.Status.Conditions {
		promise(condition.ObservedGeneration == max(0, next.Status.ObservedGeneration), "%s is about generation %d", condition.Type, condition.ObservedGeneration)
		promise(condition.Message != "" && len(condition.Message) <= 1024, "the message of %s has %d bytes", condition.Type, len(condition.Message))
	}

	if len(seen) == 0 {
		ready := meta.FindStatusCondition(next.Status.Conditions, v1.ConditionReady)
		promise(next.Status.ObservedGeneration == -1 && len(next.Status.Conditions) == 1 && ready != nil && ready.Reason == v1.ReasonNotObserved,
			"a new Application has another status than the default")
		return broken
	}
	last := seen[len(seen)-1]
	promise(next.Status.ObservedGeneration >= last.Status.ObservedGeneration, "observedGeneration went back from %d", last.Status.ObservedGeneration)
	for _, condition := range next.Status.Conditions {
		was := meta.FindStatusCondition(last.Status.Conditions, condition.Type)
		if was != nil && was.Status == condition.Status {
			promise(was.LastTransitionTime.Equal(&condition.LastTransitionTime), "lastTransitionTime of %s moved without a change of its status", condition.Type)
		}
	}
	return broken
}

// of returns the versions of an Application from the given one on.
func (h *history) of(name string, from int) []version {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.versions[name][min(from, len(h.versions[name])):])
}

// standing is how an Application is expected to stand.
type standing struct {
	// ready is status and reason of Ready, such as "True/Ready".
	ready string
	// also is which one of Reconciling and Stalled is there, with the message of Ready and its reason,
	// or the reason after a slash; or "".
	also string
	// kstatus is what tools that know only kstatus make of it.
	kstatus kstatus.Status
	// message is a part of Ready's. NAMESPACE stands for that of the test.
	message string
	// others are all other conditions, such as "Available=True/MinimumReplicasAvailable". More than one reason
	// stands between bars.
	others []string
}

// differs says what is different about the version; "" means nothing.
func (s standing) differs(e *env, v version) string {
	if v.Status.ObservedGeneration != v.Generation {
		return "its generation was not observed"
	}
	var others []string
	also, message := "", ""
	var ready metav1.Condition
	for _, condition := range v.Status.Conditions {
		switch condition.Type {
		case v1.ConditionReady:
			ready = condition
		case v1.ConditionReconciling, v1.ConditionStalled:
			also += condition.Type
			message = condition.Message
			if condition.Status != metav1.ConditionTrue {
				return fmt.Sprintf("%s is %s", condition.Type, condition.Status)
			}
			if condition.Reason != ready.Reason {
				also += "/" + condition.Reason
			}
		default:
			others = append(others, fmt.Sprintf("%s=%s/%s", condition.Type, condition.Status, condition.Reason))
		}
	}
	wantMessage := strings.ReplaceAll(s.message, "NAMESPACE", e.namespace)
	switch got := fmt.Sprintf("%s/%s", ready.Status, ready.Reason); {
	case got != s.ready:
		return fmt.Sprintf("Ready is %s, not %s", got, s.ready)
	case also != s.also:
		return fmt.Sprintf("%q is there beside Ready, not %q", also, s.also)
	case also != "" && message != ready.Message:
		return fmt.Sprintf("%s says %q, but Ready %q", also, message, ready.Message)
	case !strings.Contains(ready.Message, wantMessage):
		return fmt.Sprintf("the message is %q without %q", ready.Message, wantMessage)
	case v.kstatus != s.kstatus:
		return fmt.Sprintf("kstatus is %s, not %s", v.kstatus, s.kstatus)
	case !slices.EqualFunc(others, s.others, isCondition):
		return fmt.Sprintf("the other conditions are %q, not %q", others, s.others)
	}
	return ""
}

// isCondition says whether the condition is the one wanted, for one of its reasons.
func isCondition(got, want string) bool {
	status, reasons, _ := strings.Cut(want, "/")
	return slices.ContainsFunc(strings.Split(reasons, "|"), func(reason string) bool { return got == status+"/"+reason })
}

// step is something that a person does, and how the Application then stands, now or later.
type step struct {
	act  func(e *env, name string)
	want standing
}

// follow takes the steps one after the other. It returns the last version that it waited for.
func (h *history) follow(e *env, name string, steps ...step) version {
	e.Helper()
	var found version
	next := 0 // the first version that was not looked at
	for i, s := range steps {
		generation := int64(0)
		if s.act != nil {
			s.act(e, name)
			generation = e.application(name).Generation
		}
		e.eventually(fmt.Sprintf("step %d of Application %s: %+v", i+1, name, s.want), func() (bool, string) {
			var saw []string
			for offset, v := range h.of(name, next) {
				if v.Generation < generation {
					continue
				}
				difference := s.want.differs(e, v)
				if difference == "" {
					found = v
					next += offset + 1
					return true, ""
				}
				saw = append(saw, difference)
			}
			return false, strings.Join(slices.Compact(saw), "\n            ")
		})
	}
	return found
}
