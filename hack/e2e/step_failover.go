// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/hack/internal/load"
	"fairlead.dev/fairlead/hack/internal/steps"
	"fairlead.dev/fairlead/pkg/testing/auditlog"
)

// editPeriod is how often the failover tests edit an Application, so that there is always a write to be made.
const editPeriod = 250 * time.Millisecond

// killLeader ends the leader's process as the kernel does when memory runs out.
func (s *story) killLeader(ctx context.Context) error {
	took, err := s.failOver(ctx, func(ctx context.Context, leader string) error {
		pod, err := s.kube.CoreV1().Pods(operatorNamespace).Get(ctx, leader, metav1.GetOptions{})
		if err != nil {
			return err
		}
		pid, err := s.node.PID(ctx, pod.Status.ContainerStatuses[0].ContainerID)
		if err != nil {
			return err
		}
		s.out.Good("kill -9 %d, the process of the leader %s", pid, leader)
		return syscall.Kill(pid, syscall.SIGKILL)
	})
	if err != nil {
		return err
	}
	lease, err := s.leaseDuration(ctx)
	if err != nil {
		return err
	}
	s.figures = append(s.figures, figure{"kill -9 of the leader: until its successor's first write", steps.Duration(took), fmt.Sprintf("G8: at most the lease, %s, + 4 s", lease)})
	if limit := lease + 4*time.Second; took > limit {
		return fmt.Errorf("the successor's first write came after %s, want at most %s", steps.Duration(took), limit)
	}
	_, err = s.awaitOperator(ctx, ofImage(operatorImage))
	return err
}

// endLeader deletes the leader's pod, as a drain or a rollout does: the kubelet sends SIGTERM.
func (s *story) endLeader(ctx context.Context) error {
	took, err := s.failOver(ctx, func(ctx context.Context, leader string) error {
		s.out.Good("kubectl delete pod %s, the leader", leader)
		return s.kube.CoreV1().Pods(operatorNamespace).Delete(ctx, leader, metav1.DeleteOptions{})
	})
	if err != nil {
		return err
	}
	s.figures = append(s.figures, figure{"SIGTERM to the leader: until its successor's first write", steps.Duration(took), "G8: at most 3 s"})
	if limit := 3 * time.Second; took > limit {
		return fmt.Errorf("the successor's first write came after %s, want at most %s", steps.Duration(took), limit)
	}
	_, err = s.awaitOperator(ctx, ofImage(operatorNextImage))
	return err
}

// failOver ends the leader and measures how long it takes until its successor writes to a child. That is the other
// replica, or a container that the kubelet started again in the same pod, if that one is quicker to take the Lease.
func (s *story) failOver(ctx context.Context, end func(ctx context.Context, leader string) error) (took time.Duration, err error) {
	former, err := s.holder(ctx)
	if err != nil {
		return 0, err
	}
	log := auditlog.Log{File: s.options.auditLog()}
	offset, err := log.End()
	if err != nil {
		return 0, err
	}
	edits := s.keepEditing(ctx)
	defer edits.stop()
	// One write by the leader first: so it is at work when it ends.
	err = s.await(ctx, "a write of the leader", func(context.Context) (bool, string, error) {
		writes, _, err := log.Since(offset, isChildWrite)
		return len(writes) > 0, "", err
	})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := end(ctx, former.pod); err != nil {
		return 0, err
	}
	var first auditlog.Event
	err = s.await(ctx, "a write of the successor", func(ctx context.Context) (bool, string, error) {
		now, err := s.holder(ctx)
		if err != nil && !errors.Is(err, errNoLeader) {
			return false, "", err
		}
		again := now.pod == former.pod && now.identity != former.identity
		writes, _, err := log.Since(offset, func(e *auditlog.Event) bool {
			return isChildWrite(e) && (e.Pod != former.pod || again && e.Received.After(now.acquired))
		})
		if len(writes) > 0 {
			first = writes[0]
		}
		return len(writes) > 0, "", err
	})
	edits.stop()
	if err != nil {
		return 0, err
	}
	took = first.Received.Sub(began)
	s.out.Good("%s writes %s after that", first.Pod, steps.Duration(took))
	overlapping, _, err := log.Since(offset, func(e *auditlog.Event) bool {
		return isChildWrite(e) && e.Pod != first.Pod && e.Received.After(first.Received)
	})
	if err != nil {
		return 0, err
	}
	if len(overlapping) > 0 {
		return 0, fmt.Errorf("%d writes of the old leader after the first one of its successor (%s), e.g. %s", len(overlapping), first, overlapping[0])
	}
	s.out.Good("no write of the old leader after that")
	s.out.Measured("%s", edits)
	return took, nil
}

// edits are what a user does meanwhile.
type edits struct {
	stop func()

	mu      sync.Mutex
	made    int
	refused int
	refusal error
}

func (e *edits) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refused == 0 {
		return fmt.Sprintf("%d edits of the Application meanwhile; the webhooks answered each", e.made)
	}
	return fmt.Sprintf("%d edits of the Application meanwhile, and %d refused, e.g.: %v", e.made, e.refused, e.refusal)
}

// keepEditing changes an annotation of the Service through the Application, again and again: each change is one write to
// a child, and starts no pod.
func (s *story) keepEditing(ctx context.Context) *edits {
	e := &edits{}
	e.stop = load.Keep(ctx, 1, editPeriod, func(ctx context.Context) {
		e.record(ctx, s.patch(ctx, fmt.Sprintf(`{"spec":{"service":{"annotations":{"example.com/edit":"%d"}}}}`, time.Now().UnixNano())))
	})
	return e
}

func (e *edits) record(ctx context.Context, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil:
		e.made++
	case ctx.Err() == nil:
		e.refused++
		e.refusal = err
	}
}

// isChildWrite selects the operator's writes to children: not to an Application's status, not Events.
func isChildWrite(e *auditlog.Event) bool {
	return e.IsWrite() && e.Namespace == namespace && e.User == "system:serviceaccount:"+operatorNamespace+":"+operatorName &&
		e.APIGroup != "apps.fairlead.dev" && e.APIGroup != "events.k8s.io"
}

func (s *story) leaseDuration(ctx context.Context) (time.Duration, error) {
	leases, err := s.kube.CoordinationV1().Leases(operatorNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	for _, lease := range leases.Items {
		if seconds := lease.Spec.LeaseDurationSeconds; seconds != nil {
			return time.Duration(*seconds) * time.Second, nil
		}
	}
	return 0, errors.New("the Lease has no duration")
}
