// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The newest events of a list, newest first. While the page is paused the list stands at the cursor.
import { html } from "./html.js";
import { clock, count, duration, nameOf } from "./format.js";
import { limits, select } from "./model.js";
import { details, sentence, tone } from "./events.js";
import { stageOf } from "./stages.js";

/** Fields names what changed, shortened: paths only, since values are never told. */
export function Fields({ fields }) {
  if (!fields?.length) return null;
  return html`<span class="fields">${fields.slice(0, 6).map((field) => html`<code>${field}</code>`)}${fields.length > 6 && html`<span class="muted">and ${fields.length - 6} more</span>`}</span>`;
}

export function EventList({ events, act, at, withKey = false }) {
  const end = at ? events.indexOf(at) : events.length - 1;
  const from = Math.min(end + 8, events.length - 1);
  const shown = [];
  for (let i = from; i >= 0 && shown.length < limits.rows; i--) shown.push(events[i]);
  if (shown.length === 0) return html`<p class="muted empty">No events match the filter yet.</p>`;
  return html`<ol class="events">${shown.map((event) => html`<${EventRow} key=${event.sequence} event=${event} act=${act} withKey=${withKey} here=${event === at} />`)}</ol>
    ${events.length > shown.length && html`<p class="muted small">The newest ${count(shown.length)} of ${count(events.length)}; pause to step through all of them.</p>`}`;
}

function EventRow({ event, act, withKey, here }) {
  return html`<li class="event ${tone(event)} ${here ? "here" : ""}">
    <time class="mono muted">${clock(event.time)}</time>
    <span class="chip">${stageOf(event.stage).title}</span>
    <span class="says">${withKey && event.key && html`<button class="link" onClick=${() => act(select, { key: event.key })}>${nameOf(event.key)}</button> `}${sentence(event)}
      ${details(event).length > 0 && html` <span class="muted small">${details(event).join(" · ")}</span>`}
      ${event.error && html`<span class="error">${event.error}</span>`}<${Fields} fields=${event.fields} /></span>
    <span class="number muted took">${event.milliseconds === undefined ? "" : duration(event.milliseconds)}</span>
  </li>`;
}
