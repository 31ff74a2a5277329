// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
)

// Tap is a watch whose events pass through a function, which may change or withhold them.
type Tap struct {
	watch.Interface
	result  chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

// NewTap puts the function between a watch and its reader.
func NewTap(inner watch.Interface, through func(watch.Event) (_ watch.Event, deliver bool)) *Tap {
	t := &Tap{Interface: inner, result: make(chan watch.Event), stopped: make(chan struct{})}
	go func() {
		defer close(t.result)
		for event := range inner.ResultChan() {
			event, deliver := through(event)
			if !deliver {
				continue
			}
			select {
			case t.result <- event:
			case <-t.stopped:
				return
			}
		}
	}()
	return t
}

// ResultChan implements [watch.Interface].
func (t *Tap) ResultChan() <-chan watch.Event { return t.result }

// Stop implements [watch.Interface].
func (t *Tap) Stop() {
	t.once.Do(func() { close(t.stopped) })
	t.Interface.Stop()
}

// Expired is the event that an API server sends when its history does not reach back far enough.
func Expired() watch.Event {
	status := apierrors.NewResourceExpired("too old resource version").Status()
	return watch.Event{Type: watch.Error, Object: &status}
}
