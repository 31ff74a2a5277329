// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package picture_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/picture"
)

func TestSVG(t *testing.T) {
	svg := picture.SVG("Status <of> web", "$ kubectl\r\nweb \x1b[32m✔ Ready\x1b[0m & \x1b[2m1 < 2\x1b[0m\n\x1b[31m✖ \x1b[1mno\x1b[0m\x1b[0m.\n\x1b[33m0123456789012345678901234567890123456789wrapped\x1b[0m\n\n", 40)
	for decoder := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
	for _, want := range []string{
		`>wrapped</tspan></text>`, `<tspan fill="#e3b341">0123456789012345678901234567890123456789</tspan></text>`,
		"<title>Status &lt;of&gt; web</title>", ">$ kubectl</text>",
		`>web <tspan fill="#7ee787">✔ Ready</tspan> &amp; <tspan fill="#8b949e">1 &lt; 2</tspan></text>`,
		`><tspan fill="#ff7b72">✖ </tspan><tspan fill="#ff7b72" font-weight="bold">no</tspan>.</text>`,
	} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}
