// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The top of the page: whether it is live, and what concerns the page as a whole.
import { html } from "./html.js";
import { clock, distance } from "./format.js";
import { togglePause } from "./model.js";
import { setTheme, themes } from "./theme.js";
import { help } from "./keyboard.js";
import { download } from "./export.js";

const showTable = (state) => { state.asTable = !state.asTable; };
const dismiss = (state) => { state.notice = null; };

export function Header({ state, act }) {
  return html`<header class="top">
    <h1>Fairlead <span class="muted">pipeline</span></h1>
    <${Connection} state=${state} />
    <div class="tools">
      <button id="pause" aria-pressed=${state.paused ? "true" : "false"} onClick=${() => act(togglePause)}>${state.paused ? "Resume" : "Pause"}</button>
      <button id="as-table" aria-pressed=${state.asTable ? "true" : "false"} onClick=${() => act(showTable)}>Table</button>
      <button id="export" onClick=${() => download(state)} title="Save what the page shows as JSON">Export</button>
      <label class="choice"><span class="unseen">Colours</span>
        <select id="theme" value=${state.theme} onChange=${(event) => act(setTheme, event.target.value)}>
          ${themes.map((theme) => html`<option value=${theme} selected=${theme === state.theme}>${{ system: "Auto", light: "Light", dark: "Dark" }[theme]}</option>`)}
        </select></label>
      <details class="help"><summary aria-label="Keyboard shortcuts">?</summary>
        <dl>${help.map(([key, does]) => html`<dt>${key.split(" ").map((one) => html`<kbd>${one}</kbd>`)}</dt><dd>${does}</dd>`)}</dl>
      </details>
    </div>
  </header>
  <div role="status" aria-live="polite" class="notices">
    ${state.connection.state === "lost" && html`<p class="notice warn">Connection lost at ${clock(state.connection.since, false)}. ${state.connection.why} Reconnecting; the page shows the state from before.</p>`}
    ${state.notice && html`<p class="notice">${state.notice.text} <span class="muted">${clock(state.notice.at, false)}</span> <button class="link" onClick=${() => act(dismiss)}>Dismiss</button></p>`}
  </div>`;
}

function Connection({ state }) {
  const { connection, paused } = state;
  const shown = connection.state === "live" && paused ? "paused" : connection.state;
  const text = { connecting: "Connecting", live: "Live", lost: "Reconnecting", paused: "Paused" }[shown];
  return html`<p class="connection ${shown}"><span class="dot" aria-hidden="true"></span>${text}
    ${state.instance && html`<span class="muted small">${state.working ? "active" : "standby: another replica is active"}<span class="started"> · started ${distance(state.started, state.time)}</span></span>`}</p>`;
}
