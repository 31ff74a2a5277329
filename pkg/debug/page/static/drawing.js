// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// The flow as a drawing. Each stage is a button; twin.js says the same as a table.
import { Component, html } from "./html.js";
import { count, duration, rate } from "./format.js";
import { layout } from "./layout.js";
import { select } from "./model.js";
import { stageOf, stages } from "./stages.js";

/** What a stage shows: the number that matters most there, and the others below it. */
export function figures(id, stage, queue) {
  const perSecond = `${rate(stage?.rate)}/s`;
  const took = stage?.latency ? duration(stage.latency.median) : "–";
  switch (id) {
    case "watch": return { main: perSecond, sub: `${count(stage?.depth)} watches` };
    case "fifo": return { main: count(stage?.depth), sub: `waiting · ${perSecond}` };
    case "store": return { main: count(stage?.depth), sub: `objects · ${perSecond}` };
    case "handler": return { main: perSecond, sub: stage?.latency ? `lag ${took}` : "calls" };
    case "queue": return { main: count(stage?.depth), sub: `ready · ${perSecond}` };
    case "worker": return { main: `${count(stage?.depth)} of ${count(stage?.limit ?? queue.workers)}`, sub: `busy · ${perSecond}` };
    default: return { main: took, sub: perSecond };
  }
}

export class Drawing extends Component {
  constructor() {
    super();
    this.state = { width: 1200 };
    this.measured = (element) => {
      this.observer?.disconnect();
      if (!element) return;
      this.observer = new ResizeObserver(([entry]) => {
        const width = Math.max(700, Math.floor(entry.contentRect.width));
        if (width !== this.state.width) this.setState({ width });
      });
      this.observer.observe(element);
    };
  }

  render({ state, act, at }) {
    const plan = layout(this.state.width);
    const { nodes } = plan;
    const moves = !state.paused && state.connection.state === "live";
    return html`<div class="drawing" ref=${this.measured}>
      <svg width=${plan.width} height=${plan.height} viewBox="0 0 ${plan.width} ${plan.height}" role="group" aria-label="The pipeline, stage by stage">
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="6.5" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto-start-reverse">
            <path class="arrowhead" d="M0.5 0.5L7 4L0.5 7.5Z" />
          </marker>
        </defs>
        <rect class="group" x=${plan.group.x} y=${plan.group.y} width=${plan.group.width} height=${plan.group.height} rx="12" />
        <text class="group-title" x=${plan.group.x + 14} y=${plan.group.y + 21}>syncHandler</text>
        ${plan.links.map((link) => html`<${Link} link=${link} rate=${state.stages.get(link.id)?.rate} moves=${moves} />`)}
        <path class="link returns" d=${plan.returns.path} marker-end="url(#arrow)" />
        <text class="label" x=${plan.returns.label.x} y=${plan.returns.label.y} text-anchor="middle">${count(state.queue.delayed)} delayed</text>
        <${Server} box=${plan.api} roomy=${plan.roomy} />
        ${stages.map(({ id }) => html`<${Node} key=${id} id=${id} box=${nodes.get(id)} stage=${state.stages.get(id)} queue=${state.queue}
          selected=${state.selected?.stage === id} here=${at === id} onSelect=${() => act(select, { stage: id })} />`)}
      </svg>
    </div>`;
  }
}

function Link({ link, rate: now, moves }) {
  const kind = link.reads ? "link reads" : "link";
  const speed = now >= 50 ? "fast" : now >= 5 ? "brisk" : "slow";
  return html`<g>
    <path class=${kind} d=${link.path} marker-end="url(#arrow)" />
    ${moves && now > 0 && !link.reads && html`<path class="flow ${speed}" d=${link.path} />`}
  </g>`;
}

function Server({ box, roomy }) {
  const middle = box.x + box.width / 2;
  const y = box.y + box.height / 2;
  return html`<g class="server">
    <rect x=${box.x} y=${box.y} width=${box.width} height=${box.height} rx="12" />
    <text x=${middle} y=${y - 4} text-anchor="middle">API${roomy ? " server" : ""}</text>
    ${!roomy && html`<text x=${middle} y=${y + 12} text-anchor="middle">server</text>`}
    <text class="label" x=${middle} y=${box.y + 48} text-anchor="middle">events out</text>
    <text class="label" x=${middle} y=${box.y + box.height - 40} text-anchor="middle">writes in</text>
  </g>`;
}

function Node({ id, box, stage, queue, selected, here, onSelect }) {
  const { title } = stageOf(id);
  const { main, sub } = figures(id, stage, queue);
  const bad = id === "outcome" ? failures(stage) : 0;
  const classes = ["node", box.small && "small", box.pill && "pill", selected && "selected", here && "here", bad > 0 && "bad"].filter(Boolean).join(" ");
  const pressed = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onSelect();
  };
  return html`<g class=${classes} data-stage=${id} role="button" tabindex="0" aria-pressed=${selected ? "true" : "false"}
      aria-label=${`${title}: ${main}, ${sub}`} onClick=${onSelect} onKeyDown=${pressed}>
    <rect class="box" x=${box.x} y=${box.y} width=${box.width} height=${box.height} rx=${box.pill ? 14 : 9} />
    ${box.pill ? html`<text class="title" x=${box.x + 14} y=${box.y + 18}>${title}</text>
      <text class="sub" x=${box.x + box.width - 14} y=${box.y + 18} text-anchor="end">${bad > 0 ? `${rate(bad)}/s fail` : sub}</text>`
    : html`<text class="title" x=${box.x + box.width / 2} y=${box.y + 22} text-anchor="middle">${title}</text>
      <text class="main" x=${box.x + box.width / 2} y=${box.y + (box.small ? 44 : 50)} text-anchor="middle">${main}</text>
      <text class="sub" x=${box.x + box.width / 2} y=${box.y + (box.small ? 62 : 71)} text-anchor="middle">${sub}</text>`}
  </g>`;
}

/** How many syncs a second end badly. */
function failures(stage) {
  return (stage?.counts ?? []).filter(({ label }) => label === "Failed" || label === "Blocked").reduce((sum, { rate: one }) => sum + one, 0);
}
