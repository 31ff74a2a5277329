// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The event stream. An EventSource reconnects by itself after a lost connection, but gives up at an answer other than 200,
// and does not notice a connection that went silent. This does both.
import { ask, urls } from "./api.js";

/** The controller says something every 10 seconds at least. */
const silence = 25_000;
const firstRetry = 500;
const lastRetry = 10_000;

/**
 * Follows the stream for as long as the page lives. `on` is called with "snapshot" and "delta" and their data, with "live"
 * when something comes, and with "lost" and the reason while nothing does.
 */
export function follow(on) {
  let source;
  let lastEventId = "";
  let retry = firstRetry;
  let watchdog;
  let waiting;

  function open() {
    waiting = undefined;
    source = new EventSource(urls.stream(lastEventId));
    listen("snapshot");
    listen("delta");
    source.addEventListener("heartbeat", heard);
    source.addEventListener("error", failed);
    watch();
  }

  function listen(type) {
    source.addEventListener(type, (message) => {
      heard(message);
      on(type, JSON.parse(message.data));
    });
  }

  function heard(message) {
    if (message.lastEventId) lastEventId = message.lastEventId;
    retry = firstRetry;
    on("live");
    watch();
  }

  function watch() {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => again("The connection went silent."), silence);
  }

  function failed() {
    again("The controller does not answer.");
  }

  /** Why it is refused only an ordinary request can tell. */
  function again(why) {
    source.close();
    clearTimeout(watchdog);
    if (waiting) return;
    on("lost", why);
    waiting = setTimeout(open, retry);
    retry = Math.min(lastRetry, retry * 2);
    ask(urls.snapshot()).catch((refused) => on("lost", refused.message));
  }

  open();
}
