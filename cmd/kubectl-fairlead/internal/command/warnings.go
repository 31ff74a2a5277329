// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// warnings prints what the API server warns of, and keeps it: a command need not say the same in other words.
type warnings struct {
	rest.WarningHandler
	mu   sync.Mutex
	said []string
	// about names the Application that the answers are about, where a command asks about several; else "".
	about string
	// muted are the beginnings of warnings that are not printed.
	muted []string
}

// HandleWarningHeader prints one warning of an answer.
func (w *warnings) HandleWarningHeader(code int, agent, text string) {
	w.mu.Lock()
	w.said = append(w.said, text)
	isMuted := slices.ContainsFunc(w.muted, func(beginning string) bool { return strings.HasPrefix(text, beginning) })
	if w.about != "" {
		text = w.about + ": " + text
	}
	w.mu.Unlock()
	if isMuted {
		return
	}
	w.WarningHandler.HandleWarningHeader(code, agent, text)
}

// name puts a name before each warning from now on.
func (w *warnings) name(about string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.about = about
}

// forget begins another edit.
func (w *warnings) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said, w.muted = nil, nil
}

// mute leaves out warnings with these beginnings, until the next edit.
func (w *warnings) mute(beginnings ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.muted = append(w.muted, beginnings...)
}

// has reports whether the API server has said this since then.
func (w *warnings) has(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.said, func(warning string) bool { return strings.Contains(warning, text) })
}
