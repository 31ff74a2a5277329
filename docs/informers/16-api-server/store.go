// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// store is the memory. Its version is the number of changes, all of which it keeps. A real one forgets, and answers 410.
type store struct {
	mu       sync.Mutex
	sessions map[cache.ObjectName]*session
	changes  []change
	more     chan struct{} // closed at the next change
}

// change is one event of a watch.
type change struct {
	kind watch.EventType
	*Session
}

// session is a Session with its streams.
type session struct {
	*Session
	streams int
	ending  chan struct{} // closed when the deletion begins
	ended   chan struct{} // closed when the session is gone
	timer   *time.Timer   // of the grace period
}

func newStore() *store {
	return &store{sessions: map[cache.ObjectName]*session{}, more: make(chan struct{})}
}

// record gives the object the next version. Objects that it has recorded never change.
func (s *store) record(kind watch.EventType, object *Session) {
	object.ResourceVersion = strconv.Itoa(len(s.changes) + 1)
	s.changes = append(s.changes, change{kind, object})
	close(s.more)
	s.more = make(chan struct{})
}

func (s *store) since(version int) ([]change, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes[min(version, len(s.changes)):], s.more
}

func (s *store) create(object *Session) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := cache.MetaObjectToName(object)
	if s.sessions[name] != nil {
		return nil, apierrors.NewAlreadyExists(resource(), name.Name)
	}
	s.record(watch.Added, object)
	s.sessions[name] = &session{Session: object, ending: make(chan struct{}), ended: make(chan struct{})}
	return object.copied(), nil
}

func (s *store) find(name cache.ObjectName) (*session, error) {
	if found := s.sessions[name]; found != nil {
		return found, nil
	}
	return nil, apierrors.NewNotFound(resource(), name.Name)
}

func (s *store) get(name cache.ObjectName) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.find(name)
	if err != nil {
		return nil, err
	}
	return found.copied(), nil
}

func (s *store) list(matches func(*Session) bool) ([]Session, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []Session{}
	for _, session := range s.sessions {
		if matches(session.Session) {
			found = append(found, *session.copied())
		}
	}
	slices.SortFunc(found, func(a, b Session) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return found, len(s.changes)
}

// delete removes a session, or begins to. prepare changes the copy that it gets to what the session becomes.
func (s *store) delete(name cache.ObjectName, prepare func(_ *Session, streams int) (graceful, pending bool, err error)) (runtime.Object, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.find(name)
	if err != nil {
		return nil, false, err
	}
	changed := found.copied()
	graceful, pending, err := prepare(changed, found.streams)
	switch {
	case err != nil:
		return nil, false, err
	case pending:
		return changed, false, nil
	case !graceful:
		return s.remove(name, found), true, nil
	}
	if found.DeletionTimestamp == nil {
		close(found.ending)
	} else {
		found.timer.Stop() // The period is shorter now.
	}
	s.record(watch.Modified, changed)
	found.Session = changed
	found.timer = time.AfterFunc(time.Until(changed.DeletionTimestamp.Time), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.sessions[name] == found {
			s.remove(name, found)
		}
	})
	return changed.copied(), false, nil
}

// remove ends what is left of a session.
func (s *store) remove(name cache.ObjectName, gone *session) *Session {
	last := gone.copied()
	s.record(watch.Deleted, last)
	delete(s.sessions, name)
	close(gone.ended)
	return last.copied()
}

// open counts a stream of a session. A session that is ending takes no new ones.
func (s *store) open(name cache.ObjectName) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.find(name)
	if err != nil {
		return nil, err
	}
	if found.DeletionTimestamp != nil {
		return nil, apierrors.NewConflict(resource(), name.Name, errors.New("the session is ending"))
	}
	found.streams++
	return found, nil
}

// closed is called at the end of a stream. The last stream to end completes the deletion of its session.
func (s *store) closed(name cache.ObjectName, of *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of.streams--
	if of.streams == 0 && of.DeletionTimestamp != nil && s.sessions[name] == of {
		of.timer.Stop()
		s.remove(name, of)
	}
}

func labelsOf(session *Session) labels.Set { return session.Labels }
