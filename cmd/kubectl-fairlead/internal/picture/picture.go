// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package picture draws what a terminal showed, as SVG for documents.
package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
)

// A character of a monospaced font is 0.6 em wide.
const (
	fontSize   = 14
	charWidth  = 8.4
	lineHeight = 20
	padding    = 16
)

// styles are the attributes of the texts that the plugin colours, on the dark background.
var styles = []struct {
	color screen.Color
	style string
}{
	{screen.Red, `fill="#ff7b72"`}, {screen.Green, `fill="#7ee787"`}, {screen.Yellow, `fill="#e3b341"`}, {screen.Blue, `fill="#79c0ff"`},
	{screen.Bold, `font-weight="bold"`}, {screen.Dim, `fill="#8b949e"`},
}

// SVG draws lines of a terminal. title is for readers who do not see the picture.
func SVG(title, terminal string, columns int) []byte {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(strings.ReplaceAll(terminal, "\r", ""), "\n"), "\n") {
		lines = append(lines, wrap(line, columns)...)
	}
	width, height := int(float64(columns)*charWidth)+2*padding, len(lines)*lineHeight+2*padding
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&svg, "<title>%s</title>\n", escaped(title))
	fmt.Fprintf(&svg, `<rect width="%d" height="%d" rx="8" fill="#0d1117"/>`+"\n", width, height)
	fmt.Fprintf(&svg, `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="%d" fill="#e6edf3">`+"\n", fontSize)
	style := ""
	for i, line := range lines {
		text, further := spans(line, style)
		fmt.Fprintf(&svg, `<text x="%d" y="%d" xml:space="preserve">%s</text>`+"\n", padding, padding+i*lineHeight+fontSize, text)
		style = further
	}
	svg.WriteString("</g>\n</svg>\n")
	return svg.Bytes()
}

const escape, end, reset = "\x1b[", "m", "\x1b[0m"

// wrap breaks a line where the terminal does.
func wrap(line string, columns int) []string {
	var lines []string
	begin, width, inEscape := 0, 0, false
	for at, char := range line {
		switch {
		case strings.HasPrefix(line[at:], escape):
			inEscape = true
		case inEscape:
			inEscape = string(char) != end
		case width == columns:
			lines, begin, width = append(lines, line[begin:at]), at, 1
		default:
			width++
		}
	}
	return append(lines, line[begin:])
}

// spans is a line whose coloured parts have their styles. A style holds until all are reset, and styles add up.
func spans(line, style string) (text, further string) {
	var b strings.Builder
	for line != "" {
		part, rest, more := strings.Cut(line, escape)
		switch {
		case part == "":
		case style == "":
			b.WriteString(escaped(part))
		default:
			fmt.Fprintf(&b, "<tspan%s>%s</tspan>", style, escaped(part))
		}
		if !more {
			break
		}
		code, after, _ := strings.Cut(rest, end)
		line = after
		if escape+code+end == reset {
			style = ""
		}
		for _, s := range styles {
			if escape+code+end == string(s.color) {
				style += " " + s.style
			}
		}
	}
	return b.String(), style
}

func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // A buffer accepts everything.
	return b.String()
}
