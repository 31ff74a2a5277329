// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// worldLabel is the profiler's label of all goroutines of the controllers of one namespace.
const worldLabel = "chaos-namespace"

// labelled runs a controller so that its goroutines, and those that they start, can be counted.
func (w *world) labelled(ctx context.Context, run func(context.Context)) {
	pprof.Do(ctx, pprof.Labels(worldLabel, w.namespace), run)
}

// records are those of a goroutine profile: how many goroutines have one stack.
var records = regexp.MustCompile(`(?m)^(\d+) @ .*\n# labels: \{(.*)\}\n((?:#.*\n)*)`)

// goroutines counts the goroutines of the controllers, and tells what they do, the most frequent first.
func (w *world) goroutines() (count int, what []string, err error) {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return 0, nil, err
	}
	for _, record := range records.FindAllStringSubmatch(profile.String(), -1) {
		if !strings.Contains(record[2], fmt.Sprintf("%q:%q", worldLabel, w.namespace)) {
			continue
		}
		number, err := strconv.Atoi(record[1])
		if err != nil {
			return 0, nil, err
		}
		count += number
		what = append(what, fmt.Sprintf("%4d in %s", number, strings.Join(functions.FindAllString(record[3], -1), " < ")))
	}
	slices.Sort(what)
	slices.Reverse(what)
	return count, what, nil
}

// functions are the names in a stack.
var functions = regexp.MustCompile(`[\w./-]+\.[\w().*-]+\+0x`)

// moreGoroutines is how many goroutines a replica may have beyond those of a fresh one: ten for the informer of each of two optional APIs
// that appeared meanwhile, and some for connections, which all controllers of this process share. What a sync leaves behind is more.
const moreGoroutines = 40

// goroutinesEnd is how long they may take to end once the last Application is gone.
const goroutinesEnd = 2 * time.Minute

// forgotten checks that the controllers are as idle as fresh ones (I6). There are no Applications any more.
func (w *world) forgotten(ctx context.Context, fresh int) error {
	w.mu.Lock()
	most := w.replicas * (fresh + moreGoroutines)
	w.mu.Unlock()
	var count int
	var what []string
	err := wait.PollUntilContextTimeout(ctx, 5*period, goroutinesEnd, true, func(context.Context) (bool, error) {
		var err error
		count, what, err = w.goroutines()
		return count <= most, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return violated("I6", "%d goroutines although there are no Applications any more; a fresh controller has %d:\n%s", count, fresh, strings.Join(what, "\n"))
	}
	return err
}

// TestGoroutinesAreGone lets a controller make many syncs, and never restarts it.
func TestGoroutinesAreGone(t *testing.T) {
	replay(t, `
		create a full
		create b references
		wait
		edit a image
		edit a config
		reference settings one
		reference credentials one
		wait
		child a deployments edit
		child a services delete
		edit a two-routes
		pods a delete
		wait
		reference settings two
		edit b image
		recreate a small
		wait
	`)
}

// TestGoroutinesOfOptionalAPIs lets both optional APIs appear. Their informers take goroutines, also when all Applications are gone.
func TestGoroutinesOfOptionalAPIs(t *testing.T) {
	replay(t, `
		api httproutes install
		api servicemonitors install
		create a routed
		create b references
		wait
	`)
}
