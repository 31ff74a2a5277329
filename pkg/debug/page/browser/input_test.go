// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// press focuses an element and presses a key, as somebody without a mouse does.
func (b *tab) press(selector, key string) {
	b.Helper()
	evaluate[bool](b, fmt.Sprintf(`(document.querySelector(%q).focus(), true)`, selector))
	b.run(chromedp.KeyEvent(key))
}

// fill types into an input, instead of what is in it.
func (b *tab) fill(selector, text string) {
	b.Helper()
	evaluate[bool](b, fmt.Sprintf(`(document.querySelector(%q).focus(), document.querySelector(%q).select(), true)`, selector, selector))
	b.run(chromedp.KeyEvent(text))
}

// choose takes an option of a select, as a person's choice.
func (b *tab) choose(selector, value string) {
	b.Helper()
	evaluate[bool](b, fmt.Sprintf(`(() => {
		const select = document.querySelector(%q);
		select.value = %q;
		return select.dispatchEvent(new Event("change", { bubbles: true }));
	})()`, selector, value))
}

func back() chromedp.Action { return chromedp.NavigateBack() }

// expect takes complaints of the browser that the test has caused itself; each must contain one of the texts.
func (b *tab) expect(texts ...string) {
	b.Helper()
	heard := b.heard()
	if len(heard) == 0 {
		b.Errorf("the browser has not complained about %q", texts)
	}
	for _, complaint := range heard {
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(complaint, text) }) {
			b.Errorf("the browser complains: %s", complaint)
		}
	}
}

// until waits for something that is not on the page.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited until %s: %v", what, ctx.Err())
		case <-ticker.C:
		}
	}
}
