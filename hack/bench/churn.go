// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// G7: how many changes of Applications a second are followed without falling behind, by the controller and by the raw
// client.

const (
	// longestWait is how long all but a hundredth of the changes may take until the Deployment has them.
	longestWait = 1000 // ms
	// reached is the share of a rate that must come about for the rate to count.
	reached = 0.95
	// mostChurned is how many Applications change, again and again: so many that at one rate few change more than twice.
	mostChurned = 1000
)

func (b *bench) measureChurn(ctx context.Context, l *lab) error {
	sample, err := l.anySample(ctx)
	if err != nil {
		return err
	}
	b.progress.step("G7: %d times changes of Applications at rising rates, each for %s, followed by the raw client and by the controller", b.rounds(), b.options.step)
	var floors, best, waits report.Sample
	for range b.rounds() {
		most, err := l.changesWithoutPause(ctx, sample)
		if err != nil {
			return fmt.Errorf("changes without a pause: %w", err)
		}
		b.progress.result("without a pause between them, the raw client makes and follows %.1f a second", most)
		raw := follower{name: "the raw client", follow: func(ctx context.Context, rate float64) (float64, float64, error) {
			return l.followedByRaw(ctx, sample, rate, asReturned)
		}}
		controller := follower{name: "the controller", follow: l.followedByController}
		if err := b.highestRates(ctx, l, most, &raw, &controller); err != nil {
			return err
		}
		floors, best, waits = append(floors, raw.search.best), append(best, controller.search.best), append(waits, controller.search.wait)
	}
	b.add(report.Row{
		Goal: "G7", What: "changes followed, against the raw client", Unit: "/s", Must: report.AtLeastTimes(0.75), Aim: report.AtLeastTimes(0.9),
		Floor: floors, Measured: best,
		Note: fmt.Sprintf("the highest rate, in steps, at which 99 of 100 changes are in the Deployment within a second; there it took %.0f ms", waits.Median()),
	})
	return nil
}

// follower is one of the two that follow changes.
type follower struct {
	name string
	// follow changes Applications at a rate for a while, and returns the rate that came about, and the p99 of the
	// milliseconds that the changes waited.
	follow func(ctx context.Context, rate float64) (cameAbout, p99 float64, err error)
	search rateSearch
}

// highestRates looks for the highest rate of each, as shares of another rate. They take turns: a machine that is slow for
// a minute is so for both.
func (b *bench) highestRates(ctx context.Context, l *lab, most float64, followers ...*follower) error {
	for _, f := range followers {
		f.search = newRateSearch()
	}
	for found := false; !found; {
		found = true
		for _, f := range followers {
			share, untried := f.search.next()
			if !untried {
				continue
			}
			found = false
			if err := l.trimHistory(ctx); err != nil {
				return err
			}
			rate, p99, err := f.follow(ctx, share*most)
			if err != nil {
				return fmt.Errorf("churn followed by %s: %w", f.name, err)
			}
			b.progress.result("%s, %.1f a second (%.0f %%): p99 %.0f ms", f.name, rate, 100*share, p99)
			f.search.tried(rate, p99, p99 <= longestWait && rate >= reached*share*most)
		}
	}
	return nil
}

// trimHistory deletes the revisions that no Deployment has. Where an Application is at the end of its
// revisionHistoryLimit, each change deletes a revision too: the raw client does not.
func (l *lab) trimHistory(ctx context.Context) error {
	deployments, err := l.clients.kube.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list Deployments: %w", err)
	}
	current := make(map[cache.ObjectName]bool, len(deployments.Items))
	for _, d := range deployments.Items {
		current[cache.NewObjectName(d.Namespace, d.Annotations[v1.AnnotationRevision])] = true
	}
	revisions, err := l.clients.kube.AppsV1().ControllerRevisions(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list ControllerRevisions: %w", err)
	}
	old := slices.DeleteFunc(revisions.Items, func(r appsv1.ControllerRevision) bool {
		return current[cache.MetaObjectToName(&r)]
	})
	return inParallel(ctx, l.options.workers, len(old), func(ctx context.Context, i int) error {
		return l.clients.kube.AppsV1().ControllerRevisions(old[i].Namespace).Delete(ctx, old[i].Name, metav1.DeleteOptions{})
	})
}

// followedByController starts the controller, and lets it come to rest before.
func (l *lab) followedByController(ctx context.Context, rate float64) (cameAbout, p99 float64, err error) {
	err = l.withController(ctx, func(c *controller) error {
		if err := l.awaitRest(ctx, c, l.applications); err != nil {
			return err
		}
		if err := l.collectGarbage(ctx); err != nil {
			return err
		}
		asked, err := l.follow(ctx, isSuccessfulWrite)
		if err != nil {
			return err
		}
		if cameAbout, err = l.changeAtRate(ctx, rate, func(int, *v1.Application) {}); err != nil {
			return err
		}
		err = asked.untilCalm(ctx, c.subject, func([]event) bool { return true })
		p99 = followed(asked.events, fromController).Quantile(0.99)
		return err
	})
	return cameAbout, p99, err
}

// noticed returns an Application once the raw client has it as changed, or a later one.
type noticed func(ctx context.Context, changed *v1.Application) (*v1.Application, error)

// asReturned takes the answer to the change itself, so that no watch is waited for.
func asReturned(_ context.Context, changed *v1.Application) (*v1.Application, error) {
	return changed, nil
}

// followedByRaw lets the raw client follow. As many changes are followed at once as the controller has workers, and each
// Application by one of them at a time.
func (l *lab) followedByRaw(ctx context.Context, s *sample, rate float64, notice noticed) (cameAbout, p99 float64, err error) {
	r, err := l.newRaw(s.connections)
	if err != nil {
		return 0, 0, err
	}
	defer r.close()
	if err := l.collectGarbage(ctx); err != nil {
		return 0, 0, err
	}
	asked, err := l.follow(ctx, isSuccessfulWrite)
	if err != nil {
		return 0, 0, err
	}
	workers := make([]sync.Mutex, r.workers)
	following, followCtx := errgroup.WithContext(ctx)
	cameAbout, err = l.changeAtRate(followCtx, rate, func(i int, changed *v1.Application) {
		following.Go(func() error {
			worker := i % len(workers)
			workers[worker].Lock()
			defer workers[worker].Unlock()
			seen, err := notice(followCtx, changed)
			if err != nil {
				return err
			}
			err = l.followChange(followCtx, r.connections[worker%len(r.connections)], s, seen)
			if apierrors.IsConflict(err) {
				return nil // It has been changed again meanwhile; that change's status follows.
			}
			return err
		})
	})
	// If one could not be followed, that is why no more were changed.
	if err := cmp.Or(following.Wait(), err); err != nil {
		return 0, 0, err
	}
	events, err := asked.all(ctx)
	return cameAbout, followed(events, fromRaw).Quantile(0.99), err
}

// anySample is one of the settled Applications, to make status of.
func (l *lab) anySample(ctx context.Context) (*sample, error) {
	wanted := newApplication(1)
	live, err := l.clients.fairlead.AppsV1().Applications(wanted.Namespace).Get(ctx, wanted.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	status, err := json.Marshal(live.Status)
	return &sample{application: live, status: status, connections: l.connections}, err
}

// churned is how many of the Applications change.
func (l *lab) churned() int { return min(l.applications, mostChurned) }

// changeImage gives an Application another image, and returns it as it is then.
func (l *lab) changeImage(ctx context.Context, c *clients, i int, tag string) (*v1.Application, error) {
	application := newApplication(i)
	patch := fmt.Appendf(nil, `{"spec":{"image":"registry.example.com/web:%s"}}`, tag)
	changed, err := c.fairlead.AppsV1().Applications(application.Namespace).
		Patch(ctx, application.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-edit"})
	if err != nil {
		return nil, fmt.Errorf("change Application %s/%s: %w", application.Namespace, application.Name, err)
	}
	return changed, nil
}

// tag is a new one each time, and none that an Application began with.
func (l *lab) tag() string { return "2." + strconv.FormatInt(l.changes.Add(1), 10) }

// changeAtRate changes Applications, calls follow for each, and returns the rate that came about.
func (l *lab) changeAtRate(ctx context.Context, rate float64, follow func(i int, changed *v1.Application)) (float64, error) {
	offset := int(l.changes.Load())
	return atRandomTimes(ctx, rate, l.options.step, func(ctx context.Context, turn int) error {
		i := (offset + turn) % l.churned()
		changed, err := l.changeImage(ctx, l.users, i, l.tag())
		if err != nil {
			return err
		}
		follow(i, changed)
		return nil
	})
}

// followed are the milliseconds from each change of an Application to its Deployment's.
func followed(events []event, by func(*event) bool) report.Sample {
	return waits(events,
		func(e *event) (string, bool) {
			return e.Namespace + "/" + e.Name, !by(e) && e.Target() == v1.ApplicationResource
		},
		func(e *event) (string, bool) { return e.Namespace + "/" + e.Name, by(e) && e.Resource == "deployments" },
	)
}

// changesWithoutPause is how many changes a second the raw client makes and follows, each as soon as the one
// before is done: the Application, the revision, the Deployment and the status.
func (l *lab) changesWithoutPause(ctx context.Context, s *sample) (float64, error) {
	r, err := l.newRaw(s.connections)
	if err != nil {
		return 0, err
	}
	defer r.close()
	var done atomic.Int64
	began := time.Now()
	// Each worker has Applications of its own, as no two workers of the controller are ever at the same one.
	workers := min(r.workers, l.churned())
	err = inParallel(ctx, workers, workers, func(ctx context.Context, worker int) error {
		c := r.connections[worker%len(r.connections)]
		for i := worker; time.Since(began) < l.options.step; i += workers {
			if i >= l.churned() {
				i = worker
			}
			changed, err := l.changeImage(ctx, c, i, l.tag())
			if err != nil {
				return err
			}
			if err := l.followChange(ctx, c, s, changed); err != nil {
				return err
			}
			done.Add(1)
		}
		return nil
	})
	return float64(done.Load()) / time.Since(began).Seconds(), err
}

// followChange does what the controller does for a change of the image.
func (l *lab) followChange(ctx context.Context, c *clients, s *sample, changed *v1.Application) error {
	bundles, err := s.bundles([]*v1.Application{changed})
	if err != nil {
		return err
	}
	return bundles[0].follow(ctx, c)
}

// follow writes what a change of the image changes: a new revision, the Deployment and the status.
func (b *bundle) follow(ctx context.Context, c *clients) error {
	for _, o := range b.children {
		how := serverSideApply
		switch o.ref.Kind {
		case child.ControllerRevision:
			how = post
		case child.Deployment:
		default:
			continue
		}
		if err := how(ctx, c.children, o); err != nil {
			return fmt.Errorf("write %s: %w", o.ref, err)
		}
	}
	return c.writeStatus(ctx, b.owner, b.status)
}
