// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"sync"
	"time"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// drawEvery is how often the picture may change: people read it.
const drawEvery = 250 * time.Millisecond

// drawTree keeps a picture of the Applications of these names, or of all for none, on the screen until stop is called.
func drawTree(o *observer, s *screen, names []string) (stop func()) {
	return keepDrawing(s, func() []line {
		picture := []line{nil}
		return append(picture, tree(o.list(names...), s.style, s.room()-len(picture))...)
	})
}

// drawWait shows that time passes until stop is called.
func drawWait(s *screen, format string, args ...any) (stop func()) {
	began := time.Now()
	what := text(" "+format, args...)
	return keepDrawing(s, func() []line {
		return []line{{text("  "), s.style.mark(busy), what, toned(faint, " %.0f s", time.Since(began).Seconds())}}
	})
}

// keepDrawing draws what picture returns, now and again, until stop is called.
func keepDrawing(s *screen, picture func() []line) (stop func()) {
	ended := make(chan struct{})
	var drawer sync.WaitGroup
	drawer.Go(func() {
		ticker := time.NewTicker(drawEvery)
		defer ticker.Stop()
		for {
			s.draw(picture())
			select {
			case <-ticker.C:
			case <-ended:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(ended)
		drawer.Wait()
		s.wipe()
	})
}

// tellChanges prints what becomes of the Applications of these names, or of all for none, until stop is called.
func tellChanges(o *observer, s *screen, names []string) (stop func()) {
	began := time.Now()
	return o.listen(func(before, after *v1.Application) {
		if len(names) > 0 && !slices.Contains(names, after.Name) {
			return
		}
		var lines []line
		for _, change := range changes(before, after, s.style) {
			lines = append(lines, append(line{toned(faint, "  %5.1fs  ", time.Since(began).Seconds())}, change...))
		}
		s.print(lines...)
	})
}
