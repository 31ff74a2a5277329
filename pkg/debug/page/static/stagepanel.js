// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// One stage: what it does, where its code is, its numbers, and what is in it now.
import { html } from "./html.js";
import { Cache } from "./cache.js";
import { Chart } from "./chart.js";
import { EventList } from "./eventlist.js";
import { Informers } from "./informers.js";
import { Queue } from "./queue.js";
import { count, duration, rate, words } from "./format.js";
import { select } from "./model.js";
import { shownEvents } from "./filter.js";
import { stageOf } from "./stages.js";

const contents = {
  watch: ({ state }) => html`<h2>Informers</h2><${Informers} state=${state} />`,
  fifo: ({ state }) => html`<h2>Informers</h2><${Informers} state=${state} />`,
  store: (props) => html`<h2>The caches</h2><${Cache} ...${props} />`,
  queue: (props) => html`<h2>Its keys</h2><${Queue} ...${props} parts=${["ready", "processing", "delayed"]} />`,
  worker: (props) => html`<h2>At work</h2><${Queue} ...${props} parts=${["processing"]} />`,
};

const withoutEvents = new Set(["fifo", "store"]);

export function StagePanel({ state, act, at }) {
  const { id, title, text, code, library, unit } = stageOf(state.selected.stage);
  const stage = state.stages.get(id);
  const Contents = contents[id];
  return html`
    <div class="panel-head"><h2 class="panel-title">${title}</h2><button class="plain" onClick=${() => act(select, null)} aria-label="Close ${title}">✕</button></div>
    ${text.map((paragraph) => html`<p class="lead">${paragraph}</p>`)}
    <ul class="code">
      ${code.map(([path, what]) => html`<li><code>${path}</code> <span class="muted">${what}</span></li>`)}
      ${library && html`<li><code>${library}</code> <span class="muted">the library</span></li>`}
    </ul>
    <${Numbers} stage=${stage} unit=${unit} />
    ${Contents && html`<${Contents} state=${state} act=${act} />`}
    <h2>Per second</h2>
    <${Chart} label="${unit} per second over the last minutes" samples=${state.samples} theme=${document.documentElement.dataset.theme}
      series=${[{ name: unit, color: "--accent", value: (sample) => sample.stages[id]?.rate }]} />
    ${!withoutEvents.has(id) && html`<h2>Its events</h2><${EventList} events=${shownEvents(state)} act=${act} at=${at} withKey=${true} />`}`;
}

function Numbers({ stage, unit }) {
  if (!stage) return null;
  const { latency, counts } = stage;
  return html`<dl class="numbers">
    <div><dt>${unit} since start</dt><dd class="number">${count(stage.total)}</dd></div>
    <div><dt>per second</dt><dd class="number">${rate(stage.rate)}</dd></div>
    ${latency && html`<div><dt>median</dt><dd class="number">${duration(latency.median)}</dd></div>
      <div><dt>p99</dt><dd class="number">${duration(latency.p99)}</dd></div>
      <div><dt>longest</dt><dd class="number">${duration(latency.max)}</dd></div>`}
  </dl>
  ${counts?.length > 0 && html`<ul class="counts">${counts.map(({ label, total }) => html`<li><span>${words(label)}</span> <strong class="number">${count(total)}</strong></li>`)}</ul>`}`;
}
