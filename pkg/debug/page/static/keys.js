// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The keys: failing ones first, then those that moved last. What is not among them can be looked up.
import { Component, html } from "./html.js";
import { ask, urls } from "./api.js";
import { count, distance, nameOf } from "./format.js";
import { limits, select } from "./model.js";
import { shownKeys } from "./filter.js";
import { sentence, tone, verdictTone } from "./events.js";

export function Keys({ state, act }) {
  const { failing, recent, total } = shownKeys(state);
  const followed = nameOf(state.selected?.key);
  const shown = new Set([...failing.map(nameOf), ...recent.map((event) => nameOf(event.key))]);
  const follow = (key) => act(select, { key: { namespace: key.namespace ?? "", name: key.name } });
  return html`<nav class="card keys" aria-label="Keys">
    ${failing.length > 0 && html`<h2 class="bad">Failing <span class="badge bad">${count(failing.length)}</span></h2>
      <ul class="failing">${failing.map((key) => html`<${Row} key=${nameOf(key)} name=${key} current=${followed === nameOf(key)} onFollow=${follow}
        tone="bad" mark=${`${key.failures || 1}×`} text=${key.error || key.verdict} more=${key.due && `${key.verdict} · again ${distance(key.due, state.time)}`} />`)}</ul>`}
    <h2>Recent</h2>
    ${recent.length === 0 && html`<p class="muted small empty">${total === 0 && state.instance ? "No key has moved yet that fits." : ""}</p>`}
    <ul>${recent.map((event) => html`<${Row} key=${nameOf(event.key)} name=${event.key} current=${followed === nameOf(event.key)} onFollow=${follow}
      tone=${tone(event)} mark=${distance(event.time, state.time)} text=${sentence(event)} />`)}</ul>
    ${total > failing.length + recent.length && html`<p class="muted small">and ${count(total - failing.length - recent.length)} more: filter to see them.</p>`}
    <${Others} filter=${state.filter} shown=${shown} followed=${followed} onFollow=${follow} />
  </nav>`;
}

function Row({ name, current, onFollow, tone: color, mark, text, more }) {
  return html`<li><button class="key ${color}" aria-current=${current ? "true" : undefined} onClick=${() => onFollow(name)}>
    <span class="name">${name.namespace && html`<span class="muted">${name.namespace}/</span>`}${name.name}</span>
    <span class="mark number">${mark}</span>
    <span class="text">${text}</span>
    ${more && html`<span class="text">${more}</span>`}
  </button></li>`;
}

/** Idle keys are only fetched when the filter names them. */
class Others extends Component {
  constructor() {
    super();
    this.state = { asked: "", keys: [], error: "" };
  }

  componentDidUpdate() {
    const text = this.props.filter.text.trim();
    const [namespace, part] = text.includes("/") ? text.split("/", 2) : [this.props.filter.namespace, text];
    const url = text ? urls.keys({ namespace, name: part, limit: limits.rows }) : "";
    if (url === this.wanted) return;
    this.wanted = url;
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      try {
        const keys = url ? (await ask(url)).keys : [];
        if (this.wanted === url) this.setState({ keys, error: "" });
      } catch (failed) {
        if (this.wanted === url) this.setState({ keys: [], error: failed.message });
      }
    }, 200);
  }

  componentWillUnmount() {
    clearTimeout(this.timer);
  }

  render({ shown, followed, onFollow }, { keys, error }) {
    const others = keys.filter((key) => !shown.has(nameOf(key)));
    if (error) return html`<p class="muted small">${error}</p>`;
    if (others.length === 0) return null;
    return html`<h2>Others</h2><ul>${others.map((key) => html`<${Row} key=${nameOf(key)} name=${key} current=${followed === nameOf(key)} onFollow=${onFollow}
      tone=${verdictTone(key.verdict)} mark=${key.state} text=${key.verdict ?? ""} />`)}</ul>`;
  }
}
