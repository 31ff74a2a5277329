// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	externalversions "fairlead.dev/fairlead/pkg/generated/informers/externalversions"
	"fairlead.dev/fairlead/pkg/testing/costly"
)

// G12: what a tenant notices of another one that writes the most expensive Applications that can be stored.

const (
	// noisyNamespace is that of the tenant that writes them. It is not among those that are measured.
	noisyNamespace = "noisy"
	// noisyRate is how many of them are changed in a second.
	noisyRate = 10.0
	// normalRate is how many Applications of the other tenants are changed in a second.
	normalRate = 10.0
	// shippedLimit is the limit of memory in artifacts/controller/deployment.yaml, and memoryLimit the GOMEMLIMIT there.
	shippedLimit = 1024 // MiB
	memoryLimit  = "900MiB"
)

// neighbourly is a run: what the tenant that works normally has waited, and what the controller has taken.
type neighbourly struct {
	// waits are the milliseconds from each change to the Deployment's.
	waits report.Sample
	// rate is how many expensive Applications were changed in a second, peak the most memory in MiB.
	rate, peak float64
}

func (b *bench) measureNeighbours(ctx context.Context, l *lab) error {
	b.progress.step("G12: %d times %.0f changes a second for %s, without and with a tenant that changes %.0f of its %d most expensive Applications a second",
		b.rounds(), normalRate, b.options.step, noisyRate, b.options.expensive)
	sample, err := l.anySample(ctx)
	if err != nil {
		return err
	}
	if err := l.makeNoise(ctx); err != nil {
		return err
	}
	kubeconfig, err := l.controlFlow(ctx)
	if err != nil {
		return err
	}
	defer l.endFlowControl()
	var quiet, rawQuiet, raw, noisy, peaks, rates report.Sample
	for range b.rounds() {
		for _, noise := range []float64{0, noisyRate} {
			run, err := l.besideNoise(ctx, noise, kubeconfig)
			if err != nil {
				return err
			}
			p99 := run.waits.Quantile(0.99)
			b.progress.result("%.1f expensive changes a second: median %.0f ms, p99 %.0f ms, peak RSS %.0f MiB", run.rate, run.waits.Median(), p99, run.peak)
			if noise == 0 {
				quiet = append(quiet, p99)
				continue
			}
			noisy, peaks, rates = append(noisy, p99), append(peaks, run.peak), append(rates, run.rate)
		}
		for _, noise := range []float64{0, noisyRate} {
			rate, p99, err := l.rawBesideNoise(ctx, sample, noise)
			if err != nil {
				return err
			}
			b.progress.result("%.1f expensive changes a second, and the raw client instead of the controller: p99 %.0f ms", rate, p99)
			if noise == 0 {
				rawQuiet = append(rawQuiet, p99)
				continue
			}
			raw = append(raw, p99)
		}
	}
	b.add(
		report.Row{
			Goal: "G12", What: "p99 of a change beside a noisy tenant, against a quiet run", Unit: "ms", Must: report.AtMostTimes(2), Aim: report.AtMostTimes(1.2),
			Floor: quiet, Measured: noisy,
			Note: fmt.Sprintf("%.0f changes a second, until the Deployment is written; %.1f expensive ones a second came about", normalRate, rates.Median()),
		},
		report.Row{
			Goal: "G12", What: "the same, against the raw client beside the tenant", Unit: "ms", Must: report.AtMostTimes(2),
			Floor: raw, Measured: noisy,
			Note: "it watches all Applications, as any controller must, and follows the other tenants' alone: this is what the controller makes of the noise",
		},
		report.Row{
			Goal: "G12", What: "the raw client's beside the tenant, against a quiet run of its own", Unit: "ms",
			Floor: rawQuiet, Measured: raw,
			Note: "what the API server makes of the noise where no controller runs",
		},
		report.Row{
			Goal: "G12", What: "peak RSS over the most expensive Applications", Unit: "MiB", Must: report.AtMost(shippedLimit), Measured: peaks,
			Note: fmt.Sprintf("%d of them, from the start of the controller on, with GOMEMLIMIT=%s", b.options.expensive, memoryLimit),
		},
	)
	return nil
}

// makeNoise stores the expensive Applications, while no controller runs.
func (l *lab) makeNoise(ctx context.Context) error {
	if err := l.createNamespace(ctx, noisyNamespace); err != nil {
		return err
	}
	return inParallel(ctx, 4, l.options.expensive, func(ctx context.Context, i int) error {
		if _, err := l.clients.fairlead.AppsV1().Applications(noisyNamespace).Create(ctx, l.expensive(i), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create an expensive Application: %w", err)
		}
		return nil
	})
}

// besideNoise changes Applications at a steady rate beside the noise, and returns what became of it.
func (l *lab) besideNoise(ctx context.Context, noise float64, kubeconfig string) (run neighbourly, err error) {
	err = l.withController(ctx, func(c *controller) error {
		if err := l.awaitRest(ctx, c, l.applications+l.options.expensive); err != nil {
			return err
		}
		// The first time after a start, the controller reads the present Application before it writes. That is no part of the noise.
		if err := l.changeEach(ctx, c); err != nil {
			return err
		}
		if err := l.collectGarbage(ctx); err != nil {
			return err
		}
		asked, err := l.follow(ctx, func(e *event) bool { return measured(e) && isSuccessfulWrite(e) })
		if err != nil {
			return err
		}
		both, changing := errgroup.WithContext(ctx)
		both.Go(func() error {
			_, err := l.changeAtRate(changing, normalRate, func(int, *v1.Application) {})
			return err
		})
		if noise > 0 {
			both.Go(func() error {
				var err error
				run.rate, err = l.disturb(changing, noise)
				return err
			})
		}
		if err := both.Wait(); err != nil {
			return err
		}
		if err := asked.untilCalm(ctx, c.subject, func([]event) bool { return true }); err != nil {
			return err
		}
		run.waits = followed(asked.events, fromController)
		peak, err := c.peak()
		run.peak = float64(peak) / mebibyte
		return err
	}, "--kubeconfig="+kubeconfig)
	return run, err
}

// changeEach changes each of the other tenants' Applications once, and waits until that is done.
func (l *lab) changeEach(ctx context.Context, c *controller) error {
	asked, err := l.follow(ctx, func(e *event) bool { return measured(e) && isSuccessfulWrite(e) })
	if err != nil {
		return err
	}
	err = inParallel(ctx, 1, l.churned(), func(ctx context.Context, i int) error {
		_, err := l.changeImage(ctx, l.users, i, l.tag())
		return err
	})
	if err != nil {
		return err
	}
	return asked.untilCalm(ctx, c.subject, func([]event) bool { return true })
}

// rawBesideNoise has the raw client follow the other tenants' changes beside the noise, while no controller runs. It watches
// all Applications, and does nothing with those of the noisy tenant.
func (l *lab) rawBesideNoise(ctx context.Context, s *sample, noise float64) (rate, p99 float64, err error) {
	watcher, err := l.newClients(rawAgent, l.controller)
	if err != nil {
		return 0, 0, err
	}
	defer watcher.http.CloseIdleConnections()
	factory := externalversions.NewSharedInformerFactory(watcher.fairlead, 0)
	informer := factory.Apps().V1().Applications().Informer()
	watching, stop := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer stop()
	factory.StartWithContext(watching)
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		return 0, 0, err
	}
	both, changing := errgroup.WithContext(ctx)
	both.Go(func() error {
		var err error
		_, p99, err = l.followedByRaw(changing, s, normalRate, delivered(informer.GetStore()))
		return err
	})
	if noise > 0 {
		both.Go(func() error {
			var err error
			rate, err = l.disturb(changing, noise)
			return err
		})
	}
	return rate, p99, both.Wait()
}

// delivered waits until the watch has delivered a change.
func delivered(store cache.Store) noticed {
	return func(ctx context.Context, changed *v1.Application) (seen *v1.Application, err error) {
		err = wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(context.Context) (bool, error) {
			item, _, err := store.Get(changed)
			if err != nil {
				return false, err
			}
			seen, _ = item.(*v1.Application)
			if seen == nil {
				return false, nil
			}
			order, err := resourceversion.CompareResourceVersion(seen.ResourceVersion, changed.ResourceVersion)
			return order >= 0, err
		})
		return seen, err
	}
}

// disturb changes the expensive Applications at a rate, and returns that which came about.
func (l *lab) disturb(ctx context.Context, rate float64) (float64, error) {
	var refused atomic.Int64
	asked, err := atRandomTimes(ctx, rate, l.options.step, func(ctx context.Context, turn int) error {
		err := l.changeExpensive(ctx, turn%l.options.expensive)
		if apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) {
			refused.Add(1) // The API server is as busy as that with them alone.
			return nil
		}
		return err
	})
	return max(0, asked-float64(refused.Load())/l.options.step.Seconds()), err
}

// changeExpensive gives an expensive Application another image: a small request, and much to decode, compare and store. It does not
// decode the answer: a tenant does that on a machine of its own, and here it would take processor time from everybody.
func (l *lab) changeExpensive(ctx context.Context, i int) error {
	patch := fmt.Appendf(nil, `{"spec":{"image":"registry.example.com/web:%s"}}`, l.tag())
	err := l.users.fairlead.AppsV1().RESTClient().Patch(types.MergePatchType).
		Namespace(noisyNamespace).Resource(v1.ApplicationResource).Name(expensiveName(i)).
		VersionedParams(&metav1.PatchOptions{FieldManager: "kubectl-edit"}, metav1.ParameterCodec).Body(patch).Do(ctx).Error()
	if err != nil {
		return fmt.Errorf("change an expensive Application: %w", err)
	}
	return nil
}

// expensive is the i-th of the most expensive Applications that can be stored, each in one of four ways, or one with so many
// variables as the options say.
func (l *lab) expensive(i int) *v1.Application {
	if n := l.options.variables; n > 0 {
		application := newApplication(i)
		application.Namespace, application.Name, application.Spec.Env = noisyNamespace, expensiveName(i), make([]corev1.EnvVar, n)
		for j := range application.Spec.Env {
			application.Spec.Env[j] = corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", j), Value: "x"}
		}
		return application
	}
	ways := []string{"config", "routes", "env", "affinity"}
	spec := costly.Specs(fmt.Sprintf("n%d.noisy.example.com", i))[ways[i%len(ways)]]
	spec.RevisionHistoryLimit = new(int32(100))
	return &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: noisyNamespace, Name: expensiveName(i)}, Spec: spec}
}

func expensiveName(i int) string { return fmt.Sprintf("noisy-%03d", i) }
