// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
)

// framer finds where the events of a stream end. To know that, JSON need not be understood: an event ends with the brace
// that closes its first one, and braces in quotes do not count. What is between the braces is for who decodes it to check.
type framer struct{ runtime.Framer }

func (framer) NewFrameReader(stream io.ReadCloser) io.ReadCloser {
	return &frames{Closer: stream, stream: bufio.NewReaderSize(stream, 32<<10)}
}

// frames reads one event after the other.
type frames struct {
	io.Closer
	stream *bufio.Reader
	// Where in the event the next byte stands.
	depth           int
	quoted, escaped bool
}

// Read fills data with an event, without the space before it. If there is more of it than data can take, the error is
// io.ErrShortBuffer, and the next Read goes on there. It waits for no byte behind the event.
func (f *frames) Read(data []byte) (n int, err error) {
	for n < len(data) {
		chunk, err := f.received()
		if err != nil {
			return 0, err
		}
		length, ended := f.advance(chunk[:min(len(chunk), len(data)-n)])
		n += copy(data[n:], chunk[:length])
		if _, err := f.stream.Discard(length); err != nil {
			return 0, err // There is none: so much has been received.
		}
		if ended {
			return n, nil
		}
	}
	return n, io.ErrShortBuffer
}

// received waits for at least one byte of an event, and returns all that are there.
func (f *frames) received() ([]byte, error) {
	for {
		_, err := f.stream.Peek(1)
		switch {
		case errors.Is(err, io.EOF) && f.depth > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
		chunk, err := f.stream.Peek(f.stream.Buffered())
		if f.depth > 0 || err != nil {
			return chunk, err
		}
		switch first := chunk[0]; first {
		case '{':
			return chunk, nil
		case ' ', '\t', '\r', '\n':
			if _, err := f.stream.Discard(1); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("an event of a watch begins with %q, not with a brace", first)
		}
	}
}

// advance goes on in the event up to its end, or as far as the chunk reaches.
func (f *frames) advance(chunk []byte) (length int, ended bool) {
	for i, c := range chunk {
		switch {
		case f.escaped:
			f.escaped = false
		case f.quoted:
			f.escaped, f.quoted = c == '\\', c != '"'
		case c == '"':
			f.quoted = true
		case c == '{':
			f.depth++
		case c == '}':
			f.depth--
			if f.depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(chunk), false
}
