// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// G7: how many changes of Applications a second the controller follows without falling behind.

const (
	// longestWait is how long all but a hundredth of the changes may take until the Deployment has them.
	longestWait = 1000 // ms
	// reached is the share of a rate that must come about for the rate to count.
	reached = 0.95
	// mostChurned is how many Applications change, again and again. It is so many that none of them gets to the end of its
	// revisionHistoryLimit, where a change deletes a revision too: the raw client does not.
	mostChurned = 1000
)

// shares are the rates that are tried, as shares of the raw client's: the highest is looked for by halves.
func shares() []float64 { return []float64{0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1} }

func (b *bench) measureChurn(ctx context.Context, l *lab) error {
	if err := l.changeOnce(ctx); err != nil {
		return fmt.Errorf("first changes: %w", err)
	}
	sample, err := l.anySample(ctx)
	if err != nil {
		return err
	}
	b.progress.step("G7: %d times changes of Applications by the raw client, then at rates up to its rate, each for %s", b.restarts(), b.options.step)
	var floors, best, waits report.Sample
	for range b.restarts() {
		floor, err := l.rawChurn(ctx, sample)
		if err != nil {
			return fmt.Errorf("churn by the raw client: %w", err)
		}
		b.progress.result("the raw client: %.1f a second", floor)
		rate, wait, err := b.highestRate(ctx, l, floor)
		if err != nil {
			return fmt.Errorf("churn: %w", err)
		}
		floors, best, waits = append(floors, floor), append(best, rate), append(waits, wait)
	}
	b.add(report.Row{
		Goal: "G7", What: "changes followed, against the raw client", Unit: "/s", Must: report.AtLeastTimes(0.75), Aim: report.AtLeastTimes(0.9),
		Floor: floors, Measured: best,
		Note: fmt.Sprintf("the highest rate, in steps, at which 99 of 100 changes are in the Deployment within a second; there it took %.0f ms", waits.Median()),
	})
	return nil
}

// highestRate looks for the highest rate, up to the floor, that the controller follows, and returns the p99 of the
// milliseconds that changes waited at it; 0 and 0 if it follows none.
func (b *bench) highestRate(ctx context.Context, l *lab, floor float64) (best, wait float64, err error) {
	err = l.withController(ctx, func(c *controller) error {
		if err := l.awaitRest(ctx, c, l.applications); err != nil {
			return err
		}
		tried := shares()
		for len(tried) > 0 {
			middle := len(tried) / 2
			asked := tried[middle] * floor
			rate, p99, err := l.churn(ctx, c, asked, b.options.step)
			if err != nil {
				return err
			}
			b.progress.result("%.1f a second (%.0f %%): p99 %.0f ms", rate, 100*tried[middle], p99)
			if p99 > longestWait || rate < reached*asked {
				tried = tried[:middle]
				continue
			}
			best, wait, tried = rate, p99, tried[middle+1:]
		}
		return nil
	})
	return best, wait, err
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

// changeOnce has the controller follow a change of each Application that will change. Once in the life of a child that was
// created by POST, the first change converts its managedFields; that is not what churn costs.
func (l *lab) changeOnce(ctx context.Context) error {
	return l.withController(ctx, func(c *controller) error {
		if err := l.awaitRest(ctx, c, l.applications); err != nil {
			return err
		}
		asked, err := l.follow(ctx, fromController)
		if err != nil {
			return err
		}
		if _, err := l.changeEach(ctx, l.churned()); err != nil {
			return err
		}
		return asked.untilCalm(ctx, c.subject, func([]event) bool { return true })
	})
}

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

// churn changes Applications at a rate, and returns the rate that came about and the p99 of the milliseconds until the
// Deployment had the change.
func (l *lab) churn(ctx context.Context, c *controller, rate float64, lasting time.Duration) (cameAbout, p99 float64, err error) {
	asked, err := l.follow(ctx, func(e *event) bool { return measured(e) && e.IsWrite() && e.Code < 300 })
	if err != nil {
		return 0, 0, err
	}
	offset := int(l.changes.Load())
	cameAbout, err = atRate(ctx, rate, lasting, func(ctx context.Context, i int) error {
		_, err := l.changeImage(ctx, l.clients, (offset+i)%l.churned(), l.tag())
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	if err := asked.untilCalm(ctx, c.subject, func([]event) bool { return true }); err != nil {
		return 0, 0, err
	}
	return cameAbout, followed(asked.events).Quantile(0.99), nil
}

// followed are the milliseconds from each change of an Application to its Deployment's.
func followed(events []event) report.Sample {
	return waits(events,
		func(e *event) (string, bool) {
			return e.Namespace + "/" + e.Name, !fromController(e) && e.Target() == v1.ApplicationResource
		},
		func(e *event) (string, bool) {
			return e.Namespace + "/" + e.Name, fromController(e) && e.Resource == "deployments"
		},
	)
}

// rawChurn is how many changes a second the raw client makes and follows by itself, without any pause: the Application,
// the Deployment and the status.
func (l *lab) rawChurn(ctx context.Context, s *sample) (float64, error) {
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
			if err := l.changeAndFollow(ctx, c, s, i); err != nil {
				return err
			}
			done.Add(1)
		}
		return nil
	})
	return float64(done.Load()) / time.Since(began).Seconds(), err
}

// changeAndFollow does what a person and then the controller do for one change.
func (l *lab) changeAndFollow(ctx context.Context, c *clients, s *sample, i int) error {
	changed, err := l.changeImage(ctx, c, i, l.tag())
	if err != nil {
		return err
	}
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
