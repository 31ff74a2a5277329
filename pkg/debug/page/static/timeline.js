// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// One key, followed: each of its syncs from the watch event to the writes, the newest first.
import { html } from "./html.js";
import { Fields } from "./eventlist.js";
import { clock, count, distance, duration, milliseconds, nameOf, words } from "./format.js";
import { select } from "./model.js";
import { details, sentence, tone, verdictTone } from "./events.js";
import { stageOf } from "./stages.js";
import { bySync, spent } from "./syncs.js";

/** Of a burst of events that led to one sync, the first few tell enough. */
const mostCauses = 12;

export function KeyPanel({ state, act, at }) {
  const { selected, fetched } = state;
  const timeline = fetched.data?.syncs ? fetched.data : null;
  return html`
    <div class="panel-head"><h2 class="panel-title mono">${nameOf(selected.key)}</h2><button class="plain" onClick=${() => act(select, null)} aria-label="Close ${nameOf(selected.key)}">✕</button></div>
    ${!timeline && html`<p class="muted">${fetched.error || "Loading…"}</p>`}
    ${timeline && html`<${Standing} key=${"standing"} timeline=${timeline} now=${state.time || timeline.time} /><${Syncs} timeline=${timeline} at=${at} only=${state.onlyWrites} act=${act} />`}`;
}

/** Where the key is now. */
function Standing({ timeline: { key }, now }) {
  const facts = [
    key.trigger && `because: ${words(key.trigger)}`,
    key.due && `comes back ${distance(key.due, now)}`,
    key.lastSync && `last sync ${distance(key.lastSync, now)}`,
  ].filter(Boolean);
  return html`<p class="standing"><span class="badge">${key.state}</span>
    ${key.verdict && html`<span class="badge ${verdictTone(key.verdict)}">${key.verdict}</span>`}
    ${key.failures > 0 && html`<span class="badge bad">failed ${count(key.failures)}× in a row</span>`}
    <span class="muted">${facts.join(" · ")}</span></p>
    ${key.error && html`<p class="error">${key.error}</p>`}`;
}

const toggle = (state) => { state.onlyWrites = !state.onlyWrites; };
const matters = ({ sync, events }) => !sync || sync.writes > 0 || verdictTone(sync.verdict) === "bad" || events.some(({ error }) => error);

function Syncs({ timeline, at, only, act }) {
  const { groups: all, waiting } = bySync(timeline);
  const groups = only ? all.filter(matters) : all;
  // Open are the newest sync, and the newest that wrote something: at rest, many have looked since.
  const wrote = groups.find(({ sync }) => sync?.writes > 0);
  return html`
    ${(only || all.length > 1) && html`<p class="which"><button id="only-writes" aria-pressed=${only ? "true" : "false"} onClick=${() => act(toggle)}>Only syncs that wrote or failed</button>
      <span class="muted small">${count(groups.length)} of ${count(all.length)}</span></p>`}
    ${!only && waiting.length > 0 && html`<section class="sync" aria-label="Since the last sync"><h3>Since the last sync</h3><${Line} events=${waiting.slice(-mostCauses)} at=${at} /></section>`}
    ${groups.map((group, i) => html`<${OneSync} key=${group.id} group=${group} open=${i === 0 || group === wrote || group.events.includes(at)} at=${at} />`)}
    ${timeline.truncated && html`<p class="muted small">Older events are no longer kept.</p>`}
    ${only && groups.length === 0 && html`<p class="muted">None of the recorded syncs wrote or failed.</p>`}
    ${!only && groups.length === 0 && waiting.length === 0 && html`<p class="muted">Nothing is recorded about this key.</p>`}`;
}

function OneSync({ group, open: isOpen, at }) {
  const { sync } = group;
  const first = group.causes[0] ?? group.events[0];
  const hidden = Math.max(0, group.causes.length - mostCauses);
  return html`<details class="sync" open=${isOpen} data-sync=${group.id}>
    <summary>
      <time class="mono">${clock(sync?.started ?? first?.time)}</time>
      <strong>${words(sync?.trigger) || "Sync"}</strong>
      ${sync?.verdict && html`<span class="badge ${verdictTone(sync.verdict)}">${sync.verdict}</span>`}
      ${sync && (sync.writes > 0 ? html`<span class="badge wrote">${count(sync.writes)} ${sync.writes === 1 ? "write" : "writes"}</span>` : html`<span class="muted">no write</span>`)}
      <span class="muted number took">${sync?.tookMilliseconds === undefined ? "running" : duration(sync.tookMilliseconds)}</span>
    </summary>
    ${sync && html`<${Bar} sync=${sync} />`}
    ${sync?.error && html`<p class="error">${sync.error}</p>`}
    ${sync?.traceID && html`<p class="muted small">Trace <code class="trace">${sync.traceID}</code></p>`}
    ${hidden > 0 && html`<p class="muted small">${count(hidden)} earlier events led to it too.</p>`}
    <${Line} events=${[...group.causes.slice(-mostCauses), ...group.events]} at=${at} />
  </details>`;
}

/** Where the time went; the same in words below. A part that took no time to speak of is still to be seen. */
function Bar({ sync }) {
  const parts = spent(sync);
  const total = parts.reduce((sum, part) => sum + part.milliseconds, 0) || 1;
  return html`<div class="bar" aria-hidden="true">${parts.map(({ stage, milliseconds: ms }) => html`<span class="part ${stage}" style=${{ flexGrow: Math.max(ms / total, 0.012) }}></span>`)}</div>
    <p class="spent small">${parts.map(({ stage, milliseconds: ms }) => html`<span><span class="swatch part ${stage}" aria-hidden="true"></span>${stage === "queue" ? "in the queue" : stageOf(stage).title.toLowerCase()} <strong class="number">${duration(ms)}</strong></span>`)}</p>`;
}

/** Events with their distance from the first one. */
function Line({ events, at }) {
  const start = milliseconds(events[0]?.time);
  return html`<ol class="line">${events.map((event) => html`<li key=${event.sequence} class="${tone(event)} ${event === at || event.sequence === at?.sequence ? "here" : ""}" data-type=${event.type}>
    <span class="offset number muted" title=${clock(event.time)}>${offset(milliseconds(event.time) - start)}</span>
    <span class="stage">${stageOf(event.stage).title}</span>
    <span class="says">${sentence(event)}
      ${details(event).length > 0 && html` <span class="muted small">${details(event).join(" · ")}</span>`}
      ${event.error && html`<span class="error">${event.error}</span>`}<${Fields} fields=${event.fields} /></span>
    <span class="number muted took">${event.milliseconds === undefined || event.type === "Started" ? "" : duration(event.milliseconds)}</span>
  </li>`)}</ol>`;
}

const offset = (ms) => (ms < 0.001 ? "0" : `+${duration(ms)}`);
