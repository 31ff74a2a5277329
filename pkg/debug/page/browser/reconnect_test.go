// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import "testing"

// TestReconnect loses the connection, finds the same controller again, and goes on without a gap.
func TestReconnect(t *testing.T) {
	f := newFake(t)
	b := open(t, f.url())
	f.publish(queued("shop", "before"))
	b.listed("shop/before")
	f.stop()
	b.eventually("it says that nothing comes", `document.querySelector(".connection.lost") && document.querySelector(".notice.warn").innerText.startsWith("Connection lost at")`)
	b.listed("shop/before")
	f.publish(queued("shop", "meanwhile"))
	f.restart(f.snapshot.Instance)
	b.eventually("it is live", `document.querySelector(".connection.live") && !document.querySelector(".notice.warn")`)
	b.listed("shop/meanwhile")
	b.eventually("nothing was lost", `document.querySelectorAll(".event").length === 16 && !document.querySelector("footer").innerText.includes("dropped")`)
	b.expect("503", "ERR_") // Refused, or cut off.
}

// TestRestart finds another controller: what was recorded is gone, and the page says so.
func TestRestart(t *testing.T) {
	f := newFake(t)
	b := open(t, f.url())
	f.publish(queued("shop", "before"))
	b.listed("shop/before")
	f.stop()
	b.eventually("it says that nothing comes", `document.querySelector(".connection.lost")`)
	b.shoot("lost")
	f.restart("another")
	b.eventually("it says that the controller is a new one", `document.querySelector(".notice")?.innerText.startsWith("The controller was restarted.")`)
	b.eventually("what was before is gone", `document.querySelectorAll(".event").length === 0`)
	f.publish(queued("shop", "after"))
	b.listed("shop/after")
	b.expect("503", "ERR_") // Refused, or cut off.
}
