// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The queue, key by key: ready ones in the order in which workers take them.
import { html } from "./html.js";
import { clock, count, distance, nameOf, words } from "./format.js";
import { select } from "./model.js";
import { keyFits } from "./filter.js";

const titles = { ready: "Ready, in order", processing: "Processing", delayed: "Delayed" };
const counted = { ready: "ready", processing: "processing", delayed: "delayed" };

export function Queue({ state, act, parts }) {
  const { data, error } = state.fetched;
  if (error && !data) return html`<p class="muted">${error}</p>`;
  if (!data?.counts) return html`<p class="muted">Loading…</p>`;
  return parts.map((part) => {
    const keys = data[part].filter((key) => keyFits(state.filter, key));
    const total = data.counts[counted[part]];
    return html`<h3>${titles[part]}: ${count(total)}</h3>
      ${keys.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label=${titles[part]}><table class="queue">
        <thead><tr><th scope="col">Key</th><th scope="col">Why</th><th scope="col">When</th><th scope="col">Last sync</th></tr></thead>
        <tbody>${keys.map((key) => html`<tr key=${nameOf(key)}>
          <td><button class="link" onClick=${() => act(select, { key: { namespace: key.namespace ?? "", name: key.name } })}>${nameOf(key)}</button>${key.state === "Dirty" && html` <span class="badge warn">queued again</span>`}</td>
          <td>${words(key.trigger)}${key.failures > 0 && html` <span class="badge bad">failed ${count(key.failures)}×</span>`}</td>
          <td>${when(part, key, data.time)}</td>
          <td>${key.verdict}${key.error && html`<span class="error">${key.error}</span>`}</td>
        </tr>`)}</tbody>
      </table></div>`}
      ${total > data[part].length && html`<p class="muted small">Only the first ${count(data[part].length)} are shown.</p>`}`;
  });
}

function when(part, key, now) {
  switch (part) {
    case "ready": return key.deadline ? `deadline ${clock(key.deadline, false)}` : "";
    case "processing": return key.since ? `since ${distance(key.since, now)}` : "";
    default: return key.due ? distance(key.due, now) : "";
  }
}
