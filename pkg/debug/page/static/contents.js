// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// What the selected thing contains: the timeline of a key, the queue, a cache. The stream does not tell these, so they are
// asked for: at once when something is selected, and again when the stream says that it moved, but calmly.
import { ask, urls } from "./api.js";
import { limits } from "./model.js";
import { nameOf } from "./format.js";

const calm = 1000;

export class Contents {
  constructor(state, changed) {
    this.state = state;
    this.changed = changed;
    this.asked = 0;
    this.timer = undefined;
    this.request = undefined; // what cancels the one that runs
  }

  /** The URL of what the page shows now, or "". */
  wanted() {
    const { selected, cache, filter, resources } = this.state;
    if (selected?.key) return urls.key(selected.key);
    if (selected?.stage === "queue" || selected?.stage === "worker") return urls.queue(limits.rows);
    if (selected?.stage !== "store") return "";
    if (cache.object) return urls.object(cache.resource, cache.object);
    const resource = cache.resource || resources[0]?.resource;
    if (!resource) return "";
    const { index, value } = cache;
    return urls.cache(resource, { namespace: cache.namespace || filter.namespace, ...(index && value ? { index, value } : {}), limit: limits.rows });
  }

  /** Called after every action of a person: asks if something else is wanted now. */
  look() {
    const url = this.wanted();
    if (url === this.state.fetched.of) return;
    this.request?.abort();
    this.request = undefined;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.state.fetched = { of: url, data: null, error: "" };
    if (url) this.ask(url);
  }

  /** Called for every message of the stream. A paused page stays as it is. */
  happened(what, data) {
    if (this.state.paused) return;
    const { selected, fetched } = this.state;
    if (what === "snapshot" || fetched.of === "") this.look();
    if (!fetched.of || (what !== "delta" && what !== "snapshot")) return;
    if (selected?.key && what === "delta" && !moved(data, selected.key)) return;
    this.again();
  }

  again() {
    if (this.timer || this.request) return;
    const wait = Math.max(0, calm - (performance.now() - this.asked));
    this.timer = setTimeout(() => {
      this.timer = undefined;
      const url = this.wanted();
      if (url && !this.state.paused) this.ask(url);
    }, wait);
  }

  async ask(url) {
    const request = new AbortController();
    this.request = request;
    this.asked = performance.now();
    let answer;
    try {
      answer = { of: url, data: await ask(url, request.signal), error: "" };
    } catch (failed) {
      if (failed.name === "AbortError") return;
      // A connection that is lost for a moment takes nothing away from the page; the header says it.
      const old = this.state.fetched;
      answer = { of: url, data: failed.status || old.of !== url ? null : old.data, error: failed.message };
    }
    if (this.request !== request) return;
    this.request = undefined;
    this.state.fetched = answer;
    this.changed();
  }
}

const moved = (delta, key) => (delta.events ?? []).some((event) => nameOf(event.key) === nameOf(key));
