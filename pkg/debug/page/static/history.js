// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Paused: a bar to step through what was recorded, event by event.
import { html } from "./html.js";
import { clock, count, nameOf } from "./format.js";
import { jump, step, togglePause } from "./model.js";
import { shownEvents } from "./filter.js";
import { sentence } from "./events.js";
import { stageOf } from "./stages.js";

/** The event that the page stands at: the newest one up to the cursor. */
export function current(state) {
  const events = shownEvents(state);
  return events.findLast((event) => event.sequence <= state.paused.cursor) ?? events[0];
}

export function History({ state, act, at }) {
  const events = shownEvents(state);
  const position = Math.max(0, events.indexOf(at));
  const { count: held } = state.paused.held;
  return html`<section class="card history" aria-label="History">
    <div class="stepper">
      <button id="step-back" disabled=${position === 0} onClick=${() => act(step, events, -1)} aria-label="One event back">‹</button>
      <input type="range" aria-label="Position in the history" min="0" max=${Math.max(0, events.length - 1)} value=${position}
        aria-valuetext=${at ? `${clock(at.time)}, ${sentence(at)}` : "no event"}
        onInput=${(event) => act(jump, events[Number(event.target.value)]?.sequence ?? 0)} />
      <button id="step-forward" disabled=${position >= events.length - 1} onClick=${() => act(step, events, 1)} aria-label="One event forward">›</button>
    </div>
    <p class="here" id="cursor">${at
    ? html`<span class="mono">${clock(at.time)}</span> <span class="chip">${stageOf(at.stage).title}</span> ${at.key && html`<strong>${nameOf(at.key)}</strong>`} <span>${sentence(at)}</span>`
    : html`<span class="muted">No event matches.</span>`}</p>
    <p class="muted small">${events.length > 0 && `${count(position + 1)} of ${count(events.length)}`} · <span id="held">${count(held)} new since the pause</span> · <button class="link" onClick=${() => act(togglePause)}>Resume</button></p>
  </section>`;
}
