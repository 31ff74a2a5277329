// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/pkg/text"
)

// TestShellWords wants the words that sh makes of a line, and to know what only sh can do.
func TestShellWords(t *testing.T) {
	for line, want := range map[string]struct {
		words      []string
		needsShell bool
	}{
		"":                       {},
		"npm  start ":            {words: []string{"npm", "start"}},
		`nginx -g "daemon off;"`: {words: []string{"nginx", "-g", "daemon off;"}},
		`nginx -g 'daemon off;'`: {words: []string{"nginx", "-g", "daemon off;"}},
		`a ""  b`:                {words: []string{"a", "", "b"}},
		`--name="a b"c`:          {words: []string{`--name=a bc`}},
		`a\ b "c\"d" "\e" '\f'`:  {words: []string{"a b", `c"d`, `\e`, `\f`}},
		"web \\\n --port":        {words: []string{"web", "--port"}},
		`echo '$HOME'`:           {words: []string{"echo", "$HOME"}},
		`web --env=PORT=1`:       {words: []string{"web", "--env=PORT=1"}},
		`PORT=1 web`:             {words: []string{"PORT=1", "web"}, needsShell: true},
		`echo "$HOME"`:           {words: []string{"echo", "$HOME"}, needsShell: true},
		`web --port $(PORT)`:     {words: []string{"web", "--port", "$(PORT)"}, needsShell: true},
		`cd /app && npm start`:   {words: []string{"cd", "/app", "&&", "npm", "start"}, needsShell: true},
		`a | b`:                  {words: []string{"a", "|", "b"}, needsShell: true},
		"a `b`":                  {words: []string{"a", "`b`"}, needsShell: true},
		`rm /tmp/*`:              {words: []string{"rm", "/tmp/*"}, needsShell: true},
		"cd /app\nnpm start":     {words: []string{"cd", "/app", "npm", "start"}, needsShell: true},
		"migrate\nserve":         {words: []string{"migrate", "serve"}, needsShell: true},
		"\nnpm start\n":          {words: []string{"npm", "start"}},
		`say "no end`:            {needsShell: true},
		`it's`:                   {needsShell: true},
		`"no end\`:               {needsShell: true},
		`a b\`:                   {words: []string{"a", `b\`}},
	} {
		words, needsShell := text.ShellWords(line)
		if diff := cmp.Diff(want.words, words); diff != "" || needsShell != want.needsShell {
			t.Errorf("%q: needs a shell: %t, words (-want +got):\n%s", line, needsShell, diff)
		}
	}
}

// TestFlowList wants YAML to read the strings that it was given.
func TestFlowList(t *testing.T) {
	for want, items := range map[string][]string{
		`[]`:                                 {},
		`[nginx, -g, "daemon off;"]`:         {"nginx", "-g", "daemon off;"},
		`[--port, "8080", "0x1F", "1e3"]`:    {"--port", "8080", "0x1F", "1e3"},
		`["off", "Yes", "null", "-", "~"]`:   {"off", "Yes", "null", "-", "~"},
		`["-1", "2001-01-01", "80:80", ""]`:  {"-1", "2001-01-01", "80:80", ""},
		`["*", "a, b", "{a}", "#", "@a"]`:    {"*", "a, b", "{a}", "#", "@a"},
		`[./web, a=b, a.b/c, v1.2, "http:"]`: {"./web", "a=b", "a.b/c", "v1.2", "http:"},
		`['say "hi"', "it's", "a\nb"]`:       {`say "hi"`, "it's", "a\nb"},
		`['"it''s"', '\d']`:                  {`"it's"`, `\d`},
	} {
		got := text.FlowList(items)
		if got != want {
			t.Errorf("%q: %s, want %s", items, got, want)
		}
		read := []string{}
		if err := yaml.UnmarshalStrict([]byte(got), &read); err != nil {
			t.Errorf("%s: %v", got, err)
		} else if diff := cmp.Diff(items, read); diff != "" {
			t.Errorf("%s (-want +got):\n%s", got, diff)
		}
	}
}
