// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// plant is a mistake that a person could make: a few lines of one file, replaced for one build. Nothing of it is in the
// sources.
type plant struct {
	name string
	// mistake says what is wrong, for the table.
	mistake string
	file    string
	// old occurs once in the file; new takes its place.
	old, new string
	// tests are those that must catch it.
	tests []tests
	// explorer: the explorer must catch it too, within minutes.
	explorer bool
}

// tests are some tests of one package.
type tests struct {
	// module is the directory of the go.mod, "." for that of the repository.
	module, pkg, run string
	// drawn tests keep what fails in a file, unless they are told not to.
	drawn bool
}

func unit(pkg, run string) []tests {
	return []tests{{module: ".", pkg: pkg, run: run, drawn: slices.Contains([]string{"./pkg/controller", "./pkg/plan", "./pkg/render", "./pkg/status"}, pkg)}}
}

func integration(run string) []tests {
	return []tests{{module: "cmd/fairlead-controller/integration", pkg: ".", run: run}}
}

// programs are tests that run programs of the explorer, always the same ones.
func programs(run string) []tests {
	return []tests{{module: ".", pkg: explorer, run: run}}
}

// plants are the planted bugs. TestPlantsFit holds that each still has its place.
func plants() []plant {
	return []plant{
		{
			name: "uid-check-dropped", mistake: "whatever names an owner counts as the Application's child",
			file:     "pkg/child/owner.go",
			old:      `return uid != "" && uid == string(application.UID)`,
			new:      `return uid != "" || object.GetName() == application.Name`,
			tests:    unit("./pkg/child", ""),
			explorer: true,
		},
		{
			name: "notfound-trusted", mistake: "a child that the cache does not show counts as gone when Orphan ends",
			file: "pkg/controller/orphan.go",
			old:  `		uncached, failed = c.Writer.GetUncached(ctx, observed.Snapshot)`,
			new: `		if uncached = nil; observed.Application.DeletionTimestamp == nil {
			uncached, failed = c.Writer.GetUncached(ctx, observed.Snapshot)
		}`,
			tests: unit("./pkg/controller", "Orphan"),
		},
		{
			name: "own-writes-not-read", mistake: "a sync acts on caches that are older than its last write",
			file:  "pkg/controller/sync.go",
			old:   `	case len(observed.stale) > 0:`,
			new:   `	case len(observed.stale) > 1000:`,
			tests: unit("./pkg/controller", ""),
		},
		{
			name: "status-before-children", mistake: "status reports the generation before its children are written",
			file: "pkg/controller/sync.go",
			old:  `	results, err := c.stages.execute(ctx, observed.Application, steps, now)`,
			new: `	early := make([]plan.Result, len(steps))
	for i, step := range steps {
		early[i].Step = step
	}
	c.report(ctx, observed, owned, target, early, now)
	results, err := c.stages.execute(ctx, observed.Application, steps, now)`,
			tests: unit("./pkg/controller", ""),
		},
		{
			name: "hash-only-comparison", mistake: "a child with the right hash counts as up to date",
			file:     "pkg/plan/plan.go",
			old:      `	if len(difference.Fields) == 0 {`,
			new:      `	if len(difference.Fields) == 0 || live.GetAnnotations()[v1.AnnotationRenderedHash] == desired.Hash {`,
			tests:    unit("./pkg/plan", ""),
			explorer: true,
		},
		{
			name: "global-rate-bucket", mistake: "one token bucket limits the retries of all keys",
			file:  "pkg/workqueue/queue.go",
			old:   `workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](baseDelay, maxDelay),`,
			new:   `workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName](),`,
			tests: unit("./pkg/workqueue", ""),
		},
		{
			name: "shared-lease-client", mistake: "the lease is renewed over the connections of the workers",
			file:  "cmd/fairlead-controller/app/clients.go",
			old:   `		config.Proxy = http.ProxyFromEnvironment`,
			new:   `		_ = http.ProxyFromEnvironment`,
			tests: unit("./cmd/fairlead-controller/app", ""),
		},
		{
			name: "no-ageing", mistake: "urgent keys keep others out for ever",
			file:  "pkg/workqueue/deadlines.go",
			old:   `Deadline: now.Add(trigger.Event.maxWait()), sequence`,
			new:   `Deadline: time.Time{}.Add(trigger.Event.maxWait()), sequence`,
			tests: unit("./pkg/workqueue", ""),
		},
		{
			name: "selector-from-labels", mistake: "the pods are selected by labels that a user may change",
			file:  "pkg/render/metadata.go",
			old:   `WithMatchLabels(Selector(app))`,
			new:   `WithMatchLabels(PodLabels(app))`,
			tests: unit("./pkg/render", ""),
		},
		{
			name: "work-after-lease", mistake: "a leader goes on writing after its lease",
			file:  "cmd/fairlead-controller/app/fence.go",
			old:   `		if err := t.fence.mayWrite(); err != nil {`,
			new:   `		if err := t.fence.mayWrite(); err != nil && request.Body == nil {`,
			tests: unit("./cmd/fairlead-controller/app", ""),
		},
		{
			name: "lease-outlived", mistake: "a leader writes until long after its lease",
			file:  "cmd/fairlead-controller/app/leader.go",
			old:   `newFence(ctx, lock, config.RenewDeadline, now)`,
			new:   `newFence(ctx, lock, 10*config.LeaseDuration, now)`,
			tests: programs("TestF12PausedLeader"),
		},
		{
			name: "early-release", mistake: "the finalizer goes although a child could not be released",
			file:  "pkg/controller/finalize.go",
			old:   `	if len(owned.failed) > 0 {`,
			new:   `	if len(owned.failed) > 1000 {`,
			tests: integration("TestF20DeletionWaitsForDeniedRelease"),
		},
		{
			name: "edge-triggered-cleanup", mistake: "obsolete children are deleted only by the first sync after an edit",
			file: "pkg/plan/plan.go",
			old:  `	steps := leftovers(in)`,
			new: `	steps := leftovers(in)
	if application := in.Snapshot.Application; application.Status.ObservedGeneration == application.Generation {
		steps = nil
	}`,
			tests: append(unit("./pkg/plan", ""), unit("./pkg/controller", "")...),
		},
		{
			name: "finalizer-only-enforced", mistake: "the finalizer of Orphan is ensured only under Enforce",
			file:  "pkg/controller/orphan.go",
			old:   `	if orphan && !hasFinalizer {`,
			new:   `	if orphan && !hasFinalizer && application.Spec.ReconcilePolicy == v1.ReconcileEnforce {`,
			tests: integration("TestF23|TestOrphanFinalizer"),
		},
		{
			name: "references-of-the-spec", mistake: "ConfigMaps and Secrets are followed by the spec, not by the revision that runs",
			file:  "pkg/controller/resolve_references.go",
			old:   `	return slices.Concat(reference.FromSpec(&runs.Spec), reference.FromSpec(&application.Spec))`,
			new:   `	return slices.Concat(reference.FromSpec(&application.Spec))`,
			tests: unit("./pkg/controller", "Reference|Revision|Rollback"),
		},
		{
			name: "refused-child-used", mistake: "children are written that lead to an object of another owner",
			file:  "pkg/plan/plan.go",
			old:   `	withholdDependents(steps)`,
			new:   `	_ = withholdDependents`,
			tests: unit("./pkg/plan", ""),
		},
		{
			name: "unbounded-status", mistake: "status lists as much as there is",
			file: "pkg/status/bounds.go",
			old: `left < 0 {
			break
		}
		kept = append(kept, i)`,
			new: `left < -1<<40 {
			break
		}
		kept = append(kept, i)`,
			tests: unit("./pkg/status", ""),
		},
		{
			name: "decode-error-stops-all", mistake: "one object that does not decode stops the watch of all",
			file:  "pkg/codec/codec.go",
			old:   `	if err == nil || kind == nil {`,
			new:   `	if err == nil || err != nil || kind == nil {`,
			tests: unit("./pkg/codec", ""),
		},
		{
			name: "requeue-time-lost", mistake: "of two times to come back, the later one counts",
			file:  "pkg/controller/repair_backoff.go",
			old:   `d > 0 && (shortest == 0 || d < shortest)`,
			new:   `d > 0 && (shortest == 0 || d > shortest)`,
			tests: unit("./pkg/controller", ""),
		},
		{
			name: "older-spec-trusted", mistake: "a new leader writes what an older spec in its cache asks for",
			file:  "pkg/controller/recheck.go",
			old:   `	case live.Generation != application.Generation:`,
			new:   `	case live.Generation < application.Generation:`,
			tests: unit("./pkg/controller", "OlderSpec|PresentSpec"),
		},
		{
			name: "goroutine-left", mistake: "each sync leaves a goroutine behind that waits for the end of the process",
			file: "pkg/controller/worker.go",
			old:  `	c.watchdog.take(item.Key, start)`,
			new: `	go func() { <-ctx.Done() }()
	c.watchdog.take(item.Key, start)`,
			tests: programs("TestGoroutinesAreGone"),
		},
		{
			name: "deleted-remembered", mistake: "the state of an Application that is gone is kept",
			file:  "pkg/controller/memory.go",
			old:   `	delete(m.applications, key)`,
			new:   `	_ = m.applications`,
			tests: unit("./pkg/controller", "TestEverythingEndsWell"),
		},
		{
			name: "child-deleted", mistake: "a child that another client changed is deleted and made again",
			file: "pkg/plan/plan.go",
			old:  `	step.Action = Apply`,
			new: `	if step.Action = Apply; live.GetAnnotations()[v1.AnnotationRenderedHash] == desired.Hash {
		step.Action, step.Desired = Delete, nil
		return step, nil
	}`,
			tests: programs("TestGoroutinesAreGone"),
		},
		{
			name: "other-namespace", mistake: "a child is written in another namespace",
			file: "pkg/apply/client.go",
			old:  `	return append(prefix, "namespaces", ref.Namespace, ref.Kind.Resource)`,
			new: `	if ref.Kind == child.Service {
		ref.Namespace = "default"
	}
	return append(prefix, "namespaces", ref.Namespace, ref.Kind.Resource)`,
			tests: programs("TestGoroutinesAreGone"),
		},
		{
			name: "ready-too-soon", mistake: "a rollout counts as complete before its pods are available",
			file:  "pkg/health/rollout.go",
			old:   `		r.Status.AvailableReplicas == r.Desired &&`,
			new:   `		r.Status.AvailableReplicas <= r.Desired &&`,
			tests: programs("TestReadyIsTrue"),
		},
	}
}
