// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	clientworkqueue "k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/class"
	appsclient "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/apps/v1"
	"fairlead.dev/fairlead/pkg/informer"
)

// classCountDelay is how long changes of Applications are batched before their class counts them, so that the rollout of
// a class with 10,000 Applications costs a write every few seconds, not 10,000.
const classCountDelay = 2 * time.Second

// classStatuses writes the status of the classes. It has its own queue, so that no sync waits for a count. The keys are
// names of classes, or noClass.
type classStatuses struct {
	informers *informer.Informers
	client    appsclient.ApplicationClassesGetter
	queue     clientworkqueue.TypedRateLimitingInterface[string]
	now       func() time.Time
}

var _ informer.ApplicationHandler = (*classStatuses)(nil)

func newClassStatuses(informers *informer.Informers, client appsclient.ApplicationClassesGetter, now func() time.Time) *classStatuses {
	return &classStatuses{
		informers: informers,
		client:    client,
		now:       now,
		queue: clientworkqueue.NewTypedRateLimitingQueueWithConfig(
			clientworkqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
			clientworkqueue.TypedRateLimitingQueueConfig[string]{Name: v1.ApplicationClassResource}),
	}
}

// handle registers the handlers of the classes and of their Applications.
func (s *classStatuses) handle(claimants claimants) ([]cache.DoneChecker, error) {
	classes, err := s.informers.HandleClasses(&classHandlers{informers: s.informers, claimants: claimants, enqueue: claimants.enqueue, statuses: s})
	if err != nil {
		return nil, err
	}
	namespaces, err := s.informers.HandleNamespaces(&namespaceHandlers{
		informers: s.informers, claimants: claimants, enqueue: claimants.enqueue, statuses: s,
	})
	if err != nil {
		return nil, err
	}
	applications, err := s.informers.HandleApplications(s)
	return slices.Concat(applications, classes, namespaces), err
}

// later queues the class for a count after classCountDelay.
func (s *classStatuses) later(name string) { s.queue.AddAfter(name, classCountDelay) }

// all queues every class.
func (s *classStatuses) all() {
	classes, err := s.informers.Classes()
	if err != nil {
		return // Cannot happen: the cache has only classes.
	}
	for _, class := range classes {
		s.later(class.Name)
	}
}

// OnAdd counts a new Application. Those in the initial list are counted with their class.
func (s *classStatuses) OnAdd(application *v1.Application, initialList bool) {
	if !initialList {
		s.later(application.Spec.ClassName)
	}
}

// OnUpdate counts the classes of an Application again if one of its counts changed.
func (s *classStatuses) OnUpdate(before, after *v1.Application) {
	if counted(before) != counted(after) {
		s.later(before.Spec.ClassName)
		s.later(after.Spec.ClassName)
	}
}

// OnDelete counts the class without the Application.
func (s *classStatuses) OnDelete(deleted cache.DeletedObject[*v1.Application]) {
	if deleted.OptionalObj != nil {
		s.later(deleted.OptionalObj.Spec.ClassName)
	}
}

// counts is the part of an Application that its class counts.
type counts struct {
	class, applied, refused       string
	generation, refusedGeneration int64
	// stalled is the reason of the condition Stalled, or "".
	stalled string
	// held is what class.Held returns.
	held    string
	deleted bool
}

func counted(application *v1.Application) counts {
	c := counts{
		class:   application.Spec.ClassName,
		held:    class.Held(application),
		deleted: application.DeletionTimestamp != nil,
	}
	if stalled := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionStalled); stalled != nil && stalled.Status == metav1.ConditionTrue {
		c.stalled = stalled.Reason
	}
	if refused := application.Status.RefusedClass; refused != nil {
		c.refused, c.refusedGeneration = refused.Name, refused.Generation
	}
	if applied := application.Status.Class; applied != nil {
		c.applied, c.generation = applied.Name, applied.Generation
	}
	return c
}

// work counts and writes until ctx ends. A write runs under syncs, as the writes of a sync do.
func (s *classStatuses) work(ctx, syncs context.Context) {
	stop := context.AfterFunc(ctx, s.queue.ShutDown)
	defer stop()
	for {
		name, shutdown := s.queue.Get()
		if shutdown {
			return
		}
		if ctx.Err() == nil {
			s.handleError(syncs, name, s.write(syncs, name))
		}
		s.queue.Done(name)
	}
}

// handleError retries a failed count. A conflict is no error: the class changed, and its event follows. Nor is a stale
// cache.
func (s *classStatuses) handleError(ctx context.Context, name string, err error) {
	switch {
	case err == nil:
		s.queue.Forget(name)
		return
	case apierrors.IsConflict(err), errors.Is(err, errNamespaceNotCached), ctx.Err() != nil:
	default:
		klog.FromContext(ctx).Error(err, "Writing the status of a class failed; requeueing with backoff", "applicationClass", klog.KRef("", name))
	}
	s.queue.AddRateLimited(name)
}

// write counts the Applications of a class and writes its status, if that changed. For noClass it does so for every
// class that may be their default.
func (s *classStatuses) write(ctx context.Context, name string) error {
	if !s.informers.SeesAllNamespaces() {
		return nil // Its counts would miss Applications of other namespaces.
	}
	classes, err := s.informers.Classes()
	if err != nil {
		return fmt.Errorf("list ApplicationClasses: %w", err)
	}
	var failed []error
	for _, subject := range classes {
		if subject.Name == name || name == noClass && class.IsMarkedDefault(subject) {
			failed = append(failed, s.writeOne(ctx, subject, classes))
		}
	}
	return errors.Join(failed...)
}

func (s *classStatuses) writeOne(ctx context.Context, subject *v1.ApplicationClass, classes []*v1.ApplicationClass) error {
	applications, err := s.informers.OfClass(subject.Name)
	if err != nil {
		return err
	}
	byDefault, err := s.byDefault(subject, classes)
	if err != nil {
		return err
	}
	usage := class.Count(subject, append(applications, byDefault...))
	next := class.Status(subject, usage, class.InsteadOf(subject, classes), s.now())
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

// byDefault returns the Applications that name no class and have this one, because it is the default of their namespace.
func (s *classStatuses) byDefault(subject *v1.ApplicationClass, classes []*v1.ApplicationClass) ([]*v1.Application, error) {
	if !class.IsMarkedDefault(subject) {
		return nil, nil
	}
	unnamed, err := s.informers.OfClass(noClass)
	if err != nil {
		return nil, err
	}
	isDefault := map[string]bool{} // by namespace
	var found []*v1.Application
	for _, application := range unnamed {
		is, known := isDefault[application.Namespace]
		if !known {
			namespace, err := namespaceOf(s.informers, application.Namespace, classes)
			if err != nil {
				return nil, err
			}
			chosen, _ := class.Default(classes, namespace)
			is = chosen == subject
			isDefault[application.Namespace] = is
		}
		if is {
			found = append(found, application)
		}
	}
	return found, nil
}
