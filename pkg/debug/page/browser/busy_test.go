// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"fairlead.dev/fairlead/pkg/debug"
)

// TestBusy sends 500 events a second, of 400 keys, while somebody uses the page. Every event is counted; what is kept
// and what is shown has an end; and the page is drawn a few times a second, however much comes. Nothing here measures
// time: a machine may be slow, but a list must not grow and a drawing must not happen for each event.
func TestBusy(t *testing.T) {
	const rate, seconds, keys = 500, 8, 400
	f := newFake(t)
	b := open(t, f.url())
	evaluate[bool](b, `(() => {
		window.batches = 0;
		new MutationObserver(() => { window.batches += 1; }).observe(document.getElementById("page"), { childList: true, subtree: true, characterData: true });
		return true;
	})()`)

	ctx, stop := context.WithTimeout(t.Context(), seconds*time.Second)
	defer stop()
	var sending sync.WaitGroup
	sent := len(f.events)
	sending.Go(func() {
		ticker := time.NewTicker(time.Second / 50)
		defer ticker.Stop()
		for batch := 0; ctx.Err() == nil; batch++ {
			var events []debug.Event
			for i := range rate / 50 {
				events = append(events, queued("shop", fmt.Sprintf("key-%03d", (batch*10+i)%keys)))
			}
			f.publish(events...)
			sent += len(events)
			select {
			case <-ticker.C:
			case <-ctx.Done():
			}
		}
	})
	// Meanwhile somebody looks around.
	for range 3 {
		b.click("[data-stage=queue]")
		b.eventually("the queue is shown", `document.querySelector("table.queue")`)
		b.fill("#filter-text", "key-1")
		b.eventually("the filter holds", `[...document.querySelectorAll(".keys .name")].every((one) => one.innerText.includes("key-1"))`)
		b.click("#filter-clear")
		b.click(".panel-head button")
		b.eventually("the overview is shown", `document.querySelector(".uplot")`)
	}
	sending.Wait()
	// Every message makes one drawing at most, and there are at most five of them a second.
	b.eventually("all events have arrived", fmt.Sprintf(`document.querySelector("#kept").innerText.startsWith("%s events received")`, thousands(sent)))
	if text := b.text("#kept"); text != fmt.Sprintf("%s events received, the newest 2,000 kept.", thousands(sent)) {
		t.Errorf("it says %q", text)
	}
	for selector, most := range map[string]int{".event": 100, ".keys .key": 200} {
		if rows := evaluate[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector)); rows == 0 || rows > most {
			t.Errorf("there are %d of %s, want some and at most %d", rows, selector, most)
		}
	}
	if elements := evaluate[int](b, `document.querySelectorAll("*").length`); elements > 4000 {
		t.Errorf("the page has %d elements", elements)
	}
	if batches := evaluate[int](b, `window.batches`); batches > sent/10 {
		t.Errorf("the page changed %d times for %d events: not in batches", batches, sent)
	}
	b.shoot("busy")

	// More than one delta has, at once.
	var burst []debug.Event
	for i := range 3000 {
		burst = append(burst, queued("shop", fmt.Sprintf("burst-%04d", i)))
	}
	b.run(chromedp.KeyEvent(" "))
	b.eventually("it is paused", `document.querySelector(".connection.paused")`)
	f.publish(burst...)
	b.eventually("all of the burst waits", `document.querySelector("#held").innerText === "3,000 new since the pause"`)
	b.run(chromedp.KeyEvent(" "))
	b.listed("shop/burst-2999")
	b.eventually("the newest are kept", `document.querySelector("#kept").innerText.endsWith("the newest 2,000 kept.")`)
}

// thousands writes a number as the page does.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
