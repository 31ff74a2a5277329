// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/class"
	appsclient "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/apps/v1"
	"fairlead.dev/fairlead/pkg/informer"
)

// classCountDelay is how long changes of Applications are gathered before those of a class are
// counted, so that a class of 10,000 that is rolled out costs a write every few seconds, not 10,000.
const classCountDelay = 2 * time.Second

// classStatuses writes what the classes say about their Applications. It has a queue of its own: a
// count is nothing that a sync should wait for. Its keys are names of classes, or noClass.
type classStatuses struct {
	informers *informer.Informers
	client    appsclient.ApplicationClassesGetter
	queue     workqueue.TypedRateLimitingInterface[string]
}

var _ informer.ApplicationHandler = (*classStatuses)(nil)

func newClassStatuses(informers *informer.Informers, client appsclient.ApplicationClassesGetter) *classStatuses {
	return &classStatuses{
		informers: informers,
		client:    client,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: v1.ApplicationClassResource}),
	}
}

// handle registers what makes the classes count, and what they do to their Applications.
func (s *classStatuses) handle(enqueue func(cache.ObjectName, Trigger)) ([]cache.DoneChecker, error) {
	classes, err := s.informers.HandleClasses(&classHandlers{informers: s.informers, enqueue: enqueue, statuses: s})
	if err != nil {
		return nil, err
	}
	applications, err := s.informers.HandleApplications(s)
	return append(applications, classes...), err
}

// later counts the Applications of a class, once changes have been gathered.
func (s *classStatuses) later(name string) { s.queue.AddAfter(name, classCountDelay) }

// all counts those of every class.
func (s *classStatuses) all() {
	classes, err := s.informers.Classes()
	if err != nil {
		return // A cache of classes has nothing but classes.
	}
	for _, class := range classes {
		s.later(class.Name)
	}
}

// OnAdd counts a new Application. Those of the list at the start are counted with their class.
func (s *classStatuses) OnAdd(application *v1.Application, initialList bool) {
	if !initialList {
		s.later(application.Spec.ClassName)
	}
}

// OnUpdate counts again what now counts differently.
func (s *classStatuses) OnUpdate(before, after *v1.Application) {
	if counted(before) != counted(after) {
		s.later(before.Spec.ClassName)
		s.later(after.Spec.ClassName)
	}
}

// OnDelete counts without the Application.
func (s *classStatuses) OnDelete(deleted cache.DeletedObject[*v1.Application]) {
	if deleted.OptionalObj != nil {
		s.later(deleted.OptionalObj.Spec.ClassName)
	}
}

// counts is what a class looks at in its Applications.
type counts struct {
	class, applied              string
	generation                  int64
	stalled, suspended, deleted bool
}

func counted(application *v1.Application) counts {
	c := counts{
		class:     application.Spec.ClassName,
		stalled:   meta.IsStatusConditionTrue(application.Status.Conditions, v1.ConditionStalled),
		suspended: application.Spec.ReconcilePolicy == v1.ReconcileSuspend,
		deleted:   application.DeletionTimestamp != nil,
	}
	if applied := application.Status.Class; applied != nil {
		c.applied, c.generation = applied.Name, applied.Generation
	}
	return c
}

// work counts and writes until ctx ends. A write runs under syncs, as those of a sync do.
func (s *classStatuses) work(ctx, syncs context.Context) {
	stop := context.AfterFunc(ctx, s.queue.ShutDown)
	defer stop()
	for {
		name, shutdown := s.queue.Get()
		if shutdown {
			return
		}
		if ctx.Err() == nil {
			s.settle(syncs, name, s.write(syncs, name))
		}
		s.queue.Done(name)
	}
}

// settle tries again later what failed. A conflict is no failure: the class changed, and comes back.
func (s *classStatuses) settle(ctx context.Context, name string, err error) {
	switch {
	case err == nil:
		s.queue.Forget(name)
		return
	case apierrors.IsConflict(err), ctx.Err() != nil:
	default:
		klog.FromContext(ctx).Error(err, "Status of the class was not written; trying again later", "applicationClass", klog.KRef("", name))
	}
	s.queue.AddRateLimited(name)
}

// write counts the Applications of a class and writes its status, if that changed.
func (s *classStatuses) write(ctx context.Context, name string) error {
	if !s.informers.SeesAllNamespaces() {
		return nil // It would count some of the Applications, and contradict who counts the others.
	}
	subject, chosen, err := s.find(name)
	if err != nil || subject == nil {
		return err
	}
	applications, err := s.informers.OfClass(subject.Name)
	if err != nil {
		return err
	}
	if chosen != nil && chosen.Name == subject.Name {
		others, err := s.informers.OfClass(noClass)
		if err != nil {
			return err
		}
		applications = append(applications, others...)
	}
	next := class.Status(subject, class.Count(subject, applications), chosen, time.Now())
	if equality.Semantic.DeepEqual(subject.Status, next) {
		return nil
	}
	updated := subject.DeepCopy()
	updated.Status = next
	_, err = s.client.ApplicationClasses().UpdateStatus(ctx, updated, metav1.UpdateOptions{FieldManager: apply.FieldManager})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("update status of ApplicationClass: %w", err)
	}
	return nil
}

// find returns the class of that name, nil if there is none, and the default class.
func (s *classStatuses) find(name string) (subject, chosen *v1.ApplicationClass, err error) {
	classes, err := s.informers.Classes()
	if err != nil {
		return nil, nil, fmt.Errorf("list ApplicationClasses: %w", err)
	}
	chosen = class.Default(classes)
	if name == noClass {
		return chosen, chosen, nil
	}
	for _, candidate := range classes {
		if candidate.Name == name {
			return candidate, chosen, nil
		}
	}
	return nil, chosen, nil
}
