// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The filter: namespace, kind, a part of the key. It holds for every list of the page.
import { html } from "./html.js";
import { choices, isFiltering } from "./filter.js";
import { kind } from "./events.js";

const set = (state, part, value) => { state.filter = { ...state.filter, [part]: value }; };
const clear = (state) => { state.filter = { namespace: "", resource: "", text: "" }; };

export function Filters({ state, act }) {
  const { filter } = state;
  const { namespaces, resources } = choices(state);
  return html`<form class="filters" role="search" aria-label="Filter" onSubmit=${(event) => event.preventDefault()}>
    <${Choice} id="filter-namespace" label="Namespace" all="All namespaces" value=${filter.namespace} options=${namespaces} onChoose=${(value) => act(set, "namespace", value)} />
    <${Choice} id="filter-kind" label="Kind" all="All kinds" value=${filter.resource} options=${resources} name=${kind} onChoose=${(value) => act(set, "resource", value)} />
    <label for="filter-text" class="unseen">Key</label>
    <input id="filter-text" type="search" placeholder="Key contains…" autocomplete="off" spellcheck=${false} value=${filter.text} onInput=${(event) => act(set, "text", event.target.value)} />
    ${isFiltering(filter) && html`<button id="filter-clear" type="button" class="plain" onClick=${() => act(clear)}>Clear</button>`}
  </form>`;
}

function Choice({ id, label, all, value, options, name = (option) => option, onChoose }) {
  return html`<label for=${id} class="unseen">${label}</label>
    <select id=${id} value=${value} onChange=${(event) => onChoose(event.target.value)}>
      <option value="" selected=${value === ""}>${all}</option>
      ${options.map((option) => html`<option key=${option} value=${option} selected=${option === value}>${name(option)}</option>`)}
    </select>`;
}
