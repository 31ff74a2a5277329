// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// maxLine is where a line is cut, so that one line cannot fill the memory.
const maxLine = 16 << 10

// openLog opens the log of one container; see PodInterface.GetLogs.
type openLog func(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error)

// container is one whose log is read.
type container struct{ pod, name string }

func (c container) prefix() string { return "[" + c.pod + "/" + c.name + "] " }

// containersOf returns the containers that a request asks for, in the order of pods.
func containersOf(pods []*pod, options *v1alpha1.ApplicationLogOptions) []container {
	var all []container
	for _, p := range pods {
		for _, name := range p.Containers {
			if options.Container == "" || options.Container == name {
				all = append(all, container{p.Name, name})
			}
		}
	}
	return all
}

// podLogOptions are the kubelet's options for one container. Its lines always begin with their time, by which they are
// merged.
func podLogOptions(c container, options *v1alpha1.ApplicationLogOptions, since *metav1.Time) *corev1.PodLogOptions {
	log := &corev1.PodLogOptions{
		Container: c.name, Follow: options.Follow, Previous: options.Previous, Timestamps: true,
		SinceSeconds: options.SinceSeconds, TailLines: options.TailLines,
	}
	if since != nil {
		log.SinceTime, log.SinceSeconds, log.TailLines = since, nil, nil
	}
	return log
}

// line is one line of a container.
type line struct {
	from container
	time time.Time
	text string // without the time and the newline
}

// format is the line as the client gets it.
func (l line) format(timestamps bool) string {
	if timestamps && !l.time.IsZero() {
		return l.from.prefix() + l.time.Format(time.RFC3339Nano) + " " + l.text + "\n"
	}
	return l.from.prefix() + l.text + "\n"
}

// lineReader reads the lines of one container.
type lineReader struct {
	from   container
	reader *bufio.Reader
}

func newLineReader(from container, log io.Reader) *lineReader {
	return &lineReader{from: from, reader: bufio.NewReaderSize(log, maxLine)}
}

// next returns the next line; the error is io.EOF at the end.
func (r *lineReader) next() (line, error) {
	text, err := r.reader.ReadSlice('\n')
	read := string(bytes.TrimRight(text, "\r\n"))
	for errors.Is(err, bufio.ErrBufferFull) { // The rest of a line that is too long.
		_, err = r.reader.ReadSlice('\n')
	}
	if read == "" && err != nil {
		return line{}, err
	}
	return r.parse(read), nil
}

// parse takes the time from the beginning of a line. A line without one, such as an error of the container runtime, is left
// as it is.
func (r *lineReader) parse(text string) line {
	stamp, rest, _ := strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return line{from: r.from, text: text}
	}
	return line{from: r.from, time: at, text: rest}
}
