// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The cache browser: the objects of one informer, looked up by an index if one likes, and one of them with its values redacted.
import { html } from "./html.js";
import { count, distance, nameOf } from "./format.js";
import { limits, select } from "./model.js";

const change = (state, part) => { state.cache = { ...state.cache, object: null, ...part }; };
const choose = (state, resource) => change(state, { resource, index: "", value: "" });

export function Cache({ state, act }) {
  const { cache, resources, fetched } = state;
  const names = [...new Set(resources.map(({ resource }) => resource))];
  const chosen = cache.resource || names[0] || "";
  const indexes = resources.find(({ resource }) => resource === chosen)?.indexes ?? [];
  return html`<form class="filters" onSubmit=${(event) => event.preventDefault()}>
      <label for="cache-resource" class="unseen">Resource</label>
      <select id="cache-resource" value=${chosen} onChange=${(event) => act(choose, event.target.value)}>
        ${names.map((name) => html`<option key=${name} value=${name} selected=${name === chosen}>${name}</option>`)}</select>
      ${indexes.length > 0 && html`<label for="cache-index" class="unseen">Index</label>
        <select id="cache-index" value=${cache.index} onChange=${(event) => act(change, { index: event.target.value })}>
          <option value="" selected=${cache.index === ""}>All objects</option>
          ${indexes.map((index) => html`<option key=${index} value=${index} selected=${index === cache.index}>Index: ${index}</option>`)}</select>`}
      ${cache.index && html`<label for="cache-value" class="unseen">Value in the index</label>
        <input id="cache-value" type="search" placeholder="Value, e.g. shop/web" value=${cache.value} spellcheck=${false} onChange=${(event) => act(change, { value: event.target.value.trim() })} />`}
    </form>
    ${fetched.error && html`<p class="muted">${fetched.error}</p>`}
    ${!fetched.error && !fetched.data && html`<p class="muted">Loading…</p>`}
    ${fetched.data?.objects && (cache.object ? html`<${One} state=${state} act=${act} />` : html`<${All} state=${state} act=${act} resource=${chosen} />`)}`;
}

function All({ state, act, resource }) {
  const { data } = state.fetched;
  const text = state.filter.text.trim().toLowerCase();
  const objects = data.objects.filter((object) => nameOf(object).toLowerCase().includes(text)).slice(0, limits.rows);
  const open = (object) => act(change, { resource, object: { namespace: object.namespace ?? "", name: object.name } });
  return html`<p class="muted small">${count(data.total)} ${data.total === 1 ? "object" : "objects"}${objects.length < data.total ? `, ${count(objects.length)} of them here` : ""}. Values are never shown.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Objects in the cache"><table>
      <thead><tr><th scope="col">Object</th><th scope="col">Key</th><th scope="col" class="number">Version</th><th scope="col" class="number">Generation</th><th scope="col">Created</th><th scope="col">Indexed under</th></tr></thead>
      <tbody>${objects.map((object) => html`<tr key=${nameOf(object)}>
        <td><button class="link" onClick=${() => open(object)}>${nameOf(object)}</button>${object.deleting && html` <span class="badge warn">being deleted</span>`}</td>
        <td>${object.key && html`<button class="link" onClick=${() => act(select, { key: object.key })}>${nameOf(object.key)}</button>`}</td>
        <td class="number">${object.resourceVersion}</td><td class="number">${object.generation}</td>
        <td>${object.created ? distance(object.created, data.time) : ""}</td>
        <td class="small">${Object.entries(object.indexed ?? {}).map(([index, values]) => html`<span class="indexed"><span class="muted">${index}</span> ${values.join(", ")}</span>`)}</td>
      </tr>`)}</tbody>
    </table></div>`;
}

function One({ state, act }) {
  const object = state.fetched.data.objects[0];
  return html`<p><button class="link" onClick=${() => act(change, {})}>All objects</button> <strong>${nameOf(object)}</strong>
      <span class="muted small"> version ${object?.resourceVersion}; values that could be anybody's secret are redacted</span></p>
    <pre class="object" tabindex="0" aria-label="The object, redacted">${JSON.stringify(object?.object, null, 2)}</pre>`;
}
