// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

func TestRender(t *testing.T) {
	marked := line{{"✔", good}, {" web ", plain}, {"is ready", strong}}
	tests := []struct {
		name  string
		style style
		line  line
		width int
		want  string
	}{
		{"nothing", style{}, nil, 10, ""},
		{"plain", style{unicode: true}, marked, 0, "✔ web is ready"},
		{"colors", style{unicode: true, color: true}, marked, 0, "\x1b[32m✔\x1b[0m web \x1b[1mis ready\x1b[0m"},
		{"just fits", style{unicode: true}, marked, 14, "✔ web is ready"},
		{"cut", style{unicode: true}, marked, 9, "✔ web is…"},
		{"cut without Unicode", style{}, line{text("web is ready")}, 5, "web~"},
		{"cut with colors", style{unicode: true, color: true}, marked, 4, "\x1b[32m✔\x1b[0m w…"},
		{"control characters", style{unicode: true}, line{text("a\x1b[2Jb\rc\nd\te")}, 0, "a?[2Jb?c d e"},
		{"not ASCII", style{}, line{text("Größe")}, 0, "Gr??e"},
	}
	for _, test := range tests {
		if got := test.style.render(test.line, test.width); got != test.want {
			t.Errorf("%s: rendered %q, want %q", test.name, got, test.want)
		}
	}
}

func TestSpeaksUTF8(t *testing.T) {
	tests := []struct {
		environment map[string]string
		want        bool
	}{
		{nil, false},
		{map[string]string{"LANG": "en_US.UTF-8"}, true},
		{map[string]string{"LANG": "C.utf8"}, true},
		{map[string]string{"LANG": "C"}, false},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "C"}, false},
		{map[string]string{"LANG": "C", "LC_CTYPE": "UTF-8"}, true},
	}
	for _, test := range tests {
		if got := speaksUTF8(func(name string) string { return test.environment[name] }); got != test.want {
			t.Errorf("%v: speaksUTF8 is %t, want %t", test.environment, got, test.want)
		}
	}
}

func TestScreenDrawsOverThePicture(t *testing.T) {
	var out strings.Builder
	s := &screen{live: true, out: &out, size: func() (int, int) { return 20, 7 }}
	expect := func(step, want string) {
		t.Helper()
		if got := out.String(); got != want {
			t.Errorf("%s: wrote %q, want %q", step, got, want)
		}
		out.Reset()
	}
	s.print(line{text("stays")})
	expect("print", "stays\n")
	s.draw([]line{{text("one")}, {text("a picture that is too wide")}})
	expect("first picture", "one\na picture that is~\n")
	s.draw([]line{{text("one")}, {text("a picture that is too wide")}})
	expect("same picture", "")
	s.draw([]line{{text("two")}})
	expect("next picture", "\x1b[2A\r\x1b[Jtwo\n")
	s.print(line{text("stays too")})
	expect("print above the picture", "\x1b[1A\r\x1b[Jstays too\ntwo\n")
	s.draw([]line{nil, nil, nil, nil, nil})
	expect("no more lines than fit", "\x1b[1A\r\x1b[J\n\n\n")
	s.wipe()
	expect("wipe", "\x1b[3A\r\x1b[J")
	s.wipe()
	expect("nothing to wipe", "")
}

func TestScreenDrawsNothingWithoutATerminal(t *testing.T) {
	var out strings.Builder
	s := &screen{out: &out, size: func() (int, int) { return 0, 0 }}
	s.draw([]line{{text("picture")}})
	s.wipe()
	s.print(line{text("line")})
	if got, want := out.String(), "line\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}
