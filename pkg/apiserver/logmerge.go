// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// merge writes the present logs of containers in the order of time. It holds one line of each, and reads on only when
// that is written, so a slow reader slows the kubelets down.
func merge(ctx context.Context, open openLog, namespace string, containers []container, options *v1alpha1.ApplicationLogOptions, out io.Writer) error {
	sources := make([]*source, len(containers))
	var opening sync.WaitGroup
	for i, c := range containers {
		opening.Go(func() { sources[i] = openSource(ctx, open, namespace, c, options) })
	}
	opening.Wait()
	defer func() {
		for _, s := range sources {
			s.close()
		}
	}()
	for {
		oldest := pickOldest(sources)
		if oldest == nil {
			return ctx.Err()
		}
		if _, err := io.WriteString(out, oldest.head.format(options.Timestamps)); err != nil {
			return err
		}
		oldest.advance()
	}
}

// source is the log of one container with its next line.
type source struct {
	reader *lineReader
	log    io.Closer
	head   line
	ended  bool
}

// openSource opens a log. If that fails, the reason is its only line.
func openSource(ctx context.Context, open openLog, namespace string, c container, options *v1alpha1.ApplicationLogOptions) *source {
	log, err := open(ctx, namespace, c.pod, podLogOptions(c, options, nil))
	if err != nil {
		return &source{head: line{from: c, text: fmt.Sprintf("fairlead: no log: %v", err)}}
	}
	s := &source{reader: newLineReader(c, log), log: log}
	s.advance()
	return s
}

func (s *source) advance() {
	if s.reader == nil {
		s.ended = true
		return
	}
	next, err := s.reader.next()
	switch {
	case err == nil:
		s.head = next
	case errors.Is(err, io.EOF):
		s.ended = true
	default:
		from := s.reader.from
		s.reader, s.head = nil, line{from: from, time: s.head.time, text: fmt.Sprintf("fairlead: the log broke off: %v", err)}
	}
}

func (s *source) close() {
	if s.log != nil {
		_ = s.log.Close() // It was read; there is nothing to lose.
	}
}

// pickOldest returns the source with the oldest line, of equals the first, or nil at the end of all.
func pickOldest(sources []*source) *source {
	var oldest *source
	for _, s := range sources {
		if !s.ended && (oldest == nil || s.head.time.Before(oldest.head.time)) {
			oldest = s
		}
	}
	return oldest
}
