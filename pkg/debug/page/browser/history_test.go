// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"fairlead.dev/fairlead/pkg/debug"
)

// queued is an event of a key.
func queued(namespace, name string) debug.Event {
	return debug.Event{
		Stage: debug.StageQueue, Type: debug.TypeEnqueued, Reason: "DeploymentUpdated", Resource: "deployments.apps",
		Key: &debug.Name{Namespace: namespace, Name: name},
	}
}

// listed waits until the first event of the list is about the key.
func (b *tab) listed(key string) {
	b.Helper()
	b.eventually(key+" is the newest event", fmt.Sprintf(`document.querySelector(".events .event .says")?.innerText.startsWith(%q)`, key))
}

// TestPause holds what comes back, steps through what was before, and shows the rest afterwards.
func TestPause(t *testing.T) {
	f := newFake(t)
	b := open(t, f.url())
	f.publish(queued("shop", "first"), queued("shop", "second"))
	b.listed("shop/second")
	b.run(chromedp.KeyEvent(" "))
	b.eventually("it is paused", `document.querySelector(".connection.paused") && document.querySelector("#pause[aria-pressed=true]")`)
	f.publish(queued("shop", "third"))
	b.eventually("the new event waits", `document.querySelector("#held").innerText === "1 new since the pause"`)
	b.listed("shop/second")

	b.eventually("the history stands at the newest event", `document.querySelector("#cursor").innerText.includes("shop/second")`)
	b.run(chromedp.KeyEvent(kb.ArrowLeft))
	b.eventually("the history stands one event before", `document.querySelector("#cursor").innerText.includes("shop/first")`)
	b.run(chromedp.KeyEvent(kb.ArrowLeft))
	b.eventually("the history stands before that", `document.querySelector("#cursor").innerText.includes("shop/web")`)
	b.eventually("the drawing shows where", `document.querySelectorAll("[data-stage].here").length === 1 && document.querySelector(".event.here")`)
	b.run(chromedp.KeyEvent(kb.Home))
	b.eventually("the history stands at its begin", `document.querySelector("#step-back").disabled && document.querySelector("[data-stage=watch].here")`)
	b.shoot("paused")
	b.click("#step-forward")
	b.eventually("a click goes forward", `document.querySelector("[data-stage=handler].here")`)
	b.run(chromedp.KeyEvent(kb.End))
	b.eventually("the history stands at its end", `document.querySelector("#step-forward").disabled`)

	b.click("#pause")
	b.listed("shop/third")
	b.eventually("it is live", `document.querySelector(".connection.live") && !document.querySelector(".history")`)
}

// TestStepFromAHiddenEvent: a filter hides where the history stands; it goes on from what is shown before that.
func TestStepFromAHiddenEvent(t *testing.T) {
	f := newFake(t)
	b := open(t, f.url())
	f.publish(queued("shop", "a1"), queued("shop", "a2"), queued("shop", "b3"), queued("shop", "a4"))
	b.listed("shop/a4")
	stands := func(at string) {
		t.Helper()
		b.eventually("the history stands at "+at, fmt.Sprintf(`document.querySelector("#cursor")?.innerText.includes(%q)`, at))
	}
	b.click("#pause")
	b.click("#step-back")
	stands("shop/b3")
	b.fill("#filter-text", "shop/a")
	stands("shop/a2")
	b.click("#step-back")
	stands("shop/a1")
	b.click("#step-forward")
	b.click("#step-forward")
	stands("shop/a4")
}

// TestStepThroughKey stays with the followed key, whatever else happens.
func TestStepThroughKey(t *testing.T) {
	f := newFake(t)
	b := open(t, f.url()+"#key=shop/web")
	b.eventually("the timeline is there", `document.querySelector(".line li")`)
	f.publish(queued("shop", "other"))
	b.eventually("another key moved", `document.querySelector(".keys").innerText.includes("shop/other")`)
	b.click("#pause")
	b.run(chromedp.KeyEvent(kb.Home))
	for i, event := range f.timeline.Events {
		if i > 0 {
			b.run(chromedp.KeyEvent(kb.ArrowRight))
		}
		b.eventually(fmt.Sprintf("it stands at event %d, %s", i, event.Type),
			fmt.Sprintf(`document.querySelectorAll(".line li")[%d].matches(".here[data-type=%s]") && document.querySelector("[data-stage=%s].here")`, i, event.Type, event.Stage))
	}
}

// TestFilter leaves what was asked for, in every list.
func TestFilter(t *testing.T) {
	f := newFake(t)
	b := open(t, f.url())
	f.publish(queued("shop", "cart"), queued("bank", "ledger"), queued("bank", "cards"))
	b.listed("bank/cards")
	names := `[...document.querySelectorAll(".keys .name")].map((one) => one.innerText).join()`

	b.choose("#filter-namespace", "bank")
	b.eventually("only the namespace is left", names+` === "bank/cards,bank/ledger"`)
	b.run(chromedp.KeyEvent("/"))
	b.eventually("the slash leads to the filter", `document.activeElement.id === "filter-text"`)
	b.fill("#filter-text", "led")
	b.eventually("only the key is left", names+` === "bank/ledger"`)
	b.listed("bank/ledger")
	b.click("#filter-clear")
	b.eventually("all are back", names+` === "shop/broken,bank/cards,bank/ledger,shop/cart,shop/web"`)

	b.choose("#filter-kind", "deployments.apps")
	b.eventually("only events of the kind are left", `[...document.querySelectorAll(".event")].length === 5`)
	b.choose("#filter-kind", "")
	b.fill("#filter-text", "rest")
	b.eventually("a key at rest is found", `document.querySelector(".keys").innerText.includes("Others\nshop/resting\nIdle")`)
}
