// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// sea is the namespace of the lab and the controller in it, which can be stopped and started.
type sea struct {
	lab    *lab.Lab
	maps   typedcore.ConfigMapInterface
	writes chan string
	// failures has the first refusal of a sync to touch a foreign object.
	failures chan string
	fails    atomic.Int64
	stop     func()
}

// panics is the number of failures left at which a sync panics.
const panics = 3

// Lab lets a controller miss events, lose its copy, and fail.
func Lab(ctx context.Context, l *lab.Lab) error {
	s := &sea{lab: l, maps: l.Client.CoreV1().ConfigMaps(l.Namespace), writes: make(chan string, 100), failures: make(chan string, 1), stop: func() {}}
	defer func() { s.stop() }()

	l.Step("five edits before the workers start: five events, one key, one write")
	if err := s.edit(ctx, "1", "2", "3", "4", "5"); err != nil {
		return err
	}
	if err := s.start(ctx); err != nil {
		return err
	}
	if err := s.see(ctx, "create ida-copy, length 5"); err != nil {
		return err
	}

	l.Step("an edit while it runs")
	if err := s.edit(ctx, "6"); err != nil {
		return err
	}
	if err := s.see(ctx, "update ida-copy, length 6"); err != nil {
		return err
	}

	l.Step("a user deletes the copy: its owner's key is queued")
	if err := s.maps.Delete(ctx, "ida-copy", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := s.see(ctx, "create ida-copy, length 6"); err != nil {
		return err
	}

	l.Step("the controller stops, misses an edit and a deletion, and starts again")
	s.stop()
	if err := s.edit(ctx, "7"); err != nil {
		return err
	}
	if err := s.maps.Delete(ctx, "ida-copy", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := s.start(ctx); err != nil {
		return err
	}
	if err := s.see(ctx, "create ida-copy, length 7"); err != nil {
		return err
	}

	if err := s.tamper(ctx); err != nil {
		return err
	}

	l.Step("three syncs fail, the first of them with a panic; the key is not lost")
	s.fails.Store(panics)
	if err := s.edit(ctx, "8"); err != nil {
		return err
	}
	if err := s.see(ctx, "update ida-copy, length 8"); err != nil {
		return err
	}
	l.Say("failures left: %d", s.fails.Load())

	l.Step("the label is removed: the copy goes too")
	if _, err := s.maps.Patch(ctx, "ida", types.MergePatchType, []byte(`{"metadata":{"labels":null}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	if err := s.see(ctx, "delete ida-copy, length 8"); err != nil {
		return err
	}
	s.stop()
	l.Say("other writes: %d", len(s.writes))
	return nil
}

// tamper changes the copy where a careless controller does not look: beside the field that changes most, and in its metadata.
func (s *sea) tamper(ctx context.Context) error {
	s.lab.Step("a user adds sails to the copy and leaves its length alone")
	if _, err := s.maps.Patch(ctx, "ida-copy", types.MergePatchType, []byte(`{"data":{"sails":"black"}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	if err := s.see(ctx, "update ida-copy, length 7"); err != nil {
		return err
	}

	s.lab.Step("a user removes the owner reference: the former owner's key is queued, and its sync leaves the foreign object alone")
	if _, err := s.maps.Patch(ctx, "ida-copy", types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	failure, err := lab.Receive(ctx, "the failure", s.failures)
	if err != nil {
		return err
	}
	s.lab.Say("error:  %s", failure)
	if err := s.maps.Delete(ctx, "ida-copy", metav1.DeleteOptions{}); err != nil {
		return err
	}
	s.lab.Say("the foreign object is deleted; the key comes back after its back-off")
	return s.see(ctx, "create ida-copy, length 7")
}

// start runs a new controller, as a new process would.
func (s *sea) start(ctx context.Context) error {
	c, err := New(s.lab.Client, s.lab.Namespace)
	if err != nil {
		return err
	}
	c.onWrite = func(verb string, written *corev1.ConfigMap) {
		s.writes <- fmt.Sprintf("%s %s, length %s", verb, written.Name, written.Data["length"])
	}
	c.beforeSync = func() error {
		if left := s.fails.Load(); left > 0 && s.fails.CompareAndSwap(left, left-1) {
			if left == panics {
				panic("broken")
			}
			return errors.New("broken " + strconv.FormatInt(left, 10))
		}
		return nil
	}
	c.onError = func(err error) {
		if strings.Contains(err.Error(), "not controlled") {
			select {
			case s.failures <- err.Error():
			default: // A repetition.
			}
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running wait.Group
	running.StartWithContext(ctx, c.Run)
	s.stop = func() {
		cancel()
		running.Wait()
	}
	return nil
}

// edit gives ida each of the lengths, one after the other.
func (s *sea) edit(ctx context.Context, lengths ...string) error {
	for _, length := range lengths {
		ida := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "ida", Labels: map[string]string{wantsCopy: ""}},
			Data:       map[string]string{"length": length},
		}
		var err error
		if length == "1" {
			_, err = s.maps.Create(ctx, ida, metav1.CreateOptions{})
		} else {
			_, err = s.maps.Update(ctx, ida, metav1.UpdateOptions{})
		}
		if err != nil {
			return err
		}
	}
	s.lab.Say("edited: %v", lengths)
	return nil
}

// see waits for the next write, which must be this one.
func (s *sea) see(ctx context.Context, want string) error {
	got, err := lab.Receive(ctx, want, s.writes)
	if err != nil {
		return err
	}
	s.lab.Say("wrote:  %s", got)
	if got != want {
		return fmt.Errorf("the controller wrote %q instead of %q", got, want)
	}
	return nil
}
