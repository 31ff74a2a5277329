// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	jsonframer "k8s.io/apimachinery/pkg/runtime/serializer/json"
)

var eventStreams = []string{
	`{}`,
	`{"a":1}{"b":[{"c":{}},{}]}` + "\n\r\t " + `{"d":"}"}` + "\n",
	`{"quote":"\"}{","backslash":"\\"}{"\"{":"\\\"{"}`,
	`{"` + strings.Repeat("long", 1000) + `":{}}`,
	`{"wide":"ü→😀"}`,
	"\n\n",
	``,
	`{"broken":`,
	`{"broken":"}`,
	`{} {"broken":{}`,
	`}`,
	`Internal Server Error`,
}

// framesOf are all frames of a stream, and whether reading ended with an error.
func framesOf(by runtime.Framer, stream io.Reader, space int) (all []string, failed bool) {
	reader := by.NewFrameReader(io.NopCloser(stream))
	data := make([]byte, space)
	var frame strings.Builder
	for {
		n, err := reader.Read(data)
		switch {
		case errors.Is(err, io.EOF):
			return all, false
		case err != nil && !errors.Is(err, io.ErrShortBuffer):
			return all, true
		}
		frame.Write(data[:n])
		if err == nil {
			all = append(all, frame.String())
			frame.Reset()
		}
	}
}

func TestFrames(t *testing.T) {
	for _, stream := range eventStreams {
		want, wantFailed := framesOf(jsonframer.Framer, strings.NewReader(stream), 1<<10)
		for _, space := range []int{1, 2, 7, 1 << 10, 1 << 20} {
			for name, reader := range map[string]io.Reader{"at once": strings.NewReader(stream), "byte by byte": iotest.OneByteReader(strings.NewReader(stream))} {
				got, failed := framesOf(framer{}, reader, space)
				if diff := cmp.Diff(want, got); diff != "" || failed != wantFailed {
					t.Errorf("%.40q %s, %d bytes: failed is %t, client-go's %t; client-go -, got +:\n%s", stream, name, space, failed, wantFailed, diff)
				}
			}
		}
	}
}

// client-go takes any value for an event, and fails to decode it. Here it is no event.
func TestFramesOfNoObject(t *testing.T) {
	for _, stream := range []string{`[{}]`, `"{}"`, `7`, `null`} {
		got, failed := framesOf(framer{}, strings.NewReader(`{}`+stream), 1<<10)
		if diff := cmp.Diff([]string{`{}`}, got); diff != "" || !failed {
			t.Errorf("%s: failed is %t; want -, got +:\n%s", stream, failed, diff)
		}
	}
}

// Whatever client-go takes for the events of a stream, they are the same here. What it refuses may be refused later: by
// what decodes the event.
func FuzzFrames(f *testing.F) {
	for _, stream := range eventStreams {
		f.Add(stream)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		want, failed := framesOf(jsonframer.Framer, strings.NewReader(stream), 1<<20)
		for _, frame := range want {
			if frame[0] != '{' {
				t.Skip("not a stream of objects")
			}
		}
		got, gotFailed := framesOf(framer{}, strings.NewReader(stream), 100)
		if !slices.Equal(want, got[:min(len(got), len(want))]) || !failed && (gotFailed || len(got) != len(want)) {
			t.Errorf("failed is %t, client-go's %t; client-go -, got +:\n%s", gotFailed, failed, cmp.Diff(want, got))
		}
	})
}

// An event is there when its last byte is: the next may come hours later, and no newline need follow.
func TestFramesDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		events := framer{}.NewFrameReader(reader)
		defer events.Close()
		for _, event := range []string{`{"a":{}}`, "\n" + `{"b":"}"}`} {
			sent := make(chan error, 1)
			go func() {
				_, err := io.WriteString(writer, event)
				sent <- err
			}()
			data := make([]byte, 100)
			n, err := events.Read(data)
			if got := string(data[:n]); err != nil || got != strings.TrimSpace(event) {
				t.Errorf("%q: %v, want %q", got, err, event)
			}
			if err := <-sent; err != nil {
				t.Error(err)
			}
		}
	})
}
